package doctor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// patient is a healthy store whose rows a test may spoil before they are looked at.
type patient struct {
	store.Store
	rows []store.Row
	says []string // what the database says of itself
}

func (p *patient) Dump(_ context.Context, yield func(store.Row) error) error {
	for _, r := range p.rows {
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

func (p *patient) Check(context.Context) ([]string, error) { return p.says, nil }

// find returns the nth row of a table.
func (p *patient) find(table string, n int) *store.Row {
	for i := range p.rows {
		if p.rows[i].Table == table {
			if n--; n < 0 {
				return &p.rows[i]
			}
		}
	}
	panic("no such row of " + table)
}

func (p *patient) set(table string, n int, column string, value any) {
	r := p.find(table, n)
	for _, t := range store.Schema {
		if t.Name == table {
			i := slices.IndexFunc(t.Columns, func(c store.Column) bool { return c.Name == column })
			r.Values[i] = value
		}
	}
}

// edit changes a piece of the nth row of a table.
func (p *patient) edit(table string, n int, old, new string) {
	r := p.find(table, n)
	for i, v := range r.Values {
		if text, ok := v.(string); ok && strings.Contains(text, old) {
			r.Values[i] = strings.Replace(text, old, new, 1)
			return
		}
	}
	panic("no " + old + " in that row of " + table)
}

func (p *patient) drop(table string, n int) {
	r := p.find(table, n)
	i := slices.IndexFunc(p.rows, func(o store.Row) bool { return &o.Values[0] == &r.Values[0] })
	p.rows = slices.Delete(p.rows, i, i+1)
}

func (p *patient) repeat(table string, n int) {
	r := *p.find(table, n)
	i := slices.IndexFunc(p.rows, func(o store.Row) bool { return &o.Values[0] == &r.Values[0] })
	p.rows = slices.Insert(p.rows, i, store.Row{Table: table, Values: slices.Clone(r.Values)})
}

// healthy holds every kind of row: session "a" with seven turns, and a fork "b" after its fourth.
func healthy(t *testing.T) *patient {
	t.Helper()
	st := mem.New(mem.Config{})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	a, err := eng.Session(t.Context(), "a")
	must(err)
	first, err := a.Append(t.Context(),
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "one"}, Meta: turn.Meta{Tokens: 1}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}}},
		turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "c", Status: turn.CallOK}},
		turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("door")}}},
	)
	must(err)
	_, err = a.Believe(t.Context(), func(s *dialogue.State) error {
		if _, _, err := s.StackOn("flow", "book", dialogue.Options{}); err != nil {
			return err
		}
		if err := s.Attach(first[0].ID); err != nil {
			return err
		}
		_, err := s.Complete("")
		return err
	})
	must(err)
	b, err := a.Fork(t.Context(), turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "b"}})
	must(err)
	_, err = b.Append(t.Context(), turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "five"}})
	must(err)
	_, err = a.Append(t.Context(),
		turn.Draft{Role: turn.System, Kind: turn.KindSummary, Covers: turn.Range{From: 1, To: 3}, Content: turn.Text{Text: "all"}},
		turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "open", Name: "g", Arguments: "{}"}}}},
	)
	must(err)
	_, err = a.Bookmark(t.Context(), "mark", 2)
	must(err)
	_, err = b.Acquire(t.Context())
	must(err)
	must(commitTo(t.Context(), st, first[0].ID))
	must(publishAll(t.Context(), st))
	must(compileIn(t.Context(), st))
	must(compressIn(t.Context(), st))
	must(streamIn(t.Context(), st, first[0].ID))
	must(serveIn(t.Context(), st))
	p := &patient{Store: st}
	must(st.Dump(t.Context(), func(r store.Row) error {
		p.rows = append(p.rows, store.Row{Table: r.Table, Values: slices.Clone(r.Values)})
		return nil
	}))
	return p
}

func examine(t *testing.T, p *patient) (findings []string, report doctor.Report) {
	t.Helper()
	report, err := doctor.Examine(t.Context(), p, func(f doctor.Finding) { findings = append(findings, f.String()) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Findings != int64(len(findings)) {
		t.Fatalf("report counts %d findings, %d were called", report.Findings, len(findings))
	}
	return findings, report
}

// illness is what is wrong with a patient and what the doctor says of it.
type illness struct {
	name  string
	spoil func(*patient)
	want  string
}

func diagnose(t *testing.T, illnesses []illness) {
	for _, c := range illnesses {
		t.Run(c.name, func(t *testing.T) {
			p := healthy(t)
			c.spoil(p)
			findings, _ := examine(t, p)
			if !strings.Contains(strings.Join(findings, "\n"), c.want) {
				t.Errorf("no finding says %q:\n%s", c.want, strings.Join(findings, "\n"))
			}
		})
	}
}

func TestHealthyStoreHasNoFindings(t *testing.T) {
	findings, report := examine(t, healthy(t))
	if len(findings) != 0 || report != (doctor.Report{Sessions: 2, Turns: 7, Blobs: 1}) {
		t.Fatalf("%+v, findings:\n%s", report, strings.Join(findings, "\n"))
	}
}

func TestEveryBrokenRuleIsFound(t *testing.T) {
	diagnose(t, []illness{
		{"database", func(p *patient) { p.says = []string{"page 7 is damaged"} }, "database: page 7 is damaged"},
		{"unknown table", func(p *patient) { p.rows = append(p.rows, store.Row{Table: "x"}) }, "fits no table"},
		{"session name", func(p *patient) { p.set("sessions", 0, "session_id", "a/b") }, "a/b"},
		{"session status", func(p *patient) { p.set("sessions", 0, "status", "asleep") }, "neither active nor ended"},
		{"session segment twice", func(p *patient) { p.repeat("sessions", 0) }, "is also that of"},
		{"type", func(p *patient) { p.set("sessions", 0, "status", int64(1)) }, "where text belongs"},
		{"type of number", func(p *patient) { p.set("sessions", 0, "head_seq", "6") }, "where a number belongs"},
		{"head too high", func(p *patient) { p.set("sessions", 0, "head_seq", int64(9)) }, "end at 6, the session's head is 9"},
		{"head before fork", func(p *patient) { p.set("sessions", 1, "head_seq", int64(3)) }, "lies before the fork point"},
		{"span lost", func(p *patient) { p.drop("spans", 0) }, "forked after turn 4 but inherits 0 turns"},
		{"span gap", func(p *patient) { p.set("spans", 0, "from_seq", int64(2)) }, "where turn 1 comes next"},
		{"span too far", func(p *patient) { p.set("spans", 0, "to_seq", int64(40)) }, "which holds 1–6"},
		{"span heir", func(p *patient) { p.set("spans", 0, "heir", int64(77)) }, "heir 77 is no session"},
		{"bookmark", func(p *patient) { p.set("bookmarks", 0, "seq", int64(70)) }, "bookmark mark stands at turn 70"},
		{"lease", func(p *patient) { p.set("leases", 0, "session_id", "gone") }, "there is no such session"},
		{"turn lost", func(p *patient) { p.drop("turns", 0) }, "turn 2 follows turn 0"},
		{"turn twice", func(p *patient) { p.repeat("turns", 3) }, "turn 4 follows turn 4"},
		{"turn tenant", func(p *patient) { p.set("turns", 0, "tenant", "other") }, "belongs to no session of tenant other"},
		{"turn id", func(p *patient) { p.set("turns", 0, "turn_id", "x") }, "not a ULID"},
		{"role", func(p *patient) { p.set("turns", 0, "role", "robot") }, "not a role"},
		{"form", func(p *patient) { p.set("turns", 1, "form", "image") }, "may not use form image"},
		{"content", func(p *patient) { p.set("turns", 0, "content", `{"text":"one"`) }, "turn 1: content"},
		{"content rewritten", func(p *patient) { p.set("turns", 0, "content", `{ "text":"one"}`) }, "not in the form it was written in"},
		{"meta", func(p *patient) { p.set("turns", 0, "meta", `{"tokens":"1"}`) }, "meta.tokens"},
		{"unit", func(p *patient) { p.set("turns", 2, "unit_seq", nil) }, "is in unit 0, by its content in 2"},
		{"result without call", func(p *patient) { p.drop("turns", 1) }, `result of call "c", which is not open`},
		{"call twice", func(p *patient) { p.drop("turns", 2); p.repeat("turns", 1) }, `call "c" of turn 2 is still open`},
		{"kind", func(p *patient) { p.set("turns", 4, "kind", "gossip") }, `"gossip" is not a kind`},
		{"covers", func(p *patient) { p.set("turns", 4, "covers_to", int64(8)) }, "summary by system as text of turns 1–8"},
		{"covers without summary", func(p *patient) { p.set("turns", 0, "covers_to", int64(1)) }, "is no summary"},
		{"open call lost", func(p *patient) { p.drop("open_calls", 0) }, "not listed as open"},
		{"open call made up", func(p *patient) { p.set("open_calls", 0, "call_id", "x") }, "the turns say otherwise"},
		{"blob damaged", func(p *patient) { p.set("blobs", 0, "data", []byte("doom")) }, "not those of that hash"},
		{"blob lost", func(p *patient) { p.drop("blobs", 0) }, "of turn 4 are missing"},
		{"blob ref lost", func(p *patient) { p.drop("blob_refs", 0) }, "without a reference that keeps them"},
		{"blob ref made up", func(p *patient) { p.set("blob_refs", 0, "seq", int64(1)) }, "turn 1 does not refer to bytes"},
		{"state", func(p *patient) { p.set("revisions", 1, "state", `{}x`) }, "revision 1:"},
		{"revision lost", func(p *patient) { p.drop("revisions", 0) }, "the first revision is 1"},
		{"revision gap", func(p *patient) { p.set("revisions", 1, "number", int64(5)) }, "follows revision 0"},
		{"revision too late", func(p *patient) { p.set("revisions", 1, "after_seq", int64(90)) }, "comes after turn 90"},
		{"no state", func(p *patient) { p.drop("revisions", 0); p.drop("revisions", 0) }, "has no dialogue state"},
		{"completed flow", func(p *patient) { p.set("completed_flows", 0, "after_seq", int64(99)) }, "points at turn 99"},
		{"flow pointer", func(p *patient) { p.set("flow_turns", 0, "seq", int64(-1)) }, "points at turn -1"},
	})
}

type unreadable struct{ *patient }

func (unreadable) Dump(context.Context, func(store.Row) error) error { return store.ErrCorrupt }

func TestReadingErrorIsReturned(t *testing.T) {
	_, err := doctor.Examine(t.Context(), unreadable{healthy(t)}, func(doctor.Finding) {}, nil)
	if !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("error %v, want ErrCorrupt", err)
	}
}
