package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// longTalk has the user ask about orders, and the agent answer at length.
func longTalk(chat *turnstone.Session, exchanges int) {
	for n := range exchanges {
		answer := fmt.Sprintf("Order A-%d went out on day %d.", 1000+n, n)
		for _, what := range []string{"label", "seal", "lid", "colour", "weight", "strap"} {
			for _, where := range []string{"left", "right", "front", "back", "inside", "outside"} {
				answer += fmt.Sprintf(" The %s on the %s was looked at, and it is as it should be.", what, where)
			}
		}
		talk(chat, fmt.Sprintf("What became of order A-%d?", 1000+n), answer)
	}
}

// A pass takes turns out of the prompt, and a checkpoint stands for them. The log keeps every word.
func ExampleSession_Compress() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	window := turnstone.PromptOptions{Model: "gpt-4o", Context: 16384}
	longTalk(chat, 12)
	pass := must(chat.Compress(ctx, window))
	fmt.Println("pass", pass.Number, "made the prompt smaller:", pass.After < pass.Before)

	c := must(chat.Checkpoints(ctx))[0]
	fmt.Println("the checkpoint stands for the same turns:", c.Range == pass.Range)
	fmt.Println("it is smaller than they are:", c.CurrentTokens < c.OriginalTokens)
	fmt.Println("and says what matters:", strings.Contains(c.Summary, "Order A-1003 went out on day 3"))
	fmt.Println("what they said is there:", len(must(chat.Query(ctx, turn.Query{From: pass.Range.From, To: pass.Range.To, Match: "The lid on the left"})).Turns) > 0)
	// Output:
	// pass 1 made the prompt smaller: true
	// the checkpoint stands for the same turns: true
	// it is smaller than they are: true
	// and says what matters: true
	// what they said is there: true
}

// Checkpoints age: each version says less than the one before, and all of them are made of the turns themselves.
func ExampleSession_CheckpointVersions() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	for range 4 {
		longTalk(chat, 12)
		must(chat.Compress(ctx, turnstone.PromptOptions{Model: "gpt-4o", Context: 16384}))
	}
	for _, c := range must(chat.CheckpointVersions(ctx, 1)) {
		fmt.Println(c.Version, c.Level, c.CompressionCount)
	}
	// Output:
	// 1 detailed 1
	// 2 moderate 2
}

// Whoever feeds a conversation faster than it was held waits for what is drafted in the background.
func ExampleSession_Settle() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	fits := true
	for range 30 {
		longTalk(chat, 1)
		p := must(chat.Prompt(ctx, turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}))
		check(chat.Settle(ctx))
		fits = fits && p.Account.Free() >= 0
	}
	fmt.Println(fits, must(chat.Epoch(ctx, turnstone.Head)).Passes > 0)
	// Output: true true
}

func ExampleErrNothingToCompress() {
	ctx := context.Background()
	window := turnstone.PromptOptions{Model: "gpt-4o", Context: 8192}
	for _, off := range []bool{false, true} {
		eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Compression: budget.Compression{Off: off}}))
		chat := must(eng.Session(ctx, "alice"))
		talk(chat, "Hello.", "Hello!")
		_, err := chat.Compress(ctx, window)
		fmt.Println(errors.Is(err, turnstone.ErrNothingToCompress), errors.Is(err, turnstone.ErrCompressionOff))
		check(eng.Close())
	}
	// Output:
	// true false
	// false true
}

// What left the prompt comes back, word for word.
func ExampleSession_Undo() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	window := turnstone.PromptOptions{Model: "gpt-4o", Context: 16384}
	longTalk(chat, 12)
	must(chat.Compress(ctx, window))
	fmt.Println("all are shown:", must(chat.Prompt(ctx, window)).Shown == 24)

	undone := must(chat.Undo(ctx, 0, window))
	fmt.Println("after pass", undone.Pass, "is undone:", must(chat.Prompt(ctx, window)).Shown == 24)
	_, err := chat.Undo(ctx, 0, window)
	fmt.Println(errors.Is(err, turnstone.ErrNothingToUndo))
	// Output:
	// all are shown: false
	// after pass 1 is undone: true
	// true
}

// A snapshot costs a row: the log holds the rest.
func ExampleSession_Snapshot() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	talk(chat, "Rewrite the parser.")
	taken := must(chat.Snapshot(ctx, "before the parser"))
	fmt.Printf("%q at turn %d, %d message\n", taken.Name, taken.Turn, taken.MessageCount)
	// Output: "before the parser" at turn 1, 1 message
}

// A restore goes back to how the conversation was. Nothing is deleted, and it can be undone.
func ExampleSession_Restore() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	window := turnstone.PromptOptions{Model: "gpt-4o"}
	talk(chat, "Rewrite the parser.", "By hand, or with a generator?")
	must(chat.Snapshot(ctx, "before the choice"))
	talk(chat, "With a generator.", "That did not go well.")

	must(chat.Restore(ctx, "before the choice", window))
	talk(chat, "By hand.")
	for _, m := range must(chat.Prompt(ctx, window)).Messages {
		fmt.Printf("%v %s\n", m.Seqs, m.Parts[0].Text)
	}
	// Output:
	// [1] Rewrite the parser.
	// [2] By hand, or with a generator?
	// [5] By hand.
}

func ExampleSession_Snapshots() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{}))
	defer eng.Close()
	chat := must(eng.Session(ctx, "alice"))
	for _, name := range []string{"one", "two", "three"} {
		talk(chat, name)
		must(chat.Snapshot(ctx, name))
	}
	newest := must(chat.Snapshots(ctx, "", 2))
	older := must(chat.Snapshots(ctx, newest[1].ID, 2))
	fmt.Println(newest[0].Name, newest[1].Name, older[0].Name)

	check(chat.DeleteSnapshot(ctx, older[0].ID))
	fmt.Println(len(must(chat.Snapshots(ctx, "", 0))))
	// Output:
	// three two one
	// 2
}

func ExampleErrSnapshotsOff() {
	ctx := context.Background()
	eng := must(turnstone.Open(ctx, mem.New(mem.Config{}), turnstone.Config{Snapshots: snapshot.Config{Off: true}}))
	defer eng.Close()
	_, err := must(eng.Session(ctx, "alice")).Snapshot(ctx, "now")
	fmt.Println(errors.Is(err, turnstone.ErrSnapshotsOff))
	// Output: true
}
