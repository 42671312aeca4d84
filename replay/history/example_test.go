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
