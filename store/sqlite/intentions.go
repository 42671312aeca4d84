package sqlite

import (
	"cmp"
	"context"
	"slices"

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
	if taken(err) {
		return cortex.ErrStale
	}
	if err != nil {
		return r.fail(err)
	}
	return r.fail(r.c.Prepare(`INSERT INTO intention_heads (tenant, segment, kind, id, version, live, after_seq, row)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET version = excluded.version, live = excluded.live,
			after_seq = excluded.after_seq, row = excluded.row WHERE excluded.version > version`).
		Text(tenant).Int(segment).Text(string(v.Kind)).Text(v.ID).Int(v.Version).Int(live).Int(v.AfterSeq).
		Int(r.c.LastInsertID()).Run())
}

// headIntentions fills the heads from the intentions.
const headIntentions = `INSERT OR REPLACE INTO intention_heads (tenant, segment, kind, id, version, live, after_seq, row)
	SELECT tenant, segment, kind, id, max(version), live, after_seq, row FROM intentions GROUP BY tenant, segment, kind, id`

const intentionColumns = `kind, id, version, after_seq, live, created_at, doc, change`

func readIntention(q *lite.Stmt) cortex.Row {
	return cortex.Row{
		Kind: cortex.Kind(q.ReadText()), ID: q.ReadText(), Version: q.ReadInt(), AfterSeq: q.ReadInt(),
		Live: q.ReadInt() != 0, At: fromMicros(q.ReadInt()), Doc: q.ReadText(), Change: q.ReadText(),
	}
}

// head is a version of a goal or an action without what it says.
type head struct {
	kind     cortex.Kind
	id       string
	version  int64
	live     bool
	afterSeq int64
	row      int64
}

const headColumns = `kind, id, version, live, after_seq, row`

func readHead(q *lite.Stmt) head {
	return head{cortex.Kind(q.ReadText()), q.ReadText(), q.ReadInt(), q.ReadInt() != 0, q.ReadInt(), q.ReadInt()}
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
//
// A head that was written by then is the answer. Only for one that was changed later, which happens in
// the segments that a fork reads, an older version is looked for.
func (r cortexRows) heads(tenant string, s span.Span, live bool) ([]head, error) {
	sql := `SELECT ` + headColumns + ` FROM intention_heads INDEXED BY intention_heads_live
		WHERE tenant = ? AND segment = ? AND live IN (0, 1) AND after_seq <= ?`
	if live {
		sql = `SELECT ` + headColumns + ` FROM intention_heads INDEXED BY intention_heads_live
			WHERE tenant = ? AND segment = ? AND live = 1 AND after_seq <= ?`
	}
	found, err := all(r.tx, r.c.Prepare(sql).Text(tenant).Int(s.Segment).Int(s.To), readHead)
	if err != nil {
		return nil, err
	}
	later, err := all(r.tx, r.c.Prepare(`SELECT `+headColumns+` FROM intention_heads INDEXED BY intention_heads_live
		WHERE tenant = ? AND segment = ? AND live IN (0, 1) AND after_seq > ?`).Text(tenant).Int(s.Segment).Int(s.To), readHead)
	if err != nil {
		return nil, err
	}
	for _, h := range later {
		before, ok, err := r.versionBefore(tenant, s, h)
		if err != nil {
			return nil, err
		}
		if ok && (before.live || !live) {
			found = append(found, before)
		}
	}
	return found, nil
}

// versionBefore returns the highest version along the span of a goal or an action.
func (r cortexRows) versionBefore(tenant string, s span.Span, h head) (head, bool, error) {
	return one(r.tx, r.c.Prepare(`SELECT `+headColumns+` FROM intentions
		WHERE tenant = ? AND segment = ? AND kind = ? AND id = ? AND after_seq <= ? ORDER BY version DESC LIMIT 1`).
		Text(tenant).Int(s.Segment).Text(string(h.kind)).Text(h.id).Int(s.To), readHead)
}

// superseded reports whether one of the other spans has a higher version.
func (r cortexRows) superseded(tenant string, spans []span.Span, own int, h head) (bool, error) {
	for i, s := range spans {
		if i == own {
			continue
		}
		q := r.c.Prepare(`SELECT ` + headColumns + ` FROM intention_heads WHERE tenant = ? AND segment = ? AND kind = ? AND id = ?`).
			Text(tenant).Int(s.Segment).Text(string(h.kind)).Text(h.id)
		other, ok, err := one(r.tx, q, readHead)
		if err == nil && ok && other.afterSeq > s.To {
			other, ok, err = r.versionBefore(tenant, s, h)
		}
		if err != nil {
			return false, err
		}
		if ok && (other.version > h.version || other.version == h.version && i > own) {
			return true, nil
		}
	}
	return false, nil
}

// Versions implements [cortex.Rows].
func (r cortexRows) Versions(ctx context.Context, tenant string, spans []span.Span, kind cortex.Kind, id string) ([]cortex.Row, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	var found []cortex.Row
	for _, s := range spans {
		q := r.c.Prepare(`SELECT ` + intentionColumns + ` FROM intentions
			WHERE tenant = ? AND segment = ? AND kind = ? AND id = ? AND after_seq <= ? ORDER BY version`).
			Text(tenant).Int(s.Segment).Text(string(kind)).Text(id).Int(s.To)
		versions, err := all(r.tx, q, readIntention)
		if err != nil {
			return nil, err
		}
		found = append(found, versions...)
	}
	slices.SortStableFunc(found, func(a, b cortex.Row) int { return cmp.Compare(a.Version, b.Version) })
	return found, nil
}
