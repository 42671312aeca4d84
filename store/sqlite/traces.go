package sqlite

import (
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/trace"
)

// InsertParts implements [trace.Rows].
func (r traceRows) InsertParts(ctx context.Context, tenant string, parts ...trace.Part) error {
	for some := range slices.Chunk(parts, partsAtOnce) {
		if err := r.writing(ctx); err != nil {
			return err
		}
		q := r.c.Prepare(insertParts[len(some)])
		for i := range some {
			p := &some[i]
			q.Text(tenant).Text(p.TurnID).Text(p.ID).Int(p.Segment).Int(micros(p.At)).Text(p.Body)
		}
		if err := q.Run(); err != nil {
			return r.fail(err)
		}
	}
	return nil
}

// partsAtOnce is how many parts a statement inserts at most.
const partsAtOnce = 8

// insertParts are the statements, by how many parts they insert. About a part that is there already, see insertItems.
var insertParts = severalRows(`INSERT OR IGNORE INTO trace_parts (tenant, turn_id, part_id, segment, created_at, body) VALUES `,
	`(?, ?, ?, ?, ?, ?)`, partsAtOnce)

const partColumns = `turn_id, part_id, segment, created_at, body`

func readPart(q *lite.Stmt) trace.Part {
	return trace.Part{TurnID: q.ReadText(), ID: q.ReadText(), Segment: q.ReadInt(), At: fromMicros(q.ReadInt()), Body: q.ReadText()}
}

// Parts implements [trace.Rows].
func (r traceRows) Parts(ctx context.Context, tenant, turnID string) ([]trace.Part, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	return all(r.tx, r.c.Prepare(`SELECT `+partColumns+` FROM trace_parts WHERE tenant = ? AND turn_id = ?
		ORDER BY segment, part_id`).Text(tenant).Text(turnID), readPart)
}

// PartsOf implements [trace.Rows].
func (r traceRows) PartsOf(ctx context.Context, tenant string, segment int64) ([]trace.Part, error) {
	if err := r.reading(ctx); err != nil {
		return nil, err
	}
	// A trace is that of a turn, so it is found by way of the segment's turns: an index by segment would be
	// written to by every commit.
	return all(r.tx, r.c.Prepare(`SELECT `+partColumns+` FROM trace_parts WHERE tenant = ?1 AND segment = ?2
		AND turn_id IN (SELECT turns.turn_id FROM `+turnPlaces.from(ofSegment, "place")+`) ORDER BY turn_id, part_id`).Text(tenant).Int(segment), readPart)
}

// SweepParts implements [trace.Rows].
func (r traceRows) SweepParts(ctx context.Context, before time.Time, limit int) (int64, error) {
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	// Parts lie in the order they were written, so the oldest come first. Where a clock went back, young
	// ones may stand before old ones: these are swept when those are.
	return r.sweep(`DELETE FROM trace_parts WHERE id IN
		(SELECT id FROM (SELECT id, created_at FROM trace_parts ORDER BY id LIMIT ?2 + 1024) WHERE created_at < ?1 LIMIT ?2)`, before, limit)
}
