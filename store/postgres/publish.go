package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

const (
	// sendTimeout bounds one Send. The server keeps a claim for twice that time, so that it is never
	// lost to who keeps to this, and yet ends when a process stopped in the middle.
	sendTimeout = time.Minute
	// noteTimeout bounds the update that notes what was sent.
	noteTimeout = 30 * time.Second
	// claimPage is how many sessions are looked at together, at least.
	claimPage = 512
)

// Publish implements [store.Store].
//
// Ids become visible in any order here, so no cursor over exports is safe, and two relays that took
// rows could overtake each other. What is claimed is a session: its row in outbox_claims is locked by a
// transaction that lasts until it has noted what was sent. If its connection breaks before that,
// nothing is noted, and whoever comes next sends the same under the same ids. A commit knows nothing
// of these rows: it never waits for a relay, and what it adds to a session that is claimed is found
// by the next round.
//
// A Send that takes longer than a minute sees its context end.
func (s *Store) Publish(ctx context.Context, limit int, p store.Publication) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.running.Done()
	if limit <= 0 {
		return 0, nil
	}
	select {
	case s.publishing <- struct{}{}:
		defer func() { <-s.publishing }()
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	seen := make(map[segmentKey]bool)
	for page := max(limit, claimPage); ; {
		waiting, err := s.waiting(ctx, p.Bus, page)
		if err != nil || !addNew(seen, waiting) {
			return 0, err
		}
		c, err := s.claim(ctx, waiting, limit, p.Bodies)
		if err != nil {
			return 0, err
		}
		if len(c.exports) > 0 {
			return c.publish(ctx, p)
		}
		c.tx.rollback()
		if len(waiting) < page {
			return 0, nil
		}
	}
}

// addNew adds keys to a set and reports whether it had not all of them: pages go round in a circle, and once
// all sessions turned out to be in other hands, that is the end.
func addNew(seen map[segmentKey]bool, keys []segmentKey) bool {
	before := len(seen)
	for _, k := range keys {
		seen[k] = true
	}
	return len(seen) > before
}

// waiting returns a page of the sessions that have something for a bus to publish. It begins behind those of the
// last round, so that none is kept waiting by busier ones, and goes on with the first.
func (s *Store) waiting(ctx context.Context, bus string, page int) ([]segmentKey, error) {
	s.mu.Lock()
	after := s.outboxed
	s.mu.Unlock()
	found, err := s.waitingAfter(ctx, bus, after, page)
	if err == nil && len(found) < page && after != (segmentKey{}) {
		var first []segmentKey
		first, err = s.waitingAfter(ctx, bus, segmentKey{}, page-len(found))
		for _, k := range first {
			if cmp.Or(cmp.Compare(k.tenant, after.tenant), cmp.Compare(k.segment, after.segment)) <= 0 {
				found = append(found, k)
			}
		}
	}
	if len(found) == page {
		s.outboxedThrough(found[page-1])
	}
	return found, err
}

// outboxedThrough notes behind which session the next round begins.
func (s *Store) outboxedThrough(k segmentKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outboxed = k
}

// waitingAfter steps from session to session over the index of unsent exports, however many each
// has. A session without a row to claim gets one, in a transaction of its own: another relay that does
// the same waits for it, and must not wait for a Send.
func (s *Store) waitingAfter(ctx context.Context, bus string, after segmentKey, page int) (found []segmentKey, err error) {
	err = s.bare(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, `WITH RECURSIVE waiting AS (
				(SELECT tenant, segment, 1 AS n FROM exports WHERE sent_number IS NULL AND (tenant, segment) > ($1, $2)
					AND `+busName+` = $4 ORDER BY tenant, segment LIMIT 1)
				UNION ALL
				SELECT next.tenant, next.segment, w.n + 1 FROM waiting w, LATERAL (
					SELECT e.tenant, e.segment FROM exports e WHERE e.sent_number IS NULL AND (e.tenant, e.segment) > (w.tenant, w.segment)
					ORDER BY e.tenant, e.segment LIMIT 1) AS next
				WHERE w.n < $3
			), added AS (
				INSERT INTO outbox_claims (tenant, segment) SELECT tenant, segment FROM waiting w
				WHERE NOT EXISTS (SELECT FROM outbox_claims c WHERE c.tenant = w.tenant AND c.segment = w.segment)
				ON CONFLICT DO NOTHING
			)
			SELECT tenant, segment FROM waiting ORDER BY n`, after.tenant, after.segment, page, bus)
		if err == nil {
			found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (k segmentKey, err error) { return scanSegment(row) })
		}
		return err
	})
	return found, err
}

func scanSegment(row pgx.Row) (k segmentKey, err error) {
	err = row.Scan(&k.tenant, &k.segment)
	return k, err
}

// claimed is a transaction that holds sessions, and what of theirs is to be published.
type claimed struct {
	*tx
	exports []event.Export
}

// claim locks up to limit of the sessions and reads up to limit of their exports, with their bodies or without.
func (s *Store) claim(ctx context.Context, waiting []segmentKey, limit int, bodies bool) (c claimed, err error) {
	err = s.retry(ctx, func() (again bool, err error) {
		if c.tx, err = s.begin(ctx); err != nil {
			return c.lost, err
		}
		if err = c.take(ctx, waiting, limit, bodies); err != nil {
			c.rollback()
		}
		return c.lost, err
	})
	if n := len(c.exports); err == nil && n == limit {
		// There may be more: it is the others' turn then.
		s.outboxedThrough(segmentKey{c.exports[n-1].Tenant, c.exports[n-1].Segment})
	}
	return c, err
}

func (c *claimed) take(ctx context.Context, waiting []segmentKey, limit int, bodies bool) error {
	c.later("", `SET LOCAL idle_in_transaction_session_timeout = `+millis(2*sendTimeout))
	held, err := list(ctx, c.tx, scanSegment, `SELECT o.tenant, o.segment
		FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w (tenant, segment, position)
			JOIN outbox_claims o ON o.tenant = w.tenant AND o.segment = w.segment
		ORDER BY w.position LIMIT $3 FOR UPDATE OF o SKIP LOCKED`,
		column(waiting, tenantOf), column(waiting, segmentOf), limit)
	if err != nil || len(held) == 0 {
		return err
	}
	columns := bodilessColumns
	if bodies {
		columns = exportColumns
	}
	// By a statement of its own: only one that begins after the lock was taken sees what the last holder noted.
	c.exports, err = list(ctx, c.tx, scanExport, `SELECT `+columns+`
		FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w (tenant, segment, position), LATERAL (
			SELECT * FROM exports e WHERE e.tenant = w.tenant AND e.segment = w.segment AND e.sent_number IS NULL
			ORDER BY e.last_seq, e.created_at, e.export_id LIMIT $3) AS e
		ORDER BY w.position, e.last_seq, e.created_at, e.export_id LIMIT $3`,
		column(held, tenantOf), column(held, segmentOf), limit)
	return err
}

func tenantOf(k segmentKey) string { return k.tenant }
func segmentOf(k segmentKey) int64 { return k.segment }

// publish sends the exports and notes what was sent. The transaction is over then.
func (c claimed) publish(ctx context.Context, p store.Publication) (int, error) {
	sent, failed := c.send(ctx, p)
	if sent == 0 {
		c.rollback()
		return 0, failed
	}
	// What was sent cannot be taken back, so it is noted however the caller's context ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	c.tx.ctx = ctx
	committed, err := c.run(func(t *tx) error {
		if err := c.resetClock(ctx); err != nil {
			return err
		}
		noted, err := t.number(ctx, c.exports[:sent], p.Bus)
		if err != nil || p.Note == nil {
			return err
		}
		return p.Note(ctx, t, noted)
	})
	if !committed {
		return 0, errors.Join(failed, fmt.Errorf("note of %d exports that were sent: %w", sent, err))
	}
	c.committed()
	return sent, failed
}

// send calls Send. If that does not return, the claim ends.
func (c claimed) send(ctx context.Context, p store.Publication) (sent int, err error) {
	returned := false
	defer func() {
		if !returned {
			c.rollback()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	sent, err = p.Send(ctx, c.exports)
	returned = true
	return max(0, min(sent, len(c.exports))), err
}

// resetClock makes now the time of what follows: the transaction began before something was sent.
func (t *tx) resetClock(ctx context.Context) error {
	t.now = time.Time{}
	if t.store.setClock(t); t.now.IsZero() {
		return t.readClock(ctx)
	}
	return nil
}

// number gives exports the next numbers and returns them as they are now.
//
// Whoever reads what was published goes on behind the highest number it has seen, so a number must never
// become visible after a higher one. One lock for all relays, held until the end of the
// transaction, sees to that. The numbers are read by a statement after it, for the reason given in take.
// That these have none yet is sure by the claim; asked for, it would have the planner walk over all
// that ever waited. Whether their bus still publishes is not: it is changed under the same lock.
func (t *tx) number(ctx context.Context, exports []event.Export, bus string) ([]event.Export, error) {
	t.later("", lockPublication)
	noted, err := list(ctx, t, scanExport, `UPDATE exports e SET sent_number = last.number + s.position, sent_at = $3
		FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS s (tenant, export_id, position),
			(SELECT coalesce(max(sent_number), 0) AS number FROM exports) AS last
		WHERE e.tenant = s.tenant AND e.export_id = s.export_id AND `+busName+` = $4
		RETURNING `+bodilessColumns,
		column(exports, func(e event.Export) string { return e.Tenant }), column(exports, func(e event.Export) string { return e.ID }),
		t.Now().UnixMicro(), bus)
	if err == nil && len(noted) == 0 {
		err = t.publishes(ctx, bus)
	}
	if err == nil && len(noted) != len(exports) {
		err = fmt.Errorf("only %d of %d exports are still there to be noted", len(noted), len(exports))
	}
	slices.SortFunc(noted, func(a, b event.Export) int { return cmp.Compare(a.Sent, b.Sent) })
	return noted, err
}

// publishes is an error where another bus publishes.
func (t *tx) publishes(ctx context.Context, bus string) error {
	now, err := outboxRows{t}.Bus(ctx)
	if err == nil && now != bus {
		err = fmt.Errorf("%w: another bus took over publishing; it publishes what was sent here again", store.ErrLocked)
	}
	return err
}
