package transcripts

import (
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

func (r *run) pin() error {
	if len(r.pins) > 0 && r.rand.IntN(2) == 0 {
		seq := r.pins[0]
		r.pins = r.pins[1:]
		r.unpinned = append(r.unpinned, seq)
		return r.session.Unpin(r.ctx, seq)
	}
	if len(r.pins) == 3 {
		return nil
	}
	seq := 1 + r.rand.Int64N(r.head)
	if r.said[seq].Kind == turn.KindSummary || slices.Contains(r.pins, seq) {
		return nil
	}
	r.pins = append(r.pins, seq)
	return r.session.Pin(r.ctx, seq)
}

// describe gives the session another mode.
func (r *run) describe() error {
	r.mode = pick(r.rand, "developer", "planning", "assistant", "debugger")
	r.moded = r.head
	r.stats.Modes++
	return r.session.Describe(r.ctx, turn.SessionInfo{Mode: r.mode})
}

// change goes on with the other strategy.
func (r *run) change() (err error) {
	if err := r.session.Settle(r.ctx); err != nil {
		return err
	}
	r.eng, r.other = r.other, r.eng
	r.stats.Strategies++
	r.session, err = r.eng.Find(r.ctx, r.session.ID())
	return err
}

// intend begins a goal, or changes the one there is.
func (r *run) intend() error {
	change := cortex.GoalChange{ID: fmt.Sprintf("goal-%d", r.goal), By: cortex.ActorUser, Why: "random"}
	if r.goal == 0 || r.rand.IntN(4) == 0 {
		r.goal++
		change.ID = fmt.Sprintf("goal-%d", r.goal)
		title := r.words(3)
		change.Title = &title
	}
	if r.rand.IntN(2) == 0 {
		change.AddMilestones = []cortex.Milestone{{Description: r.words(4), Status: pick(r.rand, cortex.MilestoneCompleted, cortex.MilestoneInProgress)}}
	} else {
		change.AddDecisions = []cortex.Decision{{Description: r.words(5), Locked: true}}
	}
	_, err := r.session.Intend(r.ctx, cortex.Changes{Goals: []cortex.GoalChange{change}})
	var refused *turnstone.RefusedError
	if errors.As(err, &refused) {
		return nil // too many of something: nothing changed
	}
	return err
}

// refusedFor reports whether an error is one that the state of the session explains.
func refusedFor(err error) bool {
	var field *invalid.Field
	return errors.Is(err, budget.ErrOverBudget) || errors.Is(err, turnstone.ErrNothingToCompress) || errors.Is(err, turnstone.ErrNothingToUndo) || errors.As(err, &field)
}

// preview is the prompt as it would be, nil where it does not fit.
func (r *run) preview() (*prompt.Prompt, error) {
	o := r.options
	o.Preview = true
	p, err := r.session.Prompt(r.ctx, o)
	if refusedFor(err) {
		return nil, nil
	}
	return p, err
}

// compress asks for a pass.
func (r *run) compress() error {
	before, err := r.preview()
	if err != nil {
		return err
	}
	pass, err := r.session.Compress(r.ctx, r.options)
	if synced := r.sync(false); synced != nil {
		return synced
	}
	if refusedFor(err) {
		r.stats.Useless++
		return nil
	}
	if err != nil {
		return err
	}
	r.stats.Forced++
	if pass.After >= pass.Before {
		return fmt.Errorf("pass %d made %d tokens of %d", pass.Number, pass.After, pass.Before)
	}
	after, err := r.preview()
	if err != nil {
		return err
	}
	if before != nil && before.Opened == "" && (after == nil || after.Count.Upper() >= before.Count.Upper()) {
		return fmt.Errorf("a pass over %+v made %+v of %+v", pass.Range, after.Account, before.Account)
	}
	return nil
}

// undo takes back the last change or an older pass, and looks whether the turns are shown.
func (r *run) undo() error {
	pass := int64(0)
	if r.passed > 0 && r.rand.IntN(3) > 0 {
		pass = 1 + r.rand.Int64N(r.passed)
	}
	before, err := r.preview()
	if err != nil {
		return err
	}
	last := len(r.changes) - 1
	holds := pass == 0 && last >= 0 || slices.ContainsFunc(standing(r.changes), func(c change) bool { return c.has(pass) })
	done, err := r.session.Undo(r.ctx, pass, r.options)
	refused := refusedFor(err)
	if err != nil && !refused {
		return fmt.Errorf("undo of pass %d: %w", pass, err)
	}
	switch {
	case errors.Is(err, budget.ErrOverBudget), refused && !holds:
		return r.sync(false)
	case refused && pass == 0:
		// What the session's first epoch did is no change any more once everything is shown again.
		if last > 0 || len(r.hidden) > 0 {
			return fmt.Errorf("%w, though %+v are in force", err, r.changes)
		}
		r.changes = nil
		return errors.Join(r.sync(false), r.showsAll())
	case refused:
		return errors.Join(r.sync(false), r.showsTurns(pass, r.took[pass], standing(r.changes)...))
	case !holds:
		return fmt.Errorf("pass %d was undone, which is not in force: %+v", pass, r.changes)
	}
	r.stats.Undone++
	restored := false
	if top := &r.changes[last]; pass == 0 || top.has(pass) && !top.restored {
		restored = r.comeBack().restored
	} else {
		r.stats.UndoneLater++
	}
	if restored {
		r.stats.Unrestored++
		before = nil
	}
	if err := r.sync(false); err != nil {
		return err
	}
	return errors.Join(r.showsTurns(done.Pass, done.Turns), r.hidesNone(before))
}

// undoAll makes a pass in a larger window than before, and undoes all there are in any order.
func (r *run) undoAll() error {
	if r.options.Context < 65536 {
		r.options.Context *= 2
	}
	if err := r.compress(); err != nil {
		return err
	}
	for range 4 {
		if err := r.undo(); err != nil {
			return err
		}
	}
	r.options.Context, r.shrunk = 2048, true
	return nil
}

// showsAll checks that no turn is out of the prompt.
func (r *run) showsAll() error {
	p, err := r.preview()
	if err != nil || p == nil || p.Opened != "" {
		return err
	}
	if p.From > 1 {
		return fmt.Errorf("there is nothing to undo, and the prompt begins at turn %d", p.From)
	}
	return nil
}

// showsTurns checks that the turns of a pass are shown that was undone, or is not in force, but for those that others took
// out.
func (r *run) showsTurns(pass int64, turns turn.Range, others ...change) error {
	p, err := r.preview()
	if err != nil || p == nil || p.Opened != "" {
		return err // what must be shown besides takes turns out again
	}
	shown := shownIn(p)
	for seq := max(turns.From, 1); seq <= turns.To; seq++ {
		taken := func(c change) bool { return !c.has(pass) && c.took.From <= seq && seq <= c.took.To }
		if r.shows(seq) && r.ends(seq) <= turns.To && shown[seq] == nil && !slices.ContainsFunc(others, taken) {
			return fmt.Errorf("pass %d over turns %v was undone and turn %d is not shown", pass, turns, seq)
		}
	}
	return nil
}

// hidesNone checks that what was shown before a pass was undone still is, but for what was shown because it was pinned.
func (r *run) hidesNone(before *prompt.Prompt) error {
	p, err := r.preview()
	if err != nil || p == nil || p.Opened != "" || before == nil || before.Opened != "" {
		return err
	}
	shown := shownIn(p)
	for seq := range shownIn(before) {
		was := func(pin int64) bool { return pin == seq || r.together(pin, seq) }
		if shown[seq] == nil && !slices.ContainsFunc(r.unpinned, was) {
			return fmt.Errorf("the undo took turn %d out, which was shown", seq)
		}
	}
	return nil
}

func (r *run) snapshot() error {
	name := fmt.Sprintf("snapshot-%d", len(r.saved))
	if _, err := r.session.Snapshot(r.ctx, name); err != nil {
		return err
	}
	r.save(name)
	return r.sync(false)
}

func (r *run) restore() error {
	if len(r.saved) == 0 {
		return nil
	}
	to := pick(r.rand, r.saved...)
	_, err := r.session.Restore(r.ctx, to.name, r.options)
	if refusedFor(err) {
		return r.sync(false)
	}
	if err != nil {
		return err
	}
	r.stats.Restored++
	r.goBack(to, r.passed)
	return r.sync(true)
}
