package history_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// A conversation is read twice: once to know that it is good, and once to write it.
func ExampleImport() {
	const chat = `[{"role":"user","content":"Is it open?"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"hours","arguments":"{}"}}]}]`
	ctx := context.Background()
	checked, err := history.Import(ctx, strings.NewReader(chat), "", history.Options{}, func(history.Entry) error { return nil })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(checked.Format, checked.Report.Turns)
	for _, loss := range checked.Report.Losses {
		fmt.Println(loss)
	}
	_, err = history.Import(ctx, strings.NewReader(chat), checked.Format, history.Options{}, func(e history.Entry) error {
		fmt.Println(e.Place, e.Role, string(turn.AppendContent(nil, e.Content)))
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// openai 3
	// calls without a result: 1, first at message 2 (line 2); closed with a synthetic cancelled result
	// message 1 (line 1) user {"text":"Is it open?"}
	// message 2 (line 2) agent {"text":"","tool_calls":[{"id":"c1","name":"hours","arguments":{}}]}
	// message 2 (line 2) system {"name":"hours","call_id":"c1","status":"cancelled","synthetic":true}
}

func ExampleExport() {
	said := func(yield func(turn.Turn, error) bool) {
		at := time.Date(2026, 2, 28, 9, 0, 0, 0, time.UTC)
		yield(turn.Turn{Seq: 1, Role: turn.User, Form: turn.FormText, Kind: turn.KindTurn, Content: turn.Text{Text: "Is it open?"}, CreatedAt: at}, nil)
	}
	report, err := history.Export(context.Background(), os.Stdout, history.OpenAI, history.Header{}, said, nil)
	if err != nil {
		fmt.Println(err)
	}
	for _, loss := range report.Losses {
		fmt.Println(loss)
	}
	// Output:
	// [
	// {"role":"user","content":"Is it open?"}
	// ]
	// ids and times of turns: 1; left out
}

func ExampleFormats() {
	for _, f := range history.Formats() {
		fmt.Println(f, f.Reads(), f.Writes())
	}
	own := []history.Format{history.Session, history.Lines} // lossless
	theirs := []history.Format{history.OpenAI, history.Anthropic, history.Tau}
	forPeople := history.Markdown
	fmt.Println(own, theirs, forPeople)
	// Output:
	// session true true
	// lines true true
	// openai true true
	// anthropic true true
	// tau true false
	// markdown false true
	// [session lines] [openai anthropic tau] markdown
}

// Pictures are written with their bytes, which are asked for by their hash.
func ExampleBlobs() {
	const hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	said := func(yield func(turn.Turn, error) bool) {
		picture := turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{SHA256: hash, Size: 3}}
		yield(turn.Turn{Seq: 1, Role: turn.User, Form: turn.FormImage, Kind: turn.KindTurn, Content: picture}, nil)
	}
	blobs := history.Blobs(func(_ context.Context, sha256 string) (turn.Blob, error) {
		return turn.Blob{SHA256: sha256, Size: 3, Data: []byte("png")}, nil
	})
	if _, err := history.Export(context.Background(), os.Stdout, history.OpenAI, history.Header{}, said, blobs); err != nil {
		fmt.Println(err)
	}
	// Output:
	// [
	// {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}}]}
	// ]
}
