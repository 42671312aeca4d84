package replay_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// story is a made-up session and what it believed after each of its turns.
type story struct {
	w      *world
	rapid  *rapid.T
	key    turn.Key
	turns  []turn.Turn
	states map[int64]string // by the head it was at when it last changed
	keys   []string         // idempotency keys of the session's own turns
	aims   map[int64]string // goals and actions, like states
	own    int              // the first of turns that is the session's own
	items  []string         // ids of what was remembered
	count  *int             // makes names that are not taken
}

func (s *story) name(prefix string) string {
	*s.count++
	return fmt.Sprintf("%s%d", prefix, *s.count)
}

// tell makes up a session and, as often as not, forks of it, and returns the last of them.
func tell(w *world, t *rapid.T) *story {
	s := &story{w: w, rapid: t, key: w.create("s0"), states: make(map[int64]string), aims: make(map[int64]string), count: new(int)}
	s.note()
	s.goOn(25)
	for n := range rapid.IntRange(0, 3).Draw(t, "forks") {
		f := s.fork(fmt.Sprint("s", n+1))
		// What the parent does afterwards is none of the fork's business.
		s.goOn(4)
		s = f
		s.goOn(10)
	}
	return s
}

func (s *story) goOn(n int) {
	drafts := turngen.Log(n).Draw(s.rapid, "drafts")
	s.adopt(drafts)
	for len(drafts) > 0 {
		some := rapid.IntRange(1, len(drafts)).Draw(s.rapid, "batch")
		s.turns = append(s.turns, s.w.say(s.key, drafts[:some]...)...)
		drafts = drafts[some:]
		for range rapid.IntRange(0, 2).Draw(s.rapid, "beliefs") {
			s.w.believe(s.key, s.change)
			s.note()
		}
		for range rapid.IntRange(0, 2).Draw(s.rapid, "commits") {
			s.commit()
			s.note()
		}
		for range rapid.IntRange(0, 2).Draw(s.rapid, "prompts") {
			s.prompted()
		}
		for range rapid.IntRange(0, 2).Draw(s.rapid, "passes") {
			s.compressed()
		}
		if rapid.IntRange(0, 3).Draw(s.rapid, "bookmark") == 0 {
			name := s.name(rapid.StringMatching(`[A-Za-z.:_-]{1,3}`).Draw(s.rapid, "name"))
			s.w.bookmark(s.key, name, rapid.Int64Range(0, int64(len(s.turns))).Draw(s.rapid, "at"))
		}
	}
}

// adopt gives drafts of an invented log call ids that are not open in this one, and some of them
// an idempotency key. A fork uses its parent's keys again.
func (s *story) adopt(drafts []turn.Draft) {
	log := s.name("log-")
	for i := range drafts {
		d := &drafts[i]
		switch c := d.Content.(type) {
		case turn.Text:
			c.ToolCalls = slices.Clone(c.ToolCalls)
			for j := range c.ToolCalls {
				c.ToolCalls[j].ID += log
			}
			d.Content = c
		case turn.Result:
			c.CallID += log
			d.Content = c
		}
		if rapid.IntRange(0, 3).Draw(s.rapid, "keyed") == 0 {
			d.IdempotencyKey = fmt.Sprint("key-", len(s.keys))
			s.keys = append(s.keys, d.IdempotencyKey)
		}
	}
}

// change does something legal to the dialogue state, or nothing.
func (s *story) change(state *dialogue.State) error {
	id := s.name("flow-")
	value := dialogue.Value(turngen.JSON().Draw(s.rapid, "value"))
	turnID := turngen.ID(0)
	if len(s.turns) > 0 {
		turnID = rapid.SampledFrom(s.turns).Draw(s.rapid, "turn").ID
	}
	ops := map[string]func() error{
		"stack on": func() error { _, _, err := state.StackOn(id, id, dialogue.Options{}); return err },
		"attach":   func() error { return state.Attach(turnID) },
		"slot":     func() error { return state.SetSlot("slot", value, turnID) },
		"fallback": func() error { _, err := state.Fallback(id, id); return err },
		"complete": func() error { _, err := state.Complete(value); return err },
		"pop":      func() error { state.Pop(); return nil },
		"whole flow": func() error {
			_, _, err := state.StackOn(id, id, dialogue.Options{})
			if err == nil {
				err = state.Attach(turnID)
			}
			if err == nil {
				_, err = state.Complete("")
			}
			state.Pop()
			return err
		},
	}
	names := []string{"attach", "attach", "attach", "complete", "fallback", "pop", "slot", "stack on", "stack on", "whole flow"}
	for range 3 {
		err := ops[rapid.SampledFrom(names).Draw(s.rapid, "operation")]()
		var illegal *dialogue.OpError
		var field *dialogue.FieldError
		if err != nil && !errors.As(err, &illegal) && !errors.As(err, &field) {
			return err
		}
	}
	return nil
}

// note remembers the state after the last turn.
func (s *story) note() {
	head := int64(len(s.turns))
	info := s.w.info(s.key)
	s.w.view(func(tx store.Tx) error {
		rev, err := dialogue.At(s.w.ctx, tx.Dialogue(), s.key.Tenant, info.Lineage(head), head)
		if err != nil {
			return err
		}
		s.states[head] = stateJSON(s.w, rev.State)
		aims, err := cortex.Load(s.w.ctx, tx.Cortex(), s.key.Tenant, info.Lineage(info.Head), false)
		s.aims[head] = aimsJSON(s.w, aims)
		return err
	})
}

func aimsJSON(t tester, s *cortex.State) string {
	text, err := json.Marshal([]any{s.Goals(), s.Actions()})
	if err != nil {
		t.Fatalf("goals and actions: %v", err)
	}
	return string(text)
}

func stateJSON(t tester, s dialogue.State) string {
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatalf("state: %v", err)
	}
	return string(text)
}

// fork goes on from a turn at which no call waits.
func (s *story) fork(id string) *story {
	closed := []int64{0}
	unanswered := map[string]bool{}
	for _, t := range s.turns {
		for _, c := range t.Calls() {
			unanswered[c.ID] = true
		}
		if r, ok := t.Content.(turn.Result); ok {
			delete(unanswered, r.CallID)
		}
		if len(unanswered) == 0 {
			closed = append(closed, t.Seq)
		}
	}
	at := rapid.SampledFrom(closed).Draw(s.rapid, "fork point")
	f := &story{w: s.w, rapid: s.rapid, key: s.w.fork(s.key, at, id), turns: slices.Clone(s.turns[:at]), own: int(at), count: s.count}
	f.states = make(map[int64]string)
	f.aims = make(map[int64]string)
	for seq, state := range s.states {
		if seq <= at {
			f.states[seq], f.aims[seq] = state, s.aims[seq]
		}
	}
	f.note()
	return f
}

func TestRoundTrips(t *testing.T) {
	ctx := t.Context()
	// Each check has a tenant of its own in the one file.
	file := &world{tester: t, ctx: ctx, clock: newClock()}
	var err error
	if file.Store, err = sqlite.Open(ctx, filepath.Join(t.TempDir(), "turns.db"), sqlite.Config{Clock: file.clock.now}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		file.healthy()
		if err := file.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	tenants := 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, ctx)
		s := tell(w, t)
		first := w.plain(s.key)
		if _, err := verify(first); err != nil {
			t.Fatalf("verify: %v\n%s", err, first)
		}
		packed, _ := w.bundle(s.key, replay.WriteOptions{Compress: true})
		here := newWorld(t, ctx)
		here.imported(packed, replay.ImportOptions{})
		if again := here.plain(s.key); !bytes.Equal(records(again), records(first)) {
			t.Fatalf("written again:\n%s\nfirst:\n%s", again, first)
		}
		made := w.remade(s.key)
		if diff := cmp.Diff(made, here.remade(s.key)); diff != "" {
			t.Fatalf("prompts (-original +imported):\n%s", diff)
		}
		tenants++
		moved := file.imported(packed, replay.ImportOptions{Tenant: fmt.Sprint("t", tenants)})
		if again := file.plain(moved.Key); !bytes.Equal(records(again), records(first)) {
			t.Fatalf("written again from SQLite:\n%s\nfirst:\n%s", again, first)
		}
		if diff := cmp.Diff(made, file.remade(moved.Key)); diff != "" {
			t.Fatalf("prompts (-original +imported into SQLite):\n%s", diff)
		}
		here.imported(packed, replay.ImportOptions{As: "copy"})
		if again := here.plain(s.key); !bytes.Equal(records(again), records(first)) {
			t.Fatalf("changed by a copy next to it:\n%s\nfirst:\n%s", again, first)
		}
		here.healthy()
		here = newWorld(t, ctx)
		here.imported(packed, replay.ImportOptions{})
		if s.key.Session == "s0" {
			if diff := cmp.Diff(rows(w), rows(here)); diff != "" {
				t.Fatalf("rows (-original +imported):\n%s", diff)
			}
		}
	})
}

// rows are a store's rows but for what an import may set anew: when a blob was last wanted, a material kept or a
// breaker changed, and the numbers that only order open calls.
func rows(w *world) []string {
	w.Helper()
	var all []string
	err := w.Dump(w.ctx, func(r store.Row) error {
		values := slices.Clone(r.Values)
		if r.Table == "blobs" || r.Table == "open_calls" || r.Table == "materials" || r.Table == "breakers" {
			values = values[:len(values)-1]
		}
		all = append(all, fmt.Sprintf("%s %q", r.Table, values))
		return nil
	})
	if err != nil {
		w.Fatalf("dump: %v", err)
	}
	return all
}
