package turnstone_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgettingTurnsThatWereWrittenLate: what an exchange came to be is forgotten with each of its turns, also where the log took
// them only after the export was made, which could not say then where they would stand.
func TestForgettingTurnsThatWereWrittenLate(t *testing.T) {
	const greets, keeps = "greets politely", "keeps a curious animal"
	for name, test := range map[string]struct {
		seq           int64
		forgets, says string
	}{
		"input": {4, keeps, greets}, "reply": {5, keeps, greets}, "of the exchange before": {1, greets, keeps},
	} {
		t.Run(name, func(t *testing.T) {
			faults := faulty.New(mem.New(mem.Config{}))
			eng := open(t, faults, turnstone.Config{Reflector: commit.ReflectFunc(func(_ context.Context, s *commit.Situation, _ commit.Assessment) (commit.Reflection, error) {
				if s.Input == "hello" {
					return commit.Reflection{Lessons: []string{greets}}, nil
				}
				return commit.Reflection{Lessons: []string{keeps}}, nil
			})})
			s := session(t, eng, "talk")
			talk := func(input, reply string) {
				_, err := s.Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{
					{Role: turn.User, Content: turn.Text{Text: input}}, {Role: turn.Agent, Content: turn.Text{Text: reply}},
				}})
				if err != nil {
					t.Fatal(err)
				}
			}
			talk("hello", "hi")
			faults.Set(func(at string) error {
				if at == "InsertTurns" {
					return errors.New("planted")
				}
				return nil
			})
			talk("my walrus is blue", "noted")
			faults.Set(nil)
			for began := time.Now(); strings.Contains(contents(t, faults), "deferrals"); {
				if time.Since(began) > time.Minute {
					t.Fatal("it was never written")
				}
				time.Sleep(time.Millisecond)
			}
			if !strings.Contains(contents(t, faults), keeps) {
				t.Fatal("nothing was learned")
			}
			if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{test.seq}}); err != nil {
				t.Fatal(err)
			}
			kept := contents(t, faults)
			if strings.Contains(kept, test.forgets) || !strings.Contains(kept, test.says) {
				t.Errorf("forgot %t that somebody %s, and kept %t that somebody %s",
					!strings.Contains(kept, test.forgets), test.forgets, strings.Contains(kept, test.says), test.says)
			}
		})
	}
}

// TestForgettingTurnsOfAnExportThatWasSwept: what happened in an exchange is forgotten with each of its turns, also where the log took them
// late and the export, which named them, is no longer kept.
func TestForgettingTurnsOfAnExportThatWasSwept(t *testing.T) {
	for name, test := range map[string]struct {
		seq   int64
		stays bool
	}{"input": {seq: 4}, "reply": {seq: 5}, "of the exchange before": {seq: 1, stays: true}} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			faults := faulty.New(mem.New(mem.Config{}))
			eng := open(t, faults, turnstone.Config{})
			s := session(t, eng, "talk")
			talk := func(input, reply string) commit.Result {
				result, err := s.Commit(ctx, commit.Exchange{Turns: []turn.Draft{
					{Role: turn.User, Content: turn.Text{Text: input}}, {Role: turn.Agent, Content: turn.Text{Text: reply}},
				}})
				if err != nil {
					t.Fatal(err)
				}
				return result
			}
			talk("hello", "hi")
			faults.Set(func(at string) error {
				if at == "InsertTurns" {
					return errors.New("planted")
				}
				return nil
			})
			late := talk("my walrus is blue", "noted")
			faults.Set(nil)
			for began := time.Now(); strings.Contains(contents(t, faults), "deferrals"); {
				if time.Since(began) > time.Minute {
					t.Fatal("it was never written")
				}
				time.Sleep(time.Millisecond)
			}
			err := eng.Publish(ctx)
			if err != nil {
				t.Fatal(err)
			}
			err = faults.Update(ctx, func(tx store.Tx) error {
				_, err := tx.Outbox().SweepExports(ctx, tx.Now().Add(time.Hour), 100)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := eng.Trace(ctx, late.ExportID); err != nil {
				t.Fatalf("there is no trace to forget: %v", err)
			}
			if _, err := s.Forget(ctx, turnstone.Target{Seqs: []int64{test.seq}}); err != nil {
				t.Fatal(err)
			}
			if _, err := eng.Trace(ctx, late.ExportID); test.stays != (err == nil) || err != nil && !errors.Is(err, turn.ErrNotFound) {
				t.Errorf("the trace stays: %t (%v), want %t", err == nil, err, test.stays)
			}
		})
	}
}
