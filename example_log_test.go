package turnstone_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// What is sent twice under one key is said once.
func ExampleSession_Append() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	pay := turn.Draft{Role: turn.User, Content: turn.Text{Text: "Pay the bill."}, IdempotencyKey: "form-17"}
	first := must(chat.Append(ctx, pay))
	again := must(chat.Append(ctx, pay))
	fmt.Println(first[0].Seq, again[0].Seq)

	pay.Content = turn.Text{Text: "Pay it twice."}
	_, err := chat.Append(ctx, pay)
	fmt.Println(errors.Is(err, turn.ErrConflict))
	// Output:
	// 1 1
	// true
}

// A session that ended goes on when something is said in it, and who says it is told.
func ExampleSession_Extend() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	must(chat.End(ctx))
	for _, text := range []string{"One more thing.", "And another."} {
		done := must(chat.Extend(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: text}}))
		fmt.Println(done.Turns[0].Seq, done.Reopened)
	}
	// Output:
	// 1 true
	// 2 false
}

// A key can stand for several turns: with more of them, or fewer, it is another request, and nothing is appended.
func ExampleSession_ExtendOnce() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	turns := []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "Is it raining?"}},
		{Role: turn.Agent, Content: turn.Text{Text: "Yes."}},
	}
	must(chat.ExtendOnce(ctx, "form-18", turns...))
	again := must(chat.ExtendOnce(ctx, "form-18", turns...))
	fmt.Println(again.Turns[0].Seq, again.Turns[1].Seq)

	_, err := chat.ExtendOnce(ctx, "form-18", turns[0])
	fmt.Println(errors.Is(err, turn.ErrConflict))
	// Output:
	// 1 2
	// true
}

// A tool call and its result are one unit: no view shows one without the other.
func ExampleSession_History() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	call := turn.ToolCall{ID: "1", Name: "clock", Arguments: "{}"}
	must(chat.Append(ctx,
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "What time is it?"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{call}}},
	))
	fmt.Println("while it waits:", len(must(chat.History(ctx, turn.HistoryOptions{Turns: 2}))))
	must(chat.Append(ctx,
		turn.Draft{Role: turn.System, Content: turn.Result{CallID: "1", Name: "clock", Status: turn.CallOK, Result: `"12:30"`}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "Half past twelve."}},
	))
	for _, t := range must(chat.History(ctx, turn.HistoryOptions{Turns: 2})) {
		fmt.Println(t.Seq, t.Role, t.Form, t.Unit)
	}
	// Output:
	// while it waits: 1
	// 2 agent text 2
	// 3 system action 2
	// 4 agent text 0
}

func ExampleSession_Window() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
	recent := must(chat.Window(ctx))
	fmt.Println(len(recent), recent[0].Content.Searchable(), "to", recent[6].Content.Searchable())
	// Output: 7 three to nine
}

func ExampleSession_Query() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Run the tests.", "2 of 214 tests fail.", "Which ones?", "TestRunner and TestRetry.")
	for _, q := range []turn.Query{
		{Text: "test running"},
		{Regexp: `\d+ of \d+`},
		{Role: turn.Agent, Match: "Retry"},
	} {
		for _, t := range must(chat.Query(ctx, q)).Turns {
			fmt.Println(t.Seq, t.Content.Searchable())
		}
	}
	// Output:
	// 1 Run the tests.
	// 2 2 of 214 tests fail.
	// 4 TestRunner and TestRetry.
}

// A fork shares what was said before it and goes its own way afterwards.
func ExampleSession_Fork() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "plan"))
	talk(chat, "Where shall we eat?", "Thai or Greek?")
	must(chat.Bookmark(ctx, "before-the-choice", turnstone.Head))
	talk(chat, "Thai.", "Booked at the Lotus.")

	for _, mark := range must(chat.Bookmarks(ctx)) {
		other := must(chat.Fork(ctx, mark.Seq, turn.SessionInfo{Title: "what if"}))
		talk(other, "Greek.", "Booked at the Olive.")
		fmt.Println(must(chat.Info(ctx)).Head, must(other.Info(ctx)).Head, must(other.Window(ctx))[3].Content.Searchable())
	}
	// Output: 4 4 Booked at the Olive.
}

// Conversations come from other programs, and go to them.
func ExampleEngine_ImportHistory() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	const messages = `[
		{"role": "system", "content": "You are brief."},
		{"role": "user", "content": "Is it open?"},
		{"role": "assistant", "content": "Until six."}]`
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(messages)), nil }
	chat, imported, err := eng.ImportHistory(ctx, open, turnstone.ImportOptions{Session: turn.SessionInfo{Title: "From elsewhere"}})
	check(err)
	fmt.Println(imported.Format, imported.Report.Turns, must(chat.Pins(ctx)))

	must(chat.ExportHistory(ctx, os.Stdout, history.Anthropic))
	// Output:
	// openai 3 [1]
	// {
	// "system":[{"type":"text","text":"You are brief."}],
	// "messages":[
	// {"role":"user","content":[{"type":"text","text":"Is it open?"}]},
	// {"role":"assistant","content":[{"type":"text","text":"Until six."}]}
	// ]
	// }
}

// A bundle holds all of a session: what was said, believed and intended.
func ExampleSession_WriteBundle() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Hello.", "Hello, Alice.")

	var file bytes.Buffer
	bundle := must(chat.WriteBundle(ctx, &file, replay.WriteOptions{}))
	fmt.Println(bundle.Session.Session, bundle.Turns, len(bundle.SHA256))

	elsewhere := mem.New(mem.Config{})
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }
	must(replay.Import(ctx, elsewhere, open, replay.ImportOptions{}))
	copied := must(turnstone.Open(ctx, elsewhere, turnstone.Config{}))
	defer copied.Close()
	fmt.Println(must(must(copied.Find(ctx, "alice")).Window(ctx))[1].Content.Searchable())
	// Output:
	// alice 2 64
	// Hello, Alice.
}

// A bundle becomes a session of the engine's own tenant, beside its original under another id.
func ExampleEngine_ImportBundle() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Hello.", "Hello, Alice.")
	var file bytes.Buffer
	must(chat.WriteBundle(ctx, &file, replay.WriteOptions{Compress: true}))

	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }
	_, err := eng.ImportBundle(ctx, open, replay.ImportOptions{})
	copied := must(eng.ImportBundle(ctx, open, replay.ImportOptions{As: "copy"}))
	fmt.Println(errors.Is(err, turn.ErrExists), copied.ID(), must(copied.Info(ctx)).Head)
	// Output: true copy 2
}

// The bytes of pictures are kept once, under their hash, for as long as a turn refers to them.
func ExampleEngine_Blob() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{BlobGrace: 1}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	picture := turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{Data: []byte("\x89PNG…")}}
	said := must(chat.Append(ctx, turn.Draft{Role: turn.User, Content: picture}))
	blob, _ := turn.BlobOf(said[0].Content)
	fmt.Println(string(must(eng.Blob(ctx, blob.SHA256)).Data[1:4]), must(eng.SweepBlobs(ctx)))

	must(chat.Forget(ctx, turnstone.Target{Seqs: []int64{1}}))
	_, err := eng.Blob(ctx, blob.SHA256)
	fmt.Println(errors.Is(err, turnstone.ErrNotFound))
	// Output:
	// PNG 0
	// true
}
