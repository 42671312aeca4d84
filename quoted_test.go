package turnstone_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// decided is what the agent decided, by turn.
type decided map[int64]string

// decide holds an exchange of about 500 tokens in which the agent decides something.
func (d decided) decide(t *testing.T, s *turnstone.Session, n int) {
	t.Helper()
	say(t, s, turn.User, fmt.Sprintf("And for part %d?", n))
	text := fmt.Sprintf("We decided to build part %d with library lib-%d.", n, 7000+n)
	filler := strings.Repeat(fmt.Sprintf("The gauge of part %d was read by hand in the yard. ", n), 36)
	d[say(t, s, turn.Agent, text+" "+filler).Seq] = text
}

// held checks that a prompt shows or names every decision up to a turn, and returns how many it only names.
func (d decided) held(t *testing.T, p *prompt.Prompt, to int64) (named int) {
	t.Helper()
	text := textOf(p)
	for seq, words := range d {
		switch {
		case seq > to, strings.Contains(text, words):
		case slices.ContainsFunc(p.Quotes, func(q prompt.Quote) bool { return q.Turn == seq }),
			slices.ContainsFunc(p.Unquoted, func(r turn.Range) bool { return r.From <= seq && seq <= r.To }):
			named++
		default:
			t.Errorf("turn %d: %q is neither in the prompt nor named by it: %v, %v", seq, words, p.Quotes, p.Unquoted)
		}
	}
	return named
}

// TestDecisionsOutliveEveryChange goes through passes, undo, restore, a fork and a bundle with more decisions than the
// window has room for: each is in every prompt word for word, or named.
func TestDecisionsOutliveEveryChange(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	d := decided{}
	named := 0
	next := 0
	// converse goes on for so many exchanges, and then until a pass was made.
	converse := func(exchanges int) {
		for to := next + exchanges; ; {
			d.decide(t, s, next)
			next++
			p := compiled(t, s, small)
			if named = max(named, d.held(t, p, 1<<62)); next >= to && p.Opened == prompt.ReasonFull {
				return
			}
		}
	}
	converse(30)
	if _, err := s.Snapshot(t.Context(), "thirty"); err != nil {
		t.Fatal(err)
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	converse(40)
	if _, err := s.Undo(t.Context(), 0, small); err != nil {
		t.Fatal(err)
	}
	d.held(t, compiled(t, s, small), 1<<62)
	converse(10)

	fork, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	d.held(t, compiled(t, fork, small), 1<<62)
	var file bytes.Buffer
	if _, err := s.WriteBundle(t.Context(), &file, replay.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	st := mem.New(mem.Config{})
	reader := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }
	if _, err := replay.Import(t.Context(), st, reader, replay.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	healthy(t, st)
	moved := session(t, open(t, st, turnstone.Config{}), "s")
	was, is := compiled(t, s, small), compiled(t, moved, small)
	if d.held(t, is, 1<<62); was.SHA256 != is.SHA256 {
		t.Error("the prompt of an imported session is another")
	}

	if _, err := s.Restore(t.Context(), "thirty", small); err != nil {
		t.Fatal(err)
	}
	d.held(t, compiled(t, s, small), info.Head)
	if _, err := s.Undo(t.Context(), 0, small); err != nil {
		t.Fatal(err)
	}
	p := compiled(t, s, small)
	if d.held(t, p, 1<<62); named == 0 || p.Passes < 8 {
		t.Errorf("%d were only named at most, after %d passes", named, p.Passes)
	}
}
