package turnstone

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Pin keeps a turn in every prompt from now on, word for word, with the unit or the message it belongs to.
// Pinning it again changes nothing. turn.ErrNotFound if there is no such turn.
func (s *Session) Pin(ctx context.Context, seq int64) error { return s.setPin(ctx, seq, true) }

// Unpin ends what [Session.Pin] began, as soon as the next epoch is opened.
func (s *Session) Unpin(ctx context.Context, seq int64) error { return s.setPin(ctx, seq, false) }

// Pins returns the pinned turns, ascending.
func (s *Session) Pins(ctx context.Context) (pinned []int64, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		rows, err := tx.Prompt().Pins(ctx, s.key.Tenant, info.Lineage(info.Head))
		pinned = prompt.PinnedIn(rows)
		return err
	})
	return pinned, err
}

func (s *Session) setPin(ctx context.Context, seq int64, pin bool) error {
	err := s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		if err := prompt.CheckPin(ctx, tx.Log(), &info, seq); err != nil {
			return err
		}
		rows, err := tx.Prompt().Pins(ctx, s.key.Tenant, info.Lineage(info.Head))
		if err != nil {
			return err
		}
		pinned := prompt.PinnedIn(rows)
		if slices.Contains(pinned, seq) == pin {
			return nil
		}
		if pin && len(pinned) >= prompt.MaxPins {
			return invalid.New("pin", fmt.Sprintf("%d turns are pinned, which is the most", len(pinned)), "unpin one first")
		}
		row := prompt.PinRow{Number: 1, AfterSeq: info.Head, Seq: seq, Pinned: pin, At: tx.Now()}
		if len(rows) > 0 {
			row.Number = rows[len(rows)-1].Number + 1
		}
		return tx.Prompt().InsertPin(ctx, s.key.Tenant, info.Segment, row)
	})
	if err != nil {
		return fmt.Errorf("pin of turn %d: %w", seq, err)
	}
	return nil
}
