package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// WriteOptions says how a bundle is written.
type WriteOptions struct {
	// Compress packs the bundle with zstd.
	Compress bool
	// Progress is told now and then how many turns are done, of how many. Nil: nobody is.
	Progress func(done, total int64)
}

// Write writes the session as the transaction sees it to w, whole: of a fork also the turns that it
// shares with its parent, but only what was noticed, remembered and traced in the fork itself.
// What its prompts are made from goes with it, so that they can be made again. Equal sessions at an
// equal tx.Now give equal bytes.
//
// Where a fork and its parent used one idempotency key, the inherited turn is written without it:
// in the fork it was never found by that key, and in one session a key stands once.
//
// turn.ErrNotFound if there is no such session. After an error what w got is no bundle, and every
// reader will say so. The caller closes w.
func Write(ctx context.Context, tx store.Tx, key turn.Key, w io.Writer, o WriteOptions) (Bundle, error) {
	info, err := tx.Log().Session(ctx, key)
	if err != nil {
		return Bundle{}, fmt.Errorf("session %s: %w", key.Session, err)
	}
	enc, err := NewEncoder(w, Bundle{CreatedAt: tx.Now(), Session: info}, o.Compress)
	if err != nil {
		return Bundle{}, err
	}
	if len(info.Inherited) == 0 {
		// The keys of the segment see to it that no id stands twice.
		enc.check.names = nil
	}
	e := &export{tx: tx, info: info, enc: enc, progress: newProgress(o.Progress, info.Head), refs: make(map[version]string)}
	for _, part := range []func(context.Context) error{
		e.turns, e.revisions, e.flowTurns, e.completedFlows, e.bookmarks,
		e.intentions, e.observations, e.memoryItems, e.digest, e.traceParts,
		e.materials, e.checkpoints, e.epochs, e.pins, e.prompts, e.breaker, e.snapshots,
	} {
		if err := part(ctx); err != nil {
			return Bundle{}, fmt.Errorf("bundle of %s: %w", key.Session, err)
		}
	}
	b, err := enc.Close()
	if err != nil {
		return Bundle{}, fmt.Errorf("bundle of %s: %w", key.Session, err)
	}
	e.progress.finish()
	return b, nil
}

// export walks through one session.
type export struct {
	tx       store.Tx
	info     turn.SessionInfo
	enc      *Encoder
	progress *progress
	refs     map[version]string // the sums of what epochs refer to, once they were read
}

const (
	pageTurns = 128
	pageBytes = 4 << 20
)

// turns writes the turns in pages. A page is as long as the turns of the one before let expect
// that it stays small.
func (e *export) turns(ctx context.Context) error {
	limit := 16
	spans := e.info.Spans(e.info.Head)
	for i, s := range spans {
		for !s.Empty() {
			page, err := e.tx.Log().Scan(ctx, e.info.Tenant, s, turn.RowFilter{}, limit)
			if err != nil {
				return fmt.Errorf("turns from %d: %w", s.From, err)
			}
			if len(page) == 0 {
				return fmt.Errorf("turn %d: %w", s.From, turn.ErrNotFound)
			}
			before := e.enc.size
			for j := range page {
				if err := e.turn(ctx, &page[j], spans[i+1:]); err != nil {
					return err
				}
			}
			s.From = page[len(page)-1].Seq + 1
			each := (e.enc.size - before) / int64(len(page))
			limit = int(min(max(pageBytes/each, 1), pageTurns))
		}
	}
	return nil
}

func (e *export) turn(ctx context.Context, t *turn.Turn, later []turn.Span) error {
	if t.IdempotencyKey != "" {
		for _, s := range later {
			again, found, err := e.tx.Log().TurnByKey(ctx, e.info.Tenant, s.Segment, t.IdempotencyKey)
			if err != nil {
				return fmt.Errorf("idempotency_key %q: %w", t.IdempotencyKey, err)
			}
			if found && again.Seq <= s.To {
				t.IdempotencyKey = ""
				break
			}
		}
	}
	if b, ok := turn.BlobOf(t.Content); ok && !e.enc.hasBlob(b) {
		whole, err := e.tx.Log().Blob(ctx, e.info.Tenant, b.SHA256)
		if err != nil {
			return fmt.Errorf("turn %d: blob %s: %w", t.Seq, b.SHA256, err)
		}
		if err := e.enc.Encode(Record{Blob: &whole}); err != nil {
			return err
		}
	}
	if err := e.enc.Encode(Record{Turn: t}); err != nil {
		return err
	}
	e.progress.step()
	return nil
}

func (e *export) revisions(ctx context.Context) error {
	for row, err := range dialogue.History(ctx, e.tx.Dialogue(), e.info.Tenant, e.info.Lineage(e.info.Head)) {
		if err != nil {
			return err
		}
		if err := e.enc.Encode(Record{Revision: &row}); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) flowTurns(ctx context.Context) error {
	for row, err := range e.tx.Dialogue().Pointers(ctx, e.info.Tenant, e.info.Lineage(e.info.Head)) {
		if err != nil {
			return fmt.Errorf("turns of flows: %w", err)
		}
		if err := e.enc.Encode(Record{FlowTurn: &row}); err != nil {
			return err
		}
	}
	return nil
}

func (e *export) completedFlows(ctx context.Context) error {
	seen := make(map[string]bool)
	for _, s := range e.info.Lineage(e.info.Head) {
		flows, err := e.tx.Log().CompletedFlows(ctx, e.info.Tenant, s)
		if err != nil {
			return fmt.Errorf("completed flows: %w", err)
		}
		for i := range flows {
			if seen[flows[i].ID] {
				continue
			}
			seen[flows[i].ID] = true
			if err := e.enc.Encode(Record{CompletedFlow: &flows[i]}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *export) bookmarks(ctx context.Context) error {
	list, err := e.tx.Log().Bookmarks(ctx, e.info.Key)
	if err != nil {
		return fmt.Errorf("bookmarks: %w", err)
	}
	slices.SortFunc(list, func(a, b turn.Bookmark) int { return cmp.Compare(a.Name, b.Name) })
	for i := range list {
		if err := e.enc.Encode(Record{Bookmark: &list[i]}); err != nil {
			return err
		}
	}
	return nil
}
