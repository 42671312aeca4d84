package doctor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// forgetful is a store in which a call with its result and the message before were forgotten: turns 1, 2 and 3.
func forgetful(t *testing.T) *patient {
	t.Helper()
	st := mem.New(mem.Config{})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := eng.Session(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Append(t.Context(),
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "one"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "c", Status: turn.CallOK}},
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "four"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Forget(t.Context(), turnstone.Target{Seqs: []int64{1, 3}}); err != nil {
		t.Fatal(err)
	}
	p := &patient{Store: st}
	err = st.Dump(t.Context(), func(r store.Row) error {
		p.rows = append(p.rows, store.Row{Table: r.Table, Values: slices.Clone(r.Values)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTombstones(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(*patient)
		want  string // a piece of the one finding; empty for none
	}{
		"as forgetting leaves them": {spoil: func(*patient) {}},
		"with a key":                {func(p *patient) { p.set("turns", 0, "idempotency_key", "k") }, "turn 1 was forgotten, and its key or what is known about it was not"},
		"with meta":                 {func(p *patient) { p.set("turns", 0, "meta", `{"tokens":1}`) }, "turn 1 was forgotten, and its key"},
		"in a unit that is not": {
			func(p *patient) { p.set("turns", 2, "unit_seq", int64(4)) },
			"turn 3 was forgotten, and turn 4, whose unit it is in, was not",
		},
		"an emptied checkpoint": {spoil: func(p *patient) {
			p.rows = append(p.rows, store.Row{Table: "checkpoints", Values: []any{turn.DefaultTenant, p.find("sessions", 0).Values[2], int64(1), int64(1), int64(4), "", int64(1)}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p := forgetful(t)
			test.spoil(p)
			var found []string
			_, err := doctor.Examine(t.Context(), p, func(f doctor.Finding) { found = append(found, f.Problem) }, nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" && len(found) > 0 || test.want != "" && (len(found) != 1 || !strings.Contains(found[0], test.want)) {
				t.Errorf("found %q, want %q", found, test.want)
			}
		})
	}
}

// It was lost before its session was brought from a bundle, and is made anew when it is needed.
func TestAnEmptyCheckpointIsKnownToBeLost(t *testing.T) {
	p := healthy(t)
	p.set("checkpoints", 0, "doc", "")
	found := false
	_, err := doctor.Examine(t.Context(), p, func(f doctor.Finding) { found = found || f.Table == "checkpoints" }, nil)
	if err != nil || found {
		t.Errorf("found: %t, %v", found, err)
	}
}
