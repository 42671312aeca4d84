package turnstone

import (
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
)

// undoingPass finds what the undo of a pass goes back to: what was before it if nothing was built on it, otherwise what
// is, with its turns beside.
func (s *epochs) undoingPass(current *prompt.Epoch, pass int64) (*prompt.Back, Undone, error) {
	list, err := s.list(current)
	if err != nil {
		return nil, Undone{}, err
	}
	i := slices.IndexFunc(list, func(c change) bool { return c.has(pass) })
	if i >= 0 && list[i].inForce(current, list) {
		c := &list[i]
		if !c.restore && i == slices.IndexFunc(list, func(c change) bool { return !c.shown }) {
			back, done := c.takenBack()
			return back, done, nil
		}
		if !c.folds() {
			return &prompt.Back{Epoch: *current, Show: c.turns, Reason: prompt.ReasonUndo}, Undone{Pass: pass, Turns: c.turns}, nil
		}
	}
	problem, fix, err := s.whyNot(current, list, i, pass)
	if err != nil {
		return nil, Undone{}, err
	}
	return nil, Undone{}, invalid.New("pass", problem, fix)
}

// whyNot says why a pass cannot be undone, and what can be done. It is of the change i in the list of those that hold, or
// of none.
func (s *epochs) whyNot(current *prompt.Epoch, list []change, i int, pass int64) (problem, fix string, err error) {
	fix = "no pass is in force"
	took := func(c change) bool { return c.high > c.low && c.inForce(current, list) && !c.folds() }
	if n := slices.IndexFunc(list, took); n >= 0 {
		fix = fmt.Sprintf("the newest that is in force is pass %d", list[n].high)
	}
	switch {
	case pass < 1:
		return fmt.Sprintf("%d is no number of a pass", pass), fix, nil
	case pass > current.Passes && current.Passes == 0:
		return fmt.Sprintf("there never was a pass %d: no turns have left the prompt", pass), "", nil
	case pass > current.Passes:
		return fmt.Sprintf("there never was a pass %d: the last one was pass %d", pass, current.Passes), fix, nil
	case i >= 0 && list[i].shown:
		again := func(c change) bool { return took(c) && c.turns.From <= list[i].turns.To }
		if n := slices.IndexFunc(list[:i], again); n >= 0 {
			return fmt.Sprintf("pass %d is not in force any more: what it took out came back, and pass %d took it out again", pass, list[n].high), fix, nil
		}
		return fmt.Sprintf("pass %d is not in force any more: all that it took out is shown again", pass), fix, nil
	case i >= 0 && list[i].folds():
		return fmt.Sprintf("pass %d took no turns out: it only folded checkpoints into smaller ones", pass), "undo the passes after it, the newest first, and then this one", nil
	case i >= 0:
		return fmt.Sprintf("pass %d was undone already: its turns are shown beside its checkpoint", pass), fix, nil
	}
	for _, c := range list {
		if !c.restore {
			continue
		}
		for behind, err := range s.changes(c.before, false) {
			if err != nil {
				return "", "", err
			}
			if behind.has(pass) {
				return fmt.Sprintf("pass %d is out of force: a restore went back to a time before it", pass), "undo the restore first, without the number of a pass", nil
			}
		}
	}
	made, err := s.madeIn(current, pass)
	if err != nil {
		return "", "", err
	}
	begin, err := s.anew(*current)
	switch {
	case err != nil:
		return "", "", err
	case begins(&made) < begin:
		return fmt.Sprintf("pass %d is gone: the session was forgotten, and what it took out with it", pass), fix, nil
	case made.Began == 0:
		return fmt.Sprintf("pass %d took no turns out: it made a damaged checkpoint again", pass), fix, nil
	case made.Number == 1 && current.From == 1:
		return fmt.Sprintf("pass %d is not in force any more: all that it took out is shown again", pass), fix, nil
	}
	return fmt.Sprintf("pass %d was undone already", pass), fix, nil
}
