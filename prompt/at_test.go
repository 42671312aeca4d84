package prompt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// long is a session with everything in its prompts: settings, a goal, pins, units, what the user said, a late
// block.
func long(t *testing.T) *world {
	w := newWorld(t, 4096)
	w.begin(fullSettings())
	w.request.Goal = fullGoal()
	w.request.Late = []string{"recalled"}
	w.append(call("a", "b"), user("the task"), result("b", "beta"), result("a", "alpha"), part("m", "one"), part("m", "two"))
	w.compile()
	w.pin(1)
	w.moveOn()
	w.append(call("c"), agent("hm"), result("c", "gamma"))
	w.compile()
	return w
}

func TestEveryPromptCanBeMadeAgain(t *testing.T) {
	w := long(t)
	w.moveOn()
	w.begin(prompt.Settings{System: "Otherwise."})
	w.pin(-1)
	w.pin(3)
	w.compile()
	for _, m := range w.made {
		p, err := w.rebuild(m.call)
		if err != nil {
			t.Fatal(err)
		}
		if p.SHA256 != m.call.SHA256 || textOf(p) != m.text || p.Model != "exact" || p.Late != m.prompt.Late {
			t.Errorf("prompt %d is not the same", m.call.Number)
		}
	}
}

func TestAPromptOfAWholeWindowCanBeMadeAgain(t *testing.T) {
	w := newWorld(t, 131_072)
	w.append(repeat(2000, func(int) []turn.Draft { return []turn.Draft{agent("x"), call("a"), user("y"), result("a", "z")} })...)
	if p := w.compile(); p.Shown < 3500 {
		t.Errorf("%d shown", p.Shown)
	}
}

func TestWhatWasChangedCannotBeMadeAgain(t *testing.T) {
	w := long(t)
	last := w.made[len(w.made)-1]
	for _, tt := range []struct {
		name  string
		alter func(f *faults)
	}{
		{"a recent turn", func(f *faults) {
			f.turn = func(t *turn.Turn) {
				if t.Seq == last.call.End-1 {
					t.Content = turn.Text{Text: "HM"}
				}
			}
		}},
		{"a result", func(f *faults) {
			f.turn = func(t *turn.Turn) {
				if r, ok := t.Content.(turn.Result); ok {
					r.Result = `"other"`
					t.Content = r
				}
			}
		}},
		{"a pinned unit", func(f *faults) {
			f.turn = func(t *turn.Turn) {
				if r, ok := t.Content.(turn.Result); ok && t.Seq == 3 {
					r.Status = turn.CallError
					t.Content = r
				}
			}
		}},
		{"what the user said", func(f *faults) {
			f.turn = func(t *turn.Turn) {
				if t.Seq == 2 {
					t.Content = turn.Text{Text: "another task"}
				}
			}
		}},
		{"a part of a message", func(f *faults) {
			f.turn = func(t *turn.Turn) {
				if t.Seq == 6 {
					t.MessageID = "n"
				}
			}
		}},
		{"what kind of turn it is", func(f *faults) {
			f.turn = func(t *turn.Turn) {
				if t.Seq == 2 {
					t.Kind = turn.KindSummary
				}
			}
		}},
		{"a kept turn that is gone", func(f *faults) { f.gone = func(seq int64) bool { return seq == 2 } }},
		{"a recent turn that is gone", func(f *faults) { f.gone = func(seq int64) bool { return seq == last.call.End-1 } }},
		{"a call that is gone", func(f *faults) { f.gone = func(seq int64) bool { return seq == last.call.End-2 } }},
		{"which call a turn belongs to", func(f *faults) {
			f.turn = func(t *turn.Turn) {
				if t.Seq == 1 {
					t.Unit = 2
				}
			}
		}},
		{"the system prompt", func(f *faults) {
			f.material = func(s string) string { return strings.Replace(s, "Be brief.", "Be rude.", 1) }
		}},
		{"a sticky file", func(f *faults) { f.material = func(s string) string { return strings.Replace(s, "beta", "delta", 1) } }},
		{"a tool", func(f *faults) {
			f.material = func(s string) string { return strings.Replace(s, "Finds.", "Loses.", 1) }
		}},
		{"materials that are gone", func(f *faults) {
			f.fail = func(method string) error {
				if method == "Material" {
					return prompt.ErrNotFound
				}
				return nil
			}
		}},
		{"the epoch", func(f *faults) {
			f.epoch = func(r *prompt.EpochRow) { r.Doc = strings.Replace(r.Doc, "Ship the parser", "Ship something", 1) }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.alter(&w.faults)
			defer func() { w.faults = faults{} }()
			if p, err := w.rebuild(last.call); !errors.Is(err, prompt.ErrChanged) || p != nil {
				t.Errorf("%v, %v", p, err)
			}
		})
	}
	changed := last.call
	changed.Late += "!"
	if _, err := w.rebuild(changed); !errors.Is(err, prompt.ErrChanged) || !strings.Contains(err.Error(), "after turn") {
		t.Error(err)
	}
	if _, err := w.rebuild(last.call); err != nil {
		t.Error(err)
	}
}

func TestACallThatIsNonsenseIsRefused(t *testing.T) {
	w := long(t)
	c := w.made[0].call
	c.Epoch = 99
	if _, err := w.rebuild(c); !errors.Is(err, prompt.ErrNotFound) || !strings.Contains(err.Error(), "epoch 99") {
		t.Error(err)
	}
	c = w.made[0].call
	c.Context = 7
	var field *invalid.Field
	if _, err := w.rebuild(c); !errors.As(err, &field) {
		t.Error(err)
	}
}
