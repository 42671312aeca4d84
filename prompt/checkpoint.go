package prompt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// errDamaged says that a checkpoint is not what its epoch refers to.
var errDamaged = errors.New("the checkpoint is damaged")

// RefOf names a checkpoint as an epoch does.
func RefOf(c *compress.Checkpoint) Ref { return refOf(c, string(c.AppendJSON(nil))) }

func refOf(c *compress.Checkpoint, doc string) Ref {
	sum := sha256.Sum256([]byte(doc))
	return Ref{Range: c.Range, Number: c.Number, Version: c.Version, SHA256: hex.EncodeToString(sum[:])}
}

// checkpoint reads what a ref names. errDamaged if it is gone or no longer the same.
func (c *compiler) checkpoint(r Ref) (compress.Checkpoint, error) {
	row, err := c.checkpoints.Checkpoint(c.ctx, c.request.Session.Tenant, c.spans, r.Number, r.Version)
	if errors.Is(err, compress.ErrNotFound) {
		return compress.Checkpoint{}, fmt.Errorf("checkpoint %d, version %d: %w: %w", r.Number, r.Version, errDamaged, err)
	}
	if err != nil {
		return compress.Checkpoint{}, fmt.Errorf("checkpoint %d of %s: %w", r.Number, c.session.Session, err)
	}
	made, err := compress.DecodeCheckpoint(row.Doc)
	switch {
	case err != nil:
		return compress.Checkpoint{}, fmt.Errorf("checkpoint %d, version %d: %w: %w", r.Number, r.Version, errDamaged, err)
	case refOf(&made, row.Doc) != r:
		return compress.Checkpoint{}, fmt.Errorf("checkpoint %d, version %d: %w: it is not what was stored", r.Number, r.Version, errDamaged)
	}
	return made, nil
}

// frozen is what an epoch shows of the turns before its recent ones.
type frozen struct {
	kept        []block               // in the order of Epoch.Kept
	checkpoints []compress.Checkpoint // in the order of Epoch.Checkpoints
	handles     []string              // the lines of Epoch.Paged
	quotes      []string              // the words of Epoch.Quotes
}

// frozen reads what an epoch froze. A checkpoint that is damaged is left out and its ref returned.
func (c *compiler) frozen(e *Epoch) (f frozen, damaged []Ref, err error) {
	reader := &Projection{counter: c.request.Counter, epoch: Epoch{Path: e.Path}}
	if f.kept, err = c.kept(e, reader); err != nil {
		return f, nil, err
	}
	if f.checkpoints, damaged, err = c.standing(e.Checkpoints); err != nil {
		return f, nil, err
	}
	f.handles = make([]string, len(e.Paged))
	for i, h := range e.Paged {
		var first string
		if h.Messages == 1 {
			b, err := c.block(h.From, h.To, reader)
			if err != nil {
				return f, nil, err
			}
			first = b.firstWords()
		}
		f.handles[i] = h.line(first)
	}
	f.quotes, err = c.quotes(e)
	return f, damaged, err
}

// section is a part of the turns before the recent ones: those of a checkpoint, or those that none covers.
type section struct {
	turn.Range
	checkpoint *compress.Checkpoint
}

// sections are what stands before the recent turns, in the order of the log.
func (p *Projection) sections() []section {
	var all []section
	next := p.epoch.begin()
	gap := func(to int64) {
		if r := (turn.Range{From: next, To: to}); p.crosses(r) {
			all = append(all, section{Range: r})
		}
	}
	for i := range p.checkpoints {
		c := &p.checkpoints[i]
		gap(c.Range.From - 1)
		all = append(all, section{Range: c.Range, checkpoint: c})
		next = c.Range.To + 1
	}
	gap(p.epoch.From - 1)
	return all
}

// crosses reports whether any turn of the range is on the path.
func (p *Projection) crosses(r turn.Range) bool {
	for _, on := range p.epoch.Path {
		if r.From <= r.To && r.From <= last(on) && r.To >= on.From {
			return true
		}
	}
	return false
}

// freeze adds what stands before the recent turns: section by section a note about it, the handles of what
// the user said in it and is not shown, and what is shown word for word. What is quoted of all of them comes last.
func (p *Projection) freeze() {
	handles := p.handles
	kept, paged := 0, 0
	for _, s := range p.sections() {
		first := kept
		for kept < len(p.kept) && p.kept[kept].To <= s.To {
			kept++
		}
		p.note(budget.Checkpoints, s.text(kept > first))
		named := paged
		for paged < len(handles) && p.epoch.Paged[paged].To <= s.To {
			paged++
		}
		p.page(handles[named:paged])
		p.show(first, kept)
	}
	// What ends behind all sections; nothing does unless the path changed.
	p.page(handles[paged:])
	p.show(kept, len(p.kept))
	quoted := p.quoted()
	if text := quoted.note(); text != "" {
		p.note(budget.Checkpoints, text)
	}
}

func (p *Projection) note(part budget.Part, text string) {
	m := Message{Role: Note, Parts: []Part{{Text: text}}}
	p.tallies[part] = p.tallies[part].Plus(p.tally(&m))
	p.append(m)
}

func (p *Projection) page(handles []string) {
	if len(handles) > 0 {
		p.note(budget.Said, noteBegin+"Messages of the user that stand in the log word for word, and are not all shown here:\n"+strings.Join(handles, "\n"))
	}
}

func (p *Projection) show(first, last int) {
	for i := first; i < last; i++ {
		part := budget.Said
		switch p.epoch.Kept[i].Why {
		case Pinned:
			part = budget.Pins
		case Undone:
			part = budget.Recent
		}
		p.tallies[part] = p.tallies[part].Plus(p.kept[i].tally)
		p.append(p.kept[i].messages...)
	}
}

// text is what the note about the section says; more says that some of it follows.
func (s *section) text(more bool) string {
	if s.checkpoint == nil {
		text := noteBegin + fmt.Sprintf("Turns %d to %d of this conversation are not shown.", s.From, s.To)
		if more {
			text += " Some of them follow word for word, then the conversation goes on."
		}
		return text
	}
	text := inShort(s.Range) + strings.TrimRight(s.checkpoint.Summary, "\n")
	if more {
		text += someFollow
	}
	return text
}

// someFollow ends a note about turns of which some follow.
const someFollow = "\nSome of them follow word for word, then the conversation goes on."

// inShort is what stands before a checkpoint's summary.
func inShort(r turn.Range) string {
	return noteBegin + fmt.Sprintf("Turns %d to %d of this conversation, in short:\n", r.From, r.To)
}

// named are the turns that the checkpoints of a prompt name as those that say more. Each names turns of its own, and
// nobody else names any.
func (p *Prompt) named() []turn.Range {
	var all []turn.Range
	next := 0
	for i := range p.Messages {
		m := &p.Messages[i]
		if next == len(p.Checkpoints) {
			break
		}
		if m.Role != Note || len(m.Parts) == 0 {
			continue
		}
		r := p.Checkpoints[next].Range
		if summary, ok := strings.CutPrefix(m.Parts[0].Text, inShort(r)); ok {
			next++
			all = append(all, compress.Handles(strings.TrimSuffix(summary, someFollow), r)...)
		}
	}
	return all
}

// last is the last turn of a range of a path.
func last(r turn.Range) int64 {
	if r.To == 0 {
		return 1<<63 - 1
	}
	return r.To
}

// Standing returns the checkpoints of an epoch, oldest first, without those that are damaged.
func Standing(ctx context.Context, rows compress.Rows, session turn.SessionInfo, e Epoch) ([]compress.Checkpoint, error) {
	c := newCompiler(ctx, AllRows{Checkpoints: rows}, Request{Session: session})
	list, _, err := c.standing(e.Checkpoints)
	return list, err
}

// standing reads the checkpoints that refs name, and returns the refs of those that are damaged.
func (c *compiler) standing(refs []Ref) (list []compress.Checkpoint, damaged []Ref, err error) {
	for _, r := range refs {
		found, err := c.checkpoint(r)
		if errors.Is(err, errDamaged) {
			damaged = append(damaged, r)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		list = append(list, found)
	}
	return list, damaged, nil
}
