package prompt

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/turn"
)

// ErrChanged says that a prompt cannot be made again as it was: what it was made from is no longer there
// or no longer the same.
var ErrChanged = errors.New("it cannot be made again byte for byte")

// Forgotten stands for the SHA256 of a prompt that may have shown what was forgotten since: the hash would tell whoever
// guesses it that the guess was right.
const Forgotten = "0000000000000000000000000000000000000000000000000000000000000000"

// Rebuild makes a prompt again that was compiled for a model earlier, from the log and its epoch, and
// proves by its hash that it is the same. ErrChanged if it is not, and turn.ErrForgotten too where that is because
// something it showed was forgotten.
func Rebuild(ctx context.Context, rows AllRows, session turn.SessionInfo, call Call, counter *budget.Counter) (*Prompt, error) {
	if call.SHA256 == Forgotten {
		l := &log{ctx, rows.Turns, &session}
		return nil, fmt.Errorf("prompt %d of %s, after turn %d: %w", call.Number, session.Session, call.End, l.forgotten(call.End))
	}
	row, err := rows.Prompts.Epoch(ctx, session.Tenant, session.Lineage(session.Head), call.Epoch)
	if err != nil {
		return nil, fmt.Errorf("epoch %d of %s: %w", call.Epoch, session.Session, err)
	}
	epoch, err := DecodeEpoch(row)
	if err != nil {
		return nil, err
	}
	window, err := budget.WindowOf(int(call.Context))
	if err != nil {
		return nil, err
	}
	c := newCompiler(ctx, rows, Request{Session: session, Counter: counter, Window: window})
	c.renderer = call.Renderer
	made, err := c.rebuild(epoch, call)
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, turn.ErrNotFound), errors.Is(err, errDamaged):
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	case err == nil && made.SHA256 != call.SHA256:
		err = ErrChanged
	}
	if err != nil {
		return nil, fmt.Errorf("prompt %d of %s, after turn %d: %w", call.Number, session.Session, call.End, err)
	}
	made.Model = call.Model
	return made, nil
}

// rebuild puts the prompt of a call together, whatever its hash.
func (c *compiler) rebuild(e Epoch, call Call) (*Prompt, error) {
	p, damaged, err := c.project(e)
	if err != nil {
		return nil, err
	}
	for _, r := range damaged {
		return nil, fmt.Errorf("checkpoint %d, version %d: %w", r.Number, r.Version, errDamaged)
	}
	if err := c.all(p, call.End); err != nil {
		return nil, err
	}
	return p.assemble(c.request.Window, call.Late)
}

// all brings a projection up to seq to, however far that is.
func (l *log) all(p *Projection, to int64) error {
	for p.end < to {
		if err := l.extend(p, min(to, p.end+page), 0); err != nil {
			return err
		}
	}
	return nil
}

// forgotten says which turns up to seq to were forgotten.
func (l *log) forgotten(to int64) error {
	var gone []string
	for from := int64(1); from <= to; {
		turns, err := l.scan(anywhere, from, to, false, page)
		if err != nil {
			return err
		}
		if len(turns) == 0 {
			break
		}
		for i := range turns {
			if t := &turns[i]; t.Gone() && t.Kind == turn.KindTurn {
				gone = append(gone, strconv.FormatInt(t.Seq, 10))
			}
		}
		from = turns[len(turns)-1].Seq + 1
	}
	if len(gone) == 0 {
		return fmt.Errorf("%w: of what its late block showed, %w", ErrChanged, turn.ErrForgotten)
	}
	const most = 20
	if n := len(gone); n > most {
		gone = append(gone[:most], fmt.Sprintf("%d more", n-most))
	}
	return fmt.Errorf("%w: of what it may have shown, %w: turns %s", ErrChanged, turn.ErrForgotten, strings.Join(gone, ", "))
}
