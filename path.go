package turnstone

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Epoch returns the epoch that was in force after the turn of that seq, [Head] for the one that is now. Before the
// first prompt it is one without a number, whose path is the whole session. Its path leaves out the turns that restores
// went back behind; see [turn.HistoryOptions].
func (s *Session) Epoch(ctx context.Context, seq int64) (epoch prompt.Epoch, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		epoch, err = s.epochAt(ctx, tx, info, seq)
		return err
	})
	if err != nil {
		return prompt.Epoch{}, fmt.Errorf("epoch of %s: %w", s.key.Session, err)
	}
	return epoch, nil
}

func (s *Session) epochAt(ctx context.Context, tx store.Tx, info turn.SessionInfo, seq int64) (prompt.Epoch, error) {
	if seq == Head {
		seq = info.Head
	}
	if seq < 0 || seq > info.Head {
		return prompt.Epoch{}, invalid.New("at", fmt.Sprintf("there is no turn %d", seq), fmt.Sprintf("give one up to %d", info.Head))
	}
	return prompt.InForce(ctx, tx.Prompt(), info, seq)
}
