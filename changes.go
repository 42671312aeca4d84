package turnstone

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// change is what took turns out of the prompt at once: passes, a restore, or both.
type change struct {
	before prompt.Epoch
	// low and high say which its passes are: those after low up to high.
	low, high int64
	turns     turn.Range // that its passes took out
	restore   bool
	restored  int64 // the number of the epoch that the restore went back to
	// shown says that nothing is left to be undone of it: the window became larger since.
	shown bool
}

// has reports whether a pass is one of the change.
func (c *change) has(pass int64) bool { return pass > c.low && pass <= c.high }

// folds reports whether its passes took no turns out.
func (c *change) folds() bool { return c.turns.To < c.turns.From }

// inForce reports whether the current epoch does not show all that its passes took out. An undo marks what it shows
// again. Passes overlap where the window grew between them, so that one of the others may be what was undone: a mark says
// nothing of the change unless it stands outside of theirs.
func (c *change) inForce(current *prompt.Epoch, all []change) bool {
	marked := func(besides turn.Range) bool {
		return slices.ContainsFunc(current.Kept, func(k prompt.Kept) bool {
			return k.Why == prompt.Undone && within(k.To, c.turns) && !within(k.To, besides)
		})
	}
	return !c.shown && (!marked(turn.Range{}) || slices.ContainsFunc(all, func(o change) bool {
		whole := o.turns.From <= c.turns.From && c.turns.To <= o.turns.To
		return !o.shown && !whole && !marked(o.turns)
	}))
}

func within(seq int64, r turn.Range) bool { return r.From <= seq && seq <= r.To }

// takenBack is the undo of the change when nothing was built on it.
func (c *change) takenBack() (*prompt.Back, Undone) {
	back := &prompt.Back{Epoch: c.before, Reason: prompt.ReasonUndo}
	if c.restore {
		return back, Undone{}
	}
	if c.folds() {
		return back, Undone{Pass: c.high}
	}
	return back, Undone{Pass: c.high, Turns: c.turns}
}

// epochs are those of a session, by their numbers.
type epochs struct {
	ctx    context.Context
	rows   prompt.Rows
	tenant string
	spans  []span.Span
}

// none is what there was before a session's first prompt.
func none() prompt.Epoch { return prompt.Epoch{Path: []turn.Range{{From: 1}}, From: 1} }

// at returns an epoch; number 0 is what there was before the first.
func (s *epochs) at(number int64) (prompt.Epoch, error) {
	if number == 0 {
		return none(), nil
	}
	row, err := s.rows.Epoch(s.ctx, s.tenant, s.spans, number)
	if err != nil {
		return prompt.Epoch{}, fmt.Errorf("epoch %d: %w", number, err)
	}
	return prompt.DecodeEpoch(row)
}

// number is that of the epoch that is in force, 0 before the first prompt.
func (s *epochs) number() (int64, error) {
	row, err := s.rows.LastEpoch(s.ctx, s.tenant, s.spans)
	if err != nil && !errors.Is(err, prompt.ErrNotFound) {
		return 0, err
	}
	return row.Number, nil
}

// last returns the last change that an epoch was opened by or goes on from. Found is false where there is none: before
// the first change, and where the session was forgotten, since nothing is left of what was before.
func (s *epochs) last(e *prompt.Epoch) (c change, found bool, err error) {
	if e.Before == 0 && e.From == 1 && len(e.Path) == 1 && e.Path[0] == (turn.Range{From: 1}) {
		return change{}, false, nil
	}
	if forgot, err := s.forgot(e); err != nil || forgot {
		return change{}, false, err
	}
	before, err := s.at(e.Before)
	if err != nil {
		return change{}, false, err
	}
	after, err := s.at(e.Before + 1)
	if err != nil {
		return change{}, false, err
	}
	c = change{before: before, low: before.Passes, high: after.Passes, restore: after.Reason == prompt.ReasonRestore, restored: after.Restored}
	if after.Began == 0 {
		c.low = c.high // checkpoints that were damaged took numbers, which are no passes
		return c, true, nil
	}
	if after.Reason == prompt.ReasonWindow {
		c.before = before.Since(after.Began)
	}
	c.turns = turn.Range{From: after.Began, To: after.From - 1}
	return c, true, nil
}

// changes yields the changes that an epoch goes on from, the last one first. Behind a restore come those that were in
// force before it, which an undo of the restore leads to, or with over those of what it went back to, which hold still.
// An error is terminal.
func (s *epochs) changes(e prompt.Epoch, over bool) iter.Seq2[change, error] {
	return func(yield func(change, error) bool) {
		for from := e.From; ; from = min(from, e.From) {
			c, found, err := s.last(&e)
			if err != nil {
				yield(change{}, err)
				return
			}
			c.shown = !c.restore && (c.before.From > from || c.before.From == from && !c.folds())
			if !found || !yield(c, nil) {
				return
			}
			if e = c.before; !c.restore || !over {
				continue
			}
			if e, err = s.at(c.restored); err != nil {
				yield(change{}, err)
				return
			}
		}
	}
}

// list are all changes that an epoch goes on from, the last one first.
func (s *epochs) list(current *prompt.Epoch) (list []change, err error) {
	for c, err := range s.changes(*current, true) {
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// passes is how many passes are in force for a prompt: those whose turns it does not show.
func (s *epochs) passes(p *prompt.Prompt) (n int64, err error) {
	if len(p.Path) == 0 || p.From <= p.Path[0].From {
		return 0, nil
	}
	number, err := s.number()
	if err != nil {
		return 0, err
	}
	current, err := s.at(number)
	if err != nil {
		return 0, err
	}
	list, err := s.list(&current)
	for i := range list {
		if c := &list[i]; c.inForce(&current, list) {
			n += c.high - c.low
		}
	}
	return n + p.Passes - current.Passes, err // a preview may make some
}

// forgot reports whether an epoch goes on from the one that a forgotten session began anew with. It names none before it,
// like a session's first, and begins behind that one: only a restore moves the beginning too, and names what was before.
// Where the session was forgotten before its first prompt, it is the first.
func (s *epochs) forgot(e *prompt.Epoch) (bool, error) {
	if e.Before != 0 || e.Number < 1 {
		return false, nil
	}
	first, err := s.at(1)
	return begins(&first) < begins(e) || first.Reason == prompt.ReasonForgot && begins(&first) > 1, err
}

// anew returns the turn that a session began anew with when it was forgotten; 1 where it was not.
func (s *epochs) anew(e prompt.Epoch) (int64, error) {
	for c, err := range s.changes(e, false) {
		if err != nil {
			return 0, err
		}
		e = c.before
	}
	if forgot, err := s.forgot(&e); err != nil || !forgot {
		return 1, err
	}
	return begins(&e), nil
}

// begins is the turn that the path of an epoch begins with.
func begins(e *prompt.Epoch) int64 {
	if len(e.Path) == 0 {
		return 1
	}
	return e.Path[0].From
}

// madeIn returns the epoch that a pass was made in, which is one up to the current one.
func (s *epochs) madeIn(current *prompt.Epoch, pass int64) (prompt.Epoch, error) {
	low, made := int64(0), *current
	for low+1 < made.Number {
		middle, err := s.at(low + (made.Number-low)/2)
		if err != nil {
			return prompt.Epoch{}, err
		}
		if middle.Passes < pass {
			low = middle.Number
		} else {
			made = middle
		}
	}
	return made, nil
}
