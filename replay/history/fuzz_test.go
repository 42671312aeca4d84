package history_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/replay/history"
	"github.com/turnstone-dev/turnstone/turn"
)

// fuzz holds the reader of a format to this, whatever it is given: it does not panic, it refuses with
// an error that names the field, and what it takes is appended to a log, is written by every writer
// and comes back unchanged from a lossless one.
func fuzz(f *testing.F, format history.Format, seeds ...string) {
	for _, tt := range messageTests {
		f.Add(tt.input)
	}
	for _, seed := range seeds {
		f.Add(seed)
	}
	for _, name := range files {
		f.Add(file(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := newReader(t)
		_, err := history.Import(t.Context(), strings.NewReader(text), format, history.Options{Trajectory: 1}, w.take)
		if err != nil {
			var bad *turn.FieldError
			if !errors.As(err, &bad) {
				t.Errorf("refused with %v", err)
			}
			return
		}
		for _, f := range history.Formats() {
			if f.Writes() {
				w.export(f, history.Header{})
			}
		}
		out, _ := w.export(history.Session, history.Header{})
		back, _ := read(t, out, "", history.Options{})
		if again, _ := back.export(history.Session, history.Header{}); again != out {
			t.Errorf("written once:\n%s\ntwice:\n%s", out, again)
		}
	})
}

func FuzzSession(f *testing.F) {
	fuzz(f, history.Session, `{"sessionId":"x","messages":[{"role":"user","parts":[{"text":"a"}],"timestamp":"2026-01-26T10:00:00Z"}],"toolCalls":[{"id":"a","name":"f","args":{},"result":{"llmContent":"x"},"timestamp":5}]}`)
}

func FuzzLines(f *testing.F) {
	fuzz(f, history.Lines, `{"id":"D1:1","session":"1","time":"1:56 pm on 8 May, 2023","speaker":"Mel","text":"Hey!"}`,
		line("1", `"role":"agent","form":"text","content":{"text":"","tool_calls":[{"id":"a","name":"f","arguments":{}}]}`)+
			line("2", `"role":"system","form":"action","content":{"name":"f","call_id":"a","status":"ok"}`)+
			line("3", `"role":"system","form":"text","kind":"summary","content":{"text":"x"},"covers":[1,2]`))
}

func FuzzOpenAI(f *testing.F) { fuzz(f, history.OpenAI) }

func FuzzAnthropic(f *testing.F) { fuzz(f, history.Anthropic) }

func FuzzTau(f *testing.F) { fuzz(f, history.Tau, trajectories) }

func FuzzDetected(f *testing.F) { fuzz(f, "", trajectories) }
