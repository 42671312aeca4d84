package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// cortexRows is the transaction as goals and actions see it.
type cortexRows struct{ *tx }

// headOf is what intention_heads holds of an intention: the highest bigint while it is live.
const headOf = `i.tenant, i.segment, i.kind, i.id, CASE i.live WHEN 1 THEN 9223372036854775807 ELSE i.after_seq END AS until_seq`

// InsertVersion implements [cortex.Rows].
func (r cortexRows) InsertVersion(ctx context.Context, tenant string, segment int64, row cortex.Row) error {
	live := int64(0)
	if row.Live {
		live = 1
	}
	what := fmt.Sprintf("version %d of %s %s", row.Version, row.Kind, row.ID)
	err := r.insert(ctx, what, cortex.ErrStale,
		`INSERT INTO intentions (tenant, segment, kind, id, version, after_seq, live, doc, change, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		tenant, segment, string(row.Kind), row.ID, row.Version, row.AfterSeq, live, row.Doc, row.Change, row.At.UnixMicro())
	if err != nil {
		return err
	}
	return r.write(ctx, what, `INSERT INTO intention_heads AS h (tenant, segment, kind, id, until_seq)
		SELECT i.* FROM (SELECT `+headOf+` FROM intentions i
			WHERE i.tenant = $1 AND i.segment = $2 AND i.kind = $3 AND i.id = $4 ORDER BY i.version DESC LIMIT 1) AS i
		WHERE NOT EXISTS (SELECT FROM intention_heads h
			WHERE h.tenant = $1 AND h.segment = $2 AND h.kind = $3 AND h.id = $4 AND h.until_seq = i.until_seq)
		ON CONFLICT (tenant, segment, kind, id) DO UPDATE SET until_seq = excluded.until_seq`,
		tenant, segment, string(row.Kind), row.ID)
}

// loadHeads makes intention_heads anew.
const loadHeads = `INSERT INTO intention_heads (tenant, segment, kind, id, until_seq)
	SELECT DISTINCT ON (i.tenant, i.segment, i.kind, i.id) ` + headOf + ` FROM intentions i
	ORDER BY i.tenant, i.segment, i.kind, i.id, i.version DESC`

// Newest looks up, for each intention that intention_heads names, one version in each span. What is
// live along a span is named there, perhaps with what ended after the span did; only the version tells.
const (
	newestOf = `WITH span AS (SELECT * FROM unnest($2::bigint[], $3::bigint[]) AS span (segment, to_seq))
		SELECT newest.* FROM (SELECT DISTINCT h.kind, h.id FROM span JOIN intention_heads h
			ON h.tenant = $1 AND h.segment = span.segment`
	liveHeads   = ` AND h.until_seq > least(span.to_seq, 9223372036854775806)`
	newestAlong = `) AS h, LATERAL (SELECT v.* FROM span, LATERAL (SELECT ` + intentionColumns + ` FROM intentions i
			WHERE i.tenant = $1 AND i.segment = span.segment AND i.kind = h.kind AND i.id = h.id AND i.after_seq <= span.to_seq
			ORDER BY i.version DESC LIMIT 1) AS v
		ORDER BY v.version DESC LIMIT 1) AS newest`
	onlyLive    = ` WHERE newest.live = 1`
	byIntention = ` ORDER BY newest.kind, newest.id`
	newestSQL   = newestOf + newestAlong + byIntention
	newestLive  = newestOf + liveHeads + newestAlong + onlyLive + byIntention
	versionsSQL = `SELECT ` + intentionColumns + ` FROM unnest($2::bigint[], $3::bigint[]) AS span (segment, to_seq)
		JOIN intentions i ON i.tenant = $1 AND i.segment = span.segment AND i.kind = $4 AND i.id = $5 AND i.after_seq <= span.to_seq
		ORDER BY i.version, i.segment`
	intentionColumns = `i.kind, i.id, i.version, i.after_seq, i.live, i.doc, i.change, i.created_at`
)

func scanIntention(row pgx.Row) (r cortex.Row, err error) {
	var live int64
	err = row.Scan(&r.Kind, &r.ID, &r.Version, &r.AfterSeq, &live, &r.Doc, &r.Change, (*stamp)(&r.At))
	r.Live = live == 1
	return r, err
}

// Newest implements [cortex.Rows].
func (r cortexRows) Newest(ctx context.Context, tenant string, spans []span.Span, live bool) ([]cortex.Row, error) {
	segments, ends := along(spans)
	sql := newestSQL
	if live {
		sql = newestLive
	}
	return list(ctx, r.tx, scanIntention, sql, tenant, segments, ends)
}

// Versions implements [cortex.Rows].
func (r cortexRows) Versions(ctx context.Context, tenant string, spans []span.Span, kind cortex.Kind, id string) ([]cortex.Row, error) {
	segments, ends := along(spans)
	return list(ctx, r.tx, scanIntention, versionsSQL, tenant, segments, ends, string(kind), id)
}

// loadReminders has what may be a reminder that was sent looked at once, in every session that sees it.
const loadReminders = `INSERT INTO reminders (tenant, segment, id, look_at)
	SELECT r.tenant, r.segment, r.id, 0 FROM (
		SELECT i.tenant, i.segment, i.id, i.version FROM intentions i WHERE i.kind = 'action' AND i.live = 1 AND i.doc LIKE '%"sent"%'
		UNION SELECT i.tenant, s.heir, i.id, i.version FROM intentions i
			JOIN spans s ON s.tenant = i.tenant AND s.segment = i.segment AND i.after_seq < s.to_seq
			WHERE i.kind = 'action' AND i.live = 1 AND i.doc LIKE '%"sent"%') AS r
	WHERE NOT EXISTS (SELECT 1 FROM intentions l
		WHERE l.tenant = r.tenant AND l.segment = r.segment AND l.kind = 'action' AND l.id = r.id AND l.version > r.version)
	ON CONFLICT DO NOTHING`

// dueReminders is the statement of DueReminders; its arguments are the time and how many.
const dueReminders = `SELECT r.tenant, s.session_id, r.id
	FROM (SELECT * FROM reminders WHERE look_at <= $1 ORDER BY look_at LIMIT $2) AS r
	JOIN sessions s ON s.tenant = r.tenant AND s.segment = r.segment ORDER BY r.look_at`

// SetReminder implements [cortex.Rows].
func (r cortexRows) SetReminder(ctx context.Context, tenant string, segment int64, id string, at time.Time) error {
	if at.IsZero() {
		return r.write(ctx, "reminder "+id, `DELETE FROM reminders WHERE tenant = $1 AND segment = $2 AND id = $3`, tenant, segment, id)
	}
	return r.write(ctx, "reminder "+id, `INSERT INTO reminders (tenant, segment, id, look_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (tenant, segment, id) DO UPDATE SET look_at = excluded.look_at`, tenant, segment, id, at.UnixMicro())
}

// DueReminders implements [cortex.Rows].
func (r cortexRows) DueReminders(ctx context.Context, now time.Time, limit int) ([]cortex.Due, error) {
	return list(ctx, r.tx, func(row pgx.Row) (d cortex.Due, err error) {
		err = row.Scan(&d.Tenant, &d.Session, &d.ID)
		return d, err
	}, dueReminders, now.UnixMicro(), max(limit, 0))
}
