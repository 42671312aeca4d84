package compress_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestFactsOfWhatIsSaid(t *testing.T) {
	fact := func(kind compress.FactKind, text string) []compress.Fact {
		return []compress.Fact{{Kind: kind, Text: text, Seq: 1}}
	}
	for text, want := range map[string][]compress.Fact{
		"Nothing happened.":                               nil,
		"[DECISION] Use JWT - LOCKED":                     fact(compress.FactDecision, "Use JWT"),
		"[ARTIFACT] Modified src/a.go":                    fact(compress.FactFile, "src/a.go"),
		"[NEXT] Write tests":                              fact(compress.FactNext, "Write tests"),
		"[CHECKPOINT] Design - COMPLETED\n[GOAL] x":       nil,
		"```\n[DECISION] Use JWT\nwe decided x\n```":      nil,
		"~~~\nwe decided x\n```\nwe chose y\n~~~\nend":    nil,
		"It ran. We decided to use  Go. It ended.":        fact(compress.FactDecision, "We decided to use Go."),
		"- **We’ll go with** option B":                    fact(compress.FactDecision, "We’ll go with** option B"),
		"Decision: keep the old name":                     fact(compress.FactDecision, "Decision: keep the old name"),
		"From now on answers are short!":                  fact(compress.FactDecision, "From now on answers are short!"),
		"We are undecided to a degree.":                   nil,
		"Has it been decided to go? Nobody knows.":        nil,
		"They disagreed on that, then agreed on this.":    fact(compress.FactDecision, "They disagreed on that, then agreed on this."),
		"TODO: retries":                                   fact(compress.FactRequest, "TODO: retries"),
		"I am waiting for the key of the house.":          fact(compress.FactRequest, "I am waiting for the key of the house."),
		"Done. Next step: the roof.":                      fact(compress.FactNext, "Next step: the roof."),
		"It is done. Shall I go on?":                      fact(compress.FactRequest, "Shall I go on?"),
		"続けますか？":                                          fact(compress.FactRequest, "続けますか？"),
		"Shall I? I do.":                                  nil,
		"We decided " + strings.Repeat("very ", 200):      fact(compress.FactDecision, "We decided"+strings.Repeat(" very", 77)),
		"We decided on " + strings.Repeat("ü", 400) + ".": fact(compress.FactDecision, "We decided on "+strings.Repeat("ü", 193)),
	} {
		s := (&log{}).agent(text).source()
		if diff := cmp.Diff(want, s.Facts()); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", text, diff)
		}
	}
}

func TestFactsOfWhatIsDone(t *testing.T) {
	for _, tt := range []struct {
		name, arguments string
		status          turn.CallStatus
		want            []string
	}{
		{"write_file", `{"path":"src/a.go","text":"x"}`, turn.CallOK, []string{"src/a.go"}},
		{"writeFile", `{"file_path":"a.go"}`, turn.CallOK, []string{"a.go"}},
		{"fs.EDIT", `{"Filename":"Makefile"}`, turn.CallOK, []string{"Makefile"}},
		{"str-replace", `{"path":"a.go","to":"b.go"}`, turn.CallOK, []string{"a.go", "b.go"}},
		{"delete", `{"path":"src/a.go"}`, "", []string{"src/a.go"}},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: src/a.go\n*** Add File: b.go\n+++ b/c.go\nrename to d d\n"}`, turn.CallOK, []string{"src/a.go", "b.go", "c.go"}},
		{"write_file", `{"path":"src/a.go"}`, turn.CallError, nil},
		{"write_file", `{"path":"src/a.go"}`, turn.CallCancelled, nil},
		{"read_file", `{"path":"src/a.go"}`, turn.CallOK, nil},
		{"rewriter", `{"path":"src/a.go"}`, turn.CallOK, nil},
		{"update_order", `{"target":"a long text that is no path","path":""}`, turn.CallOK, nil},
		{"write_file", `{"path":["a.go"],"file":7}`, turn.CallOK, nil},
		{"write_file", `["path"]`, turn.CallOK, nil},
		{"write_file", `{"text":"src/a.go"}`, turn.CallOK, nil},
	} {
		s := (&log{}).tool(tt.name, tt.arguments, tt.status, `"ok"`).source()
		var got []string
		for _, f := range s.Facts() {
			if f.Kind != compress.FactFile || f.Seq != 1 {
				t.Errorf("%+v", f)
			}
			got = append(got, f.Text)
		}
		if !cmp.Equal(got, tt.want) {
			t.Errorf("%s %s: %q, want %q", tt.name, tt.arguments, got, tt.want)
		}
	}
}

func TestFactsAreThereOnce(t *testing.T) {
	l := (&log{}).agent("[DECISION] A\n[DECISION] B").user("We decided C.").agent("[DECISION] A").agent("fine")
	s := l.source()
	want := []compress.Fact{{"decision", "B", 1}, {"decision", "We decided C.", 2}, {"decision", "A", 3}}
	if diff := cmp.Diff(want, s.Facts()); diff != "" {
		t.Error(diff)
	}
}

func TestWhatWasAskedLast(t *testing.T) {
	for _, tt := range []struct {
		name string
		log  *log
		want []compress.Fact
	}{
		{"no answer", (&log{}).agent("hi").user("Paint  the\ndoor").tool("look", `{}`, turn.CallOK, `1`), []compress.Fact{{"request", "Paint the door", 2}}},
		{"an answer", (&log{}).user("Paint the door").agent("done"), nil},
		{"a question of the agent", (&log{}).agent("Which colour?").tool("look", `{}`, turn.CallOK, `1`), []compress.Fact{{"request", "Which colour?", 1}}},
		{"nobody spoke", (&log{}).tool("look", `{}`, turn.CallOK, `1`), nil},
	} {
		s := tt.log.source()
		if diff := cmp.Diff(tt.want, s.Facts()); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestSummariesInTheLogAreNoSource(t *testing.T) {
	l := (&log{}).agent("hello")
	l.add(turn.System, turn.Text{Text: "[DECISION] no\nWe decided nothing. error: panic: x_1"}).Kind = turn.KindSummary
	s := l.source()
	alone := (&log{}).agent("hello").source()
	if facts := append(s.Facts(), s.Protected(compress.ModeDebugger)...); facts != nil {
		t.Errorf("%+v", facts)
	}
	if s.Tokens(count) != alone.Tokens(count) || len(s.Lines()) != 1 {
		t.Errorf("%d tokens, %+v", s.Tokens(count), s.Lines())
	}
}

// TestModesProtect says what each mode keeps word for word.
func TestModesProtect(t *testing.T) {
	const code = "Look:\n```go\ntype User struct {\n\tName string\n}\n```\nand\n```sql\nCREATE TABLE users (id int)\n```"
	const trace = "panic: runtime error: index out of range\ngoroutine 1 [running]:\nmain.main()\n\tat main.go:12\nI looked at it."
	for _, tt := range []struct {
		mode, text string
		want       []string
	}{
		{"developer", "The architecture has three layers. It rains. The endpoint must return 201.", []string{"The architecture has three layers.", "The endpoint must return 201."}},
		{"developer", "- POST /v1/items creates an item", []string{"- POST /v1/items creates an item"}},
		{"developer", code, []string{"type User struct {", "CREATE TABLE users (id int)"}},
		{"developer", "I prefer tea. error: x", nil},
		{"planning", "The deadline is Friday. I like tea. It must not cost more.", []string{"The deadline is Friday.", "It must not cost more."}},
		{"planning", "```\nthe deadline\n```", nil},
		{"assistant", "I'm allergic to nuts. We met. I prefer tea, and I never eat meat.", []string{"I'm allergic to nuts.", "I prefer tea, and I never eat meat."}},
		{"assistant", "The deadline is Friday.", nil},
		{"debugger", trace, []string{"panic: runtime error: index out of range", "goroutine 1 [running]:", "at main.go:12"}},
		{"debugger", "```\n" + trace + "\n```", []string{"panic: runtime error: index out of range", "goroutine 1 [running]:", "at main.go:12"}},
		{"debugger", "To reproduce, click twice. It rains.", []string{"To reproduce, click twice."}},
		{"debugger", "The deadline is Friday.", nil},
		{"", trace, nil},
		{"other", trace, nil},
	} {
		s := (&log{}).agent(tt.text).source()
		var got []string
		for _, f := range s.Protected(tt.mode) {
			if f.Kind != compress.FactProtected || f.Seq != 1 {
				t.Errorf("%+v", f)
			}
			got = append(got, f.Text)
		}
		if !cmp.Equal(got, tt.want) {
			t.Errorf("%s: %q: got %q, want %q", tt.mode, tt.text, got, tt.want)
		}
	}
}

func TestToolOutputIsProtectedForTheDebuggerOnly(t *testing.T) {
	l := (&log{}).tool("run", `{}`, turn.CallError, `"panic: the schema is gone\n\tat x.go:3"`)
	s := l.source()
	want := []compress.Fact{{"protected", "panic: the schema is gone", 2}, {"protected", "at x.go:3", 2}}
	if diff := cmp.Diff(want, s.Protected(compress.ModeDebugger)); diff != "" {
		t.Error(diff)
	}
	if got := s.Protected(compress.ModeDeveloper); got != nil {
		t.Errorf("%+v", got)
	}
}

func TestWhatAModeProtectsIsInTheSummary(t *testing.T) {
	l := (&log{}).agent("It crashes with exit code 137 when two writers meet. " + strings.Repeat("The sun shone on the harbour all day long and boats came in. ", 20))
	r := request(l, 60)
	for mode, want := range map[string]bool{compress.ModeDebugger: true, "": false} {
		r.Mode = mode
		summary, _, err := compress.Run(t.Context(), nil, r, compress.Options{})
		if err != nil || strings.Contains(summary, "Kept: It crashes with exit code 137 when two writers meet.\n") != want {
			t.Errorf("%s: %q, %v", mode, summary, err)
		}
		if v := compress.Verify(r, "The sun shone on the harbour"); v.OK() == want {
			t.Errorf("%s: %+v", mode, v)
		}
	}
}
