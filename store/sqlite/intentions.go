package sqlite

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// InsertVersion implements [cortex.Rows].
func (r cortexRows) InsertVersion(ctx context.Context, tenant string, segment int64, v cortex.Row) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	live := int64(0)
	if v.Live {
		live = 1
	}
	err := r.c.Prepare(`INSERT INTO intentions (tenant, segment, kind, id, version, after_seq, live, created_at, doc, change)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`).
		Text(tenant).Int(segment).Text(string(v.Kind)).Text(v.ID).Int(v.Version).Int(v.AfterSeq).Int(live).
		Int(micros(v.At)).Text(v.Doc).Text(v.Change).Run()
	if err != nil {
		return r.fail(err)
	}
	q := r.c.Prepare(intentionPlaces.insert).Text(tenant).Int(segment).Text(string(v.Kind)).Text(v.ID).Int(v.Version)
	placed, err := r.place(intentionPlaces, q, r.c.LastInsertID())
	if err != nil {
		return err
	}
	if !placed {
		return cortex.ErrStale
	}
	q = r.c.Prepare(setHead).Text(tenant).Int(segment).Text(string(v.Kind)).Text(v.ID)
	if v.Live {
		q.Null()
	} else {
		q.Int(v.AfterSeq)
	}
	return r.fail(q.Int(v.Version).Run())
}

// setHead binds the key of a head, when it ended, and the version that says so.
var setHead = `INSERT INTO intention_heads (tenant, segment, kind, id, ended) VALUES (?1, ?2, ?3, ?4, ?5)
	ON CONFLICT DO UPDATE SET ended = excluded.ended WHERE ended IS NOT excluded.ended AND NOT EXISTS
		(SELECT 1 FROM ` + intentionPlaces.ordered(ofIntention+` AND version > ?6`, "version") + `)`

// headIntentions fills the heads from the intentions, when none is new.
const headIntentions = `INSERT OR REPLACE INTO intention_heads (tenant, segment, kind, id, ended)
	SELECT p.tenant, p.segment, p.kind, p.id, CASE WHEN i.live THEN NULL ELSE i.after_seq END
	FROM (SELECT tenant, segment, kind, id, max(version), at FROM intention_places GROUP BY tenant, segment, kind, id) AS p
	JOIN intentions i ON i.row = p.at`

const ofIntention = `tenant = ?1 AND segment = ?2 AND kind = ?3 AND id = ?4`

const intentionColumns = `intentions.kind, intentions.id, intentions.version, intentions.after_seq, intentions.live, intentions.created_at,
	intentions.doc, intentions.change`

func readIntention(q *lite.Stmt) cortex.Row {
	return cortex.Row{
		Kind: cortex.Kind(q.ReadText()), ID: q.ReadText(), Version: q.ReadInt(), AfterSeq: q.ReadInt(),
		Live: q.ReadInt() != 0, At: fromMicros(q.ReadInt()), Doc: q.ReadText(), Change: q.ReadText(),
	}
}

// head is a version of a goal or an action without what it says.
type head struct {
	kind    cortex.Kind
	id      string
	version int64
	live    bool
	row     int64
}

const headColumns = `intentions.kind, intentions.id, intentions.version, intentions.live, intentions.row`

func readHead(q *lite.Stmt) head {
	return head{cortex.Kind(q.ReadText()), q.ReadText(), q.ReadInt(), q.ReadInt() != 0, q.ReadInt()}
}

// Newest implements [cortex.Rows].
func (r cortexRows) Newest(ctx context.Context, tenant string, spans []span.Span, live bool) ([]cortex.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var heads []head
	for i, s := range spans {
		along, err := r.heads(tenant, s, live)
		if err != nil {
			return nil, err
		}
		for _, h := range along {
			superseded, err := r.superseded(tenant, spans, i, h)
			if err != nil {
				return nil, err
			}
			if !superseded {
				heads = append(heads, h)
			}
		}
	}
	slices.SortFunc(heads, func(a, b head) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.id, b.id)) })
	rows := make([]cortex.Row, 0, len(heads))
	for _, h := range heads {
		q := r.c.Prepare(`SELECT ` + intentionColumns + ` FROM intentions WHERE row = ?`).Int(h.row)
		row, ok, err := one(r.tx, q, readIntention)
		if err != nil {
			return nil, err
		}
		if ok {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// heads returns the highest version of each goal and action of a segment up to the end of the span;
// with live only those that are.
func (r cortexRows) heads(tenant string, s span.Span, live bool) ([]head, error) {
	sql := `SELECT kind, id FROM intention_heads WHERE tenant = ? AND segment = ?`
	if live {
		// One that ended after the span may have been live at its end.
		sql = `SELECT kind, id FROM intention_heads INDEXED BY intention_heads_ended WHERE tenant = ?1 AND segment = ?2 AND ended IS NULL
			UNION ALL SELECT kind, id FROM intention_heads INDEXED BY intention_heads_ended WHERE tenant = ?1 AND segment = ?2 AND ended > ?3`
	}
	q := r.c.Prepare(sql).Text(tenant).Int(s.Segment)
	if live {
		q.Int(s.To)
	}
	named, err := all(r.tx, q, func(q *lite.Stmt) head { return head{kind: cortex.Kind(q.ReadText()), id: q.ReadText()} })
	if err != nil {
		return nil, err
	}
	var found []head
	for _, h := range named {
		h, ok, err := r.versionBefore(tenant, s, h)
		if err != nil {
			return nil, err
		}
		if ok && (h.live || !live) {
			found = append(found, h)
		}
	}
	return found, nil
}

var newestVersion = `SELECT ` + headColumns + ` FROM ` + intentionPlaces.from(ofIntention, "version DESC") + ` AND intentions.after_seq <= ?5 LIMIT 1`

// versionBefore returns the highest version along the span of a goal or an action.
func (r cortexRows) versionBefore(tenant string, s span.Span, h head) (head, bool, error) {
	return one(r.tx, r.c.Prepare(newestVersion).Text(tenant).Int(s.Segment).Text(string(h.kind)).Text(h.id).Int(s.To), readHead)
}

// superseded reports whether one of the other spans has a higher version.
func (r cortexRows) superseded(tenant string, spans []span.Span, own int, h head) (bool, error) {
	for i, s := range spans {
		if i == own {
			continue
		}
		other, ok, err := r.versionBefore(tenant, s, h)
		if err != nil {
			return false, err
		}
		if ok && (other.version > h.version || other.version == h.version && i > own) {
			return true, nil
		}
	}
	return false, nil
}

var versionsInOrder = `SELECT ` + intentionColumns + ` FROM ` + intentionPlaces.from(ofIntention, "version") + ` AND intentions.after_seq <= ?5`

// Versions implements [cortex.Rows].
func (r cortexRows) Versions(ctx context.Context, tenant string, spans []span.Span, kind cortex.Kind, id string) ([]cortex.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []cortex.Row
	for _, s := range spans {
		q := r.c.Prepare(versionsInOrder).Text(tenant).Int(s.Segment).Text(string(kind)).Text(id).Int(s.To)
		versions, err := all(r.tx, q, readIntention)
		if err != nil {
			return nil, err
		}
		found = append(found, versions...)
	}
	slices.SortStableFunc(found, func(a, b cortex.Row) int { return cmp.Compare(a.Version, b.Version) })
	return found, nil
}

// loadReminders has what may be a reminder that was sent looked at once, in every session that sees it, when no
// intention is new.
const loadReminders = `INSERT INTO reminders (tenant, segment, id, look_at)
	SELECT r.tenant, r.segment, r.id, 0 FROM (
		SELECT i.tenant, i.segment, i.id, i.version FROM intentions i WHERE i.kind = 'action' AND i.live = 1 AND i.doc LIKE '%"sent"%'
		UNION SELECT i.tenant, s.heir, i.id, i.version FROM intentions i
			JOIN spans s ON s.tenant = i.tenant AND s.segment = i.segment AND i.after_seq < s.to_seq
			WHERE i.kind = 'action' AND i.live = 1 AND i.doc LIKE '%"sent"%') AS r
	WHERE NOT EXISTS (SELECT 1 FROM intention_places l
		WHERE l.tenant = r.tenant AND l.segment = r.segment AND l.kind = 'action' AND l.id = r.id AND l.version > r.version)
	ON CONFLICT DO NOTHING`

// SetReminder implements [cortex.Rows].
func (r cortexRows) SetReminder(ctx context.Context, tenant string, segment int64, id string, at time.Time) error {
	if err := r.writing(ctx); err != nil {
		return err
	}
	if at.IsZero() {
		return r.fail(r.c.Prepare(`DELETE FROM reminders WHERE tenant = ? AND segment = ? AND id = ?`).Text(tenant).Int(segment).Text(id).Run())
	}
	return r.fail(r.c.Prepare(`INSERT OR REPLACE INTO reminders (tenant, segment, id, look_at) VALUES (?, ?, ?, ?)`).
		Text(tenant).Int(segment).Text(id).Int(micros(at)).Run())
}

// DueReminders implements [cortex.Rows].
func (r cortexRows) DueReminders(ctx context.Context, now time.Time, limit int) ([]cortex.Due, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT r.tenant, s.session_id, r.id FROM reminders r CROSS JOIN sessions s ON s.segment = r.segment
		WHERE r.look_at <= ? ORDER BY r.look_at LIMIT ?`).Int(micros(now)).Int(int64(max(limit, 0))), func(q *lite.Stmt) cortex.Due {
		return cortex.Due{Tenant: q.ReadText(), Session: q.ReadText(), ID: q.ReadText()}
	})
}
