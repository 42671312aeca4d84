package prompt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// Back is an earlier epoch whose view of the turns comes back in a new one.
type Back struct {
	// Epoch is what is to be shown: its Path, From, Kept, Checkpoints, Paged, Quotes, Unquoted, Renderer and Before
	// count, and Restored for a restore.
	Epoch Epoch
	// Show are turns that are shown in full beside the checkpoints that stand for them; none where it is
	// zero.
	Show   turn.Range
	Reason Reason
}

// back opens an epoch that shows what an earlier one did.
func (c *compiler) back(current Epoch, pins []int64) (*Projection, error) {
	b := c.request.Back
	e := current
	e.Number++
	e.AfterSeq, e.Renderer, e.Reason, e.Hold = c.request.Session.Head, max(b.Epoch.Renderer, 1), b.Reason, true
	e.Quotes, e.Unquoted = b.Epoch.Quotes, b.Epoch.Unquoted
	e.Path, e.From, e.Kept, e.Checkpoints, e.Paged, e.Before = b.Epoch.Path, b.Epoch.From, b.Epoch.Kept, b.Epoch.Checkpoints, b.Epoch.Paged, b.Epoch.Before
	if e.Restored, e.Began = 0, 0; b.Reason == ReasonRestore {
		e.Restored = b.Epoch.Restored
	}
	if b.Reason == ReasonUndo && slices.Equal(e.Path, current.Path) {
		// What an earlier undo brought back stays.
		e.Kept = withUndone(slices.Clone(e.Kept), slices.DeleteFunc(slices.Clone(current.Kept), func(k Kept) bool { return k.To >= e.From }))
	}
	if b.Show != (turn.Range{}) {
		shown, err := c.shown(&e, turn.Range{From: b.Show.From, To: min(b.Show.To, e.From-1)})
		if err != nil {
			return nil, err
		}
		e.Kept = withUndone(slices.Clone(e.Kept), shown)
	}
	p, damaged, err := c.project(e)
	if err != nil {
		return nil, err
	}
	c.opened = &p.epoch
	if len(damaged) > 0 {
		return c.mend(p, damaged, pins)
	}
	return p, nil
}

// shown are the blocks of a range, to be kept. Of one that no window of the model would hold not all are read.
func (c *compiler) shown(e *Epoch, r turn.Range) ([]Kept, error) {
	if r.To < r.From {
		return nil, nil // they are among the recent turns again
	}
	reader := &Projection{counter: c.request.Counter, epoch: Epoch{Path: e.Path}, open: make(map[int64][]turn.Turn), digest: newDigest(nil)}
	for from := r.From; from <= r.To; from = reader.end + 1 {
		turns, err := c.scan(e.Path, from, r.To, false, page)
		if err != nil {
			return nil, err
		}
		if len(turns) == 0 {
			break
		}
		if err := c.push(reader, turns, turns[len(turns)-1].Seq); err != nil {
			return nil, err
		}
		// A pass may have taken out any number of turns, if nobody compiled a prompt before.
		if most := max(c.request.Window.Usable, reader.counter.Profile().Context); reader.counter.Tokens(reader.spent).Upper() > most {
			c.unread = reader.end < r.To
			break
		}
	}
	kept := make([]Kept, len(reader.recent))
	for i, b := range reader.recent {
		kept[i] = Kept{b.Range, Undone}
	}
	return kept, nil
}

// mend opens an epoch in which checkpoints that are damaged are made again from their turns, as far as there
// are any who make summaries; otherwise the turns are only named.
func (c *compiler) mend(p *Projection, damaged []Ref, pins []int64) (*Projection, error) {
	ch, err := c.same(p, pins)
	if err != nil {
		return nil, err
	}
	for _, r := range damaged {
		ch.mended++
		var made compress.Outcome
		if c.request.Pass != nil {
			if made, err = c.remake(p, r, p.epoch.Passes+ch.mended, ch.pins); err != nil {
				return nil, err
			}
		}
		ch.checkpoints = insert(ch.checkpoints, made.Made)
		c.passes = append(c.passes, Pass{Number: p.epoch.Passes + ch.mended, Range: r.Range, Made: made.Made, Before: p.total(), After: p.total(), Mended: true})
	}
	return c.reopen(p, ReasonDamaged, ch)
}

// remake makes a checkpoint of the turns of a damaged one.
func (c *compiler) remake(p *Projection, r Ref, number int64, pinned []turn.Range) (compress.Outcome, error) {
	q := &c.request
	turns, err := c.scan(p.epoch.Path, max(r.From, r.To-maxPass+1), r.To, false, maxPass)
	if err != nil {
		return compress.Outcome{}, err
	}
	if turns, err = c.whole(p.epoch.Path, turns, r.To); err != nil {
		return compress.Outcome{}, err
	}
	quoted := p.quoted() // stands beside it as before, and need not be said twice
	j := &compress.Job{
		Pass:   compress.Pass{Number: number, Range: r.Range, Tokens: compress.Cap(compress.Ultra, q.Window, q.Compression.SummaryMaxTokens)},
		Window: q.Window, SummaryMax: q.Compression.SummaryMaxTokens, New: compress.NewSource(r.Range, turns, pinned),
		Goal: q.Goal, Mode: q.Session.Mode, Quoted: quoted.held(), Count: p.count,
	}
	return q.Pass(c.ctx, j)
}

// insert adds checkpoints in the order of the log.
func insert(all, made []compress.Checkpoint) []compress.Checkpoint {
	all = slices.Concat(all, made)
	slices.SortFunc(all, func(a, b compress.Checkpoint) int { return cmp.Compare(a.Range.From, b.Range.From) })
	return all
}

// explained says why a prompt does not fit that an undo asked for, and which context would hold it; of any other, what of the
// recent turns takes the most.
func (c *compiler) explained(p *Projection, err error) error {
	var over *budget.OverBudgetError
	switch {
	case !errors.As(err, &over):
	case c.request.Back == nil:
		if over.Account.Largest() == budget.Recent {
			over.Remedy = c.remedy(p)
		}
	default:
		over.Why = "the turns that would come back do not fit into this window any more"
		more := ""
		if c.unread || p.begin > p.epoch.From {
			more = "more than "
		}
		over.Remedy = fmt.Sprintf("give it a context of %s%d tokens if the model has one", more, over.Account.Needs())
	}
	return err
}

// remedy says what makes the recent turns smaller that could not leave; empty where it is the user's message.
func (c *compiler) remedy(p *Projection) string {
	var largest block
	for _, b := range p.recent {
		if p.counter.Tokens(b.tally).Tokens > p.counter.Tokens(largest.tally).Tokens {
			largest = b
		}
	}
	switch {
	case c.request.Compression.Off && len(p.recent) > 1:
		return "let older turns leave the prompt, which they may not while compression is off"
	case len(largest.messages) == 0 || largest.said:
		return ""
	case len(largest.messages[0].Calls) > 0:
		return fmt.Sprintf("have the tool %s return less", largest.messages[0].Calls[0].Name)
	}
	return "have the agent say less at once"
}
