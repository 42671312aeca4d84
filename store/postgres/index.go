package postgres

import (
	"context"
	"errors"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	indexRows  = 64
	indexBytes = 256 << 10
)

// claim is how the rows are locked that only one may index at a time. Several processes may want the
// same: the background passes over what somebody else has; IndexText waits for it.
type claim string

const (
	claimFree claim = ` FOR UPDATE SKIP LOCKED`
	claimWait claim = ` FOR UPDATE`
)

var errClaimed = errors.New("segment is being indexed by another process")

// indexNext indexes the next few turns of a segment, or items of the memoryQueue, in one
// transaction. It returns how many, and whether there may be more. errClaimed is the answer to
// claimFree alone.
func (s *Store) indexNext(ctx context.Context, k segmentKey, how claim) (n int, more bool, err error) {
	err = s.update(ctx, func(t *tx) (err error) {
		// A crash may take the newest of it away, and with it the marks: it is only done again.
		t.SyncLater()
		if k == memoryQueue {
			n, more, err = t.indexItems(ctx, how)
		} else {
			n, more, err = t.indexTurns(ctx, k, how)
		}
		return err
	})
	return n, more, err
}

// indexTurns indexes turns and moves the mark of their segment, whose row is the lock.
//
// The mark is a safe cursor because seq is assigned under the session's lock: of one segment a turn
// never becomes visible after one with a higher seq. That holds for nothing else here. Identities
// such as segment become visible in any order.
func (t *tx) indexTurns(ctx context.Context, k segmentKey, how claim) (n int, more bool, err error) {
	t.later("", `INSERT INTO text_marks (tenant, segment, through_seq) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING`, k.tenant, k.segment)
	var mark int64
	err = t.row(ctx, func(row pgx.Row) error { return row.Scan(&mark) },
		`SELECT through_seq FROM text_marks WHERE tenant = $1 AND segment = $2`+string(how), k.tenant, k.segment)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, false, errClaimed
	}
	if err != nil {
		return 0, false, err
	}
	n, last, more, err := t.queueTerms(ctx, k, mark)
	if err != nil || n == 0 {
		return n, more, err
	}
	_, err = t.exec(ctx, `UPDATE text_marks SET through_seq = $3 WHERE tenant = $1 AND segment = $2`, k.tenant, k.segment, last)
	return n, more, err
}

// queueTerms reads turns after the mark and queues their terms.
func (t *tx) queueTerms(ctx context.Context, k segmentKey, mark int64) (n int, last int64, more bool, err error) {
	err = t.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var role turn.Role
			var form turn.Form
			var text string
			if err := rows.Scan(&last, &role, &form, &text, &more); err != nil {
				return err
			}
			n++
			content, err := turn.DecodeContent(role, form, text)
			if err != nil {
				continue // doctor names it; the turns after it must still be found
			}
			if terms := words.Set(content.Searchable()); len(terms) > 0 {
				t.later("", `INSERT INTO turn_text (tenant, segment, seq, tokens) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`,
					k.tenant, k.segment, last, append(terms, scopeToken(k.segment)))
			}
		}
		return nil
	}, `SELECT seq, role, form, content, count(*) OVER () = $4 OR cut FROM (
			SELECT seq, role, form, content, before, before + octet_length(content) >= $5 AS cut FROM (
				SELECT seq, role, form, content, sum(octet_length(content)) OVER (ORDER BY seq) - octet_length(content) AS before
				FROM (SELECT seq, role, form, content FROM turns
					WHERE tenant = $1 AND segment = $2 AND seq > $3 ORDER BY seq LIMIT $4) AS next
			) AS sized
		) AS bounded WHERE before < $5 ORDER BY seq`, k.tenant, k.segment, mark, indexRows, indexBytes)
	return n, last, more, err
}

// indexSegment indexes up to limit turns of a segment, or items of the memoryQueue, or all with math.MaxInt.
func (s *Store) indexSegment(ctx context.Context, k segmentKey, how claim, limit int) (n int, err error) {
	for more := true; more && n < limit; {
		var done int
		if done, more, err = s.indexNext(ctx, k, how); err != nil {
			return n, err
		}
		n += done
	}
	return n, nil
}

const lookPage = 500

// behind calls each with every segment whose index does not reach its session's head, and with the
// memoryQueue, whether or not there is something in it.
func (s *Store) behind(ctx context.Context, each func(segmentKey) error) error {
	var after segmentKey
	for {
		page, err := s.behindPage(ctx, after)
		if err != nil {
			return err
		}
		for _, k := range page {
			if err := each(k); err != nil {
				return err
			}
		}
		if len(page) < lookPage {
			return each(memoryQueue)
		}
		after = page[len(page)-1]
	}
}

func (s *Store) behindPage(ctx context.Context, after segmentKey) (page []segmentKey, err error) {
	err = s.view(ctx, func(t *tx) error {
		return t.query(ctx, func(rows pgx.Rows) error {
			for rows.Next() {
				var k segmentKey
				if err := rows.Scan(&k.tenant, &k.segment); err != nil {
					return err
				}
				page = append(page, k)
			}
			return nil
		}, `SELECT s.tenant, s.segment FROM sessions s
			LEFT JOIN text_marks m ON m.tenant = s.tenant AND m.segment = s.segment
			WHERE (s.tenant, s.segment) > ($1, $2) AND s.head_seq > s.fork_seq AND s.head_seq > coalesce(m.through_seq, 0)
			ORDER BY s.tenant, s.segment LIMIT $3`, after.tenant, after.segment, lookPage)
	})
	return page, err
}

// IndexText implements [store.Store].
func (s *Store) IndexText(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	defer s.running.Done()
	whole := func(k segmentKey) error {
		_, err := s.indexSegment(ctx, k, claimWait, math.MaxInt)
		return err
	}
	for _, k := range s.index.take() {
		if err := whole(k); err != nil {
			s.index.note([]segmentKey{k})
			return err
		}
	}
	return s.behind(ctx, whole)
}
