package prompt_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// damage has the rows of the checkpoints altered, or lost where alter returns an error.
func (w *world) damage(refs []prompt.Ref, alter func(*compress.Row) error) {
	w.earlier, w.last = nil, nil
	w.faults.checkpoint = func(r *compress.Row) error {
		if slices.ContainsFunc(refs, func(d prompt.Ref) bool { return d.Number == r.Number && d.Version == r.Version }) {
			return alter(r)
		}
		return nil
	}
}

var damages = map[string]func(*compress.Row) error{
	"missing":     func(*compress.Row) error { return compress.ErrNotFound },
	"undecodable": func(r *compress.Row) error { r.Doc = r.Doc[:len(r.Doc)/2]; return nil },
	"changed":     func(r *compress.Row) error { r.Doc = strings.Replace(r.Doc, "decided", "refused", 1); return nil },
	"another": func(r *compress.Row) error {
		c, err := compress.DecodeCheckpoint(r.Doc)
		if c.Range.To--; err == nil {
			r.Doc = string(c.AppendJSON(nil))
		}
		return err
	},
}

func TestADamagedCheckpointIsMadeAgain(t *testing.T) {
	for name, alter := range damages {
		t.Run(name, func(t *testing.T) {
			w := summarised(newWorld(t, 8192))
			w.lives(2, nil)
			w.goOn(1000)
			before := w.epoch()
			earlier := w.made[len(w.made)-1].call
			w.damage(before.Checkpoints[:1], alter)
			p := w.compile()
			e := w.epoch()
			if p.Opened != prompt.ReasonDamaged || e.Number != before.Number+1 || e.From != before.From || e.Passes != 4 || p.Passes != 4 || e.Before != before.Before {
				t.Fatalf("opened %q: %+v", p.Opened, e)
			}
			if c := e.Checkpoints; len(c) != 2 || c[0].Range != before.Checkpoints[0].Range || c[0].Number != 4 || c[0].Version != 1 || c[1] != before.Checkpoints[1] {
				t.Errorf("%v, before %v", c, before.Checkpoints)
			}
			if len(w.passes) != 1 || w.passes[0].Number != 4 || w.passes[0].Range != before.Checkpoints[0].Range || len(w.passes[0].Made) != 1 {
				t.Errorf("%+v", w.passes)
			}
			if !strings.Contains(p.Messages[0].Parts[0].Text, "buffer") || strings.Contains(p.Messages[0].Parts[0].Text, "refused") {
				t.Errorf("%q", p.Messages[0].Parts[0].Text)
			}
			w.accounted(p)
			w.laidOut(p)
			if p := w.compile(); p.Opened != "" {
				t.Errorf("opened %q again", p.Opened)
			}
			if _, err := w.rebuild(earlier); !errors.Is(err, prompt.ErrChanged) {
				t.Errorf("an older prompt: %v", err)
			}
			w.faults.checkpoint = nil
			if _, err := w.rebuild(earlier); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSeveralDamagedCheckpoints(t *testing.T) {
	w := summarised(newWorld(t, 16_384))
	w.append(user("begin"), agent("A key: 7f3a."))
	w.lives(3, nil)
	before := w.epoch()
	if len(before.Checkpoints) != 3 {
		t.Fatalf("%v", before.Checkpoints)
	}
	w.damage([]prompt.Ref{before.Checkpoints[0], before.Checkpoints[2]}, damages["missing"])
	w.pin(2)
	w.request.Goal = fullGoal()
	p := w.compile()
	e := w.epoch()
	if p.Opened != prompt.ReasonDamaged || e.Passes != 5 || len(w.passes) != 2 || len(e.Checkpoints) != 3 || e.Goal == nil {
		t.Fatalf("opened %q: %+v", p.Opened, e)
	}
	for i, number := range []int64{4, 2, 5} {
		if c := e.Checkpoints[i]; c.Number != number || c.Range != before.Checkpoints[i].Range {
			t.Errorf("checkpoint %d is %v, before %v", i, c, before.Checkpoints[i])
		}
	}
	if !slices.Contains(e.Kept, kept(prompt.Pinned, 2)[0]) {
		t.Errorf("%v", e.Kept)
	}
	w.accounted(p)
	w.laidOut(p)
}

func TestADamagedCheckpointIsOnlyNamedWhereNobodySummarises(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(2, nil)
	before := w.epoch()
	w.damage(before.Checkpoints[1:], damages["missing"])
	w.request.Pass = nil
	p := w.compile()
	if e := w.epoch(); p.Opened != prompt.ReasonDamaged || len(e.Checkpoints) != 1 || e.Checkpoints[0] != before.Checkpoints[0] || len(w.passes) != 1 || !w.passes[0].Mended || len(w.passes[0].Made) != 0 {
		t.Errorf("opened %q: %+v", p.Opened, e)
	}
	w.accounted(p)
	w.laidOut(p)
	if p := w.compile(); p.Opened != "" {
		t.Errorf("opened %q again", p.Opened)
	}
}

// TestADamagedCheckpointOfAFullPrompt has a pass to make as well.
func TestADamagedCheckpointOfAFullPrompt(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(2, nil)
	w.damage(w.epoch().Checkpoints[1:], damages["missing"])
	w.append(work(1000, 90)...)
	p := w.compile()
	if e := w.epoch(); p.Opened != prompt.ReasonDamaged || e.Passes != 4 || len(w.passes) != 2 || e.Before != e.Number-1 {
		t.Errorf("opened %q, %d passes: %+v", p.Opened, len(w.passes), e)
	}
	w.accounted(p)
	w.laidOut(p)
}

// TestAnUndoMendsWhatItShows goes back to an epoch whose checkpoint is damaged, and holds.
func TestAnUndoMendsWhatItShows(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(2, nil)
	before := w.epochAt(w.epoch().Before)
	w.goOn(1000)
	now := w.epoch()
	w.damage(before.Checkpoints, damages["missing"])
	w.resize(16_384)
	p := w.back(prompt.Back{Epoch: before, Reason: prompt.ReasonUndo})
	e := w.epoch()
	if p.Opened != prompt.ReasonUndo || e.Number != now.Number+1 || !e.Hold || e.Before != before.Before || e.Passes != now.Passes+1 || len(w.passes) != 1 {
		t.Errorf("opened %q: %+v", p.Opened, e)
	}
	if len(e.Checkpoints) != 1 || e.Checkpoints[0].Range != before.Checkpoints[0].Range || e.Checkpoints[0].Number != e.Passes {
		t.Errorf("%v, before %v", e.Checkpoints, before.Checkpoints)
	}
	w.accounted(p)
	w.laidOut(p)
}

func TestStandingCheckpoints(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(3, nil)
	e := w.epoch()
	standing := func() (list []compress.Checkpoint, err error) {
		err = w.view(func(tx store.Tx, info turn.SessionInfo) (err error) {
			list, err = prompt.Standing(t.Context(), w.rows(tx).Checkpoints, info, e)
			return err
		})
		return list, err
	}
	list, err := standing()
	if diff := cmp.Diff(w.standing(), list); err != nil || diff != "" || len(list) != 2 {
		t.Error(err, diff)
	}
	w.damage(e.Checkpoints[:1], damages["changed"])
	if list, err := standing(); err != nil || len(list) != 1 || list[0].Number != e.Checkpoints[1].Number {
		t.Errorf("%v, %v", list, err)
	}
	w.burn(func() error {
		_, err := standing()
		return err
	})
}

// TestACheckpointIsMadeAgainBesideItsQuotes: what is quoted beside it takes no room in it, as when it was made first.
func TestACheckpointIsMadeAgainBesideItsQuotes(t *testing.T) {
	w := summarised(newWorld(t, 8192))
	w.lives(2, nil)
	before := w.epoch()
	w.damage(before.Checkpoints[:1], damages["missing"])
	var beside []string
	pass := w.request.Pass
	w.request.Pass = func(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
		beside = j.Quoted
		return pass(ctx, j)
	}
	if p := w.compile(); p.Opened != prompt.ReasonDamaged || len(before.Quotes) == 0 || len(beside) != len(before.Quotes) {
		t.Errorf("opened %q, %d of %d quotes stand beside it", p.Opened, len(beside), len(before.Quotes))
	}
}
