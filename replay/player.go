package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Player steps through a session turn by turn, forwards and backwards, and shows what was known at
// each. It looks at the session as it was when the player was made; a bundle is played from the
// store that it was imported into. A Player must not be used concurrently.
type Player struct {
	store   store.Store
	info    turn.SessionInfo
	history turn.HistoryOptions
	at      int64
}

// Step is one position of a session: after turn Seq, or at 0 before the first.
type Step struct {
	Seq int64
	// Turn is the turn at Seq, the zero Turn at 0.
	Turn turn.Turn
	// State is the dialogue state as it was then, with the turns that each flow pointed at. It is
	// the empty state in a session that never had one.
	State dialogue.Revision
	// Intentions are the goals and actions as they were then, those that were finished included.
	Intentions *cortex.State
	// Window is the recent window as it was then: the last 7 utterances on the path, with their tool results.
	Window []turn.Turn
	// History is the compiled history as it was then, by the options given to Play.
	History []turn.Turn
}

// Play makes a player that stands before the first turn. The history at each step is compiled with
// the options given, 50 utterances where they name no number; UpTo is the player's own, and so is
// the path unless the options give one: that of the prompts at the step.
// turn.ErrNotFound if there is no such session.
func Play(ctx context.Context, st store.Store, key turn.Key, history turn.HistoryOptions) (*Player, error) {
	p := &Player{store: st, history: history}
	if p.history.Turns == 0 {
		p.history.Turns = 50
	}
	err := st.View(ctx, func(tx store.Tx) (err error) {
		p.info, err = tx.Log().Session(ctx, key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", key.Session, err)
	}
	return p, nil
}

// Session returns the session as it was when the player was made.
func (p *Player) Session() turn.SessionInfo { return p.info }

// Len is how many turns there are. Positions go from 0 to Len.
func (p *Player) Len() int64 { return p.info.Head }

// Next goes to the turn after. At the last it stays there and the error is io.EOF.
func (p *Player) Next(ctx context.Context) (Step, error) {
	if p.at == p.Len() {
		return Step{}, io.EOF
	}
	return p.Seek(ctx, p.at+1)
}

// Prev goes to the turn before. Before the first it stays there and the error is io.EOF.
func (p *Player) Prev(ctx context.Context) (Step, error) {
	if p.at == 0 {
		return Step{}, io.EOF
	}
	return p.Seek(ctx, p.at-1)
}

// Seek goes to a position. turn.ErrNotFound if it is not from 0 to Len. After an error the player
// is where it was.
func (p *Player) Seek(ctx context.Context, seq int64) (Step, error) {
	if seq < 0 || seq > p.Len() {
		return Step{}, fmt.Errorf("turn %d of %s, which has %d: %w", seq, p.info.Session, p.Len(), turn.ErrNotFound)
	}
	step := Step{Seq: seq}
	err := p.store.View(ctx, func(tx store.Tx) error { return p.read(ctx, tx, &step) })
	if err != nil {
		return Step{}, fmt.Errorf("turn %d of %s: %w", seq, p.info.Session, err)
	}
	p.at = seq
	return step, nil
}

func (p *Player) read(ctx context.Context, tx store.Tx, step *Step) error {
	var err error
	step.State, err = dialogue.At(ctx, tx.Dialogue(), p.info.Tenant, p.info.Lineage(step.Seq), step.Seq)
	if err != nil && !errors.Is(err, dialogue.ErrNotFound) {
		return err
	}
	if step.Intentions, err = cortex.Load(ctx, tx.Cortex(), p.info.Tenant, p.info.Lineage(step.Seq), false); err != nil {
		return err
	}
	if step.Seq == 0 {
		return nil
	}
	if step.Turn, err = p.turn(ctx, tx, step.Seq); err != nil {
		return err
	}
	epoch, err := prompt.InForce(ctx, tx.Prompt(), p.info, step.Seq)
	if err != nil {
		return err
	}
	window := turn.HistoryOptions{Turns: turn.WindowSize, UpTo: step.Seq, Path: epoch.Path}
	if step.Window, err = turn.History(ctx, tx.Log(), p.info, window); err != nil {
		return err
	}
	history := p.history
	history.UpTo = step.Seq
	if len(history.Path) == 0 {
		history.Path = epoch.Path
	}
	step.History, err = turn.History(ctx, tx.Log(), p.info, history)
	return err
}

func (p *Player) turn(ctx context.Context, tx store.Tx, seq int64) (turn.Turn, error) {
	spans := p.info.Spans(seq)
	one := spans[len(spans)-1]
	one.From = seq
	page, err := tx.Log().Scan(ctx, p.info.Tenant, one, turn.RowFilter{}, 1)
	if err != nil {
		return turn.Turn{}, err
	}
	if len(page) == 0 {
		return turn.Turn{}, turn.ErrNotFound
	}
	page[0].Session = p.info.Session
	return page[0], nil
}
