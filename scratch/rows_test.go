package scratch_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/scratch"
)

// memory keeps rows the way Rows says, as plainly as possible.
type memory struct {
	rows    []memoryRow
	failure error // returned by every method, if set
	asked   int   // calls of Observation
}

type memoryRow struct {
	tenant  string
	segment int64
	scratch.Row
}

func (m *memory) PutObservation(_ context.Context, tenant string, segment int64, r scratch.Row) error {
	m.rows = slices.DeleteFunc(m.rows, func(have memoryRow) bool {
		return have.tenant == tenant && have.segment == segment && have.ID == r.ID
	})
	m.rows = append(m.rows, memoryRow{tenant, segment, r})
	return m.failure
}

func (m *memory) Observation(_ context.Context, tenant string, segment int64, id string) (scratch.Row, bool, error) {
	m.asked++
	for _, r := range m.rows {
		if r.tenant == tenant && r.segment == segment && r.ID == id {
			return r.Row, true, m.failure
		}
	}
	return scratch.Row{}, false, m.failure
}

func (m *memory) Observations(_ context.Context, tenant string, segment int64, now time.Time, live bool) ([]scratch.Row, error) {
	var list []scratch.Row
	for _, r := range m.rows {
		if r.tenant == tenant && r.segment == segment && r.kept(now) && (!live || r.Status != scratch.Archived && r.Expires.After(now)) {
			list = append(list, r.Row)
		}
	}
	slices.SortFunc(list, func(a, b scratch.Row) int { return cmp.Compare(a.ID, b.ID) })
	return list, m.failure
}

func (r memoryRow) kept(now time.Time) bool {
	return r.Expires.After(now) || r.Status != scratch.Archived && r.Expires.Add(7*24*time.Hour).After(now)
}

func (m *memory) ExpiredObservations(_ context.Context, now time.Time, limit int) (list []scratch.Placed, _ error) {
	for _, r := range m.rows {
		if r.Status != scratch.Archived && !r.Expires.After(now) && len(list) < limit {
			list = append(list, scratch.Placed{Tenant: r.tenant, Segment: r.segment, Row: r.Row})
		}
	}
	return list, m.failure
}

func (m *memory) SweepObservations(_ context.Context, now time.Time, limit int) (int64, error) {
	before := len(m.rows)
	m.rows = slices.DeleteFunc(m.rows, func(r memoryRow) bool { return r.Status == scratch.Archived && !r.Expires.After(now) })
	return int64(before - len(m.rows)), m.failure
}

const (
	tenant  = "acme"
	segment = 1
)

// start is the time of the tests; all of them are in microseconds, as stores keep them.
var start = time.Date(2026, 1, 27, 10, 0, 0, 0, time.UTC)

func counter() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("n%03d", n)
	}
}

func ptr[V any](v V) *V { return &v }

// note is a change that adds an observation.
func note(id string) scratch.Change {
	return scratch.Change{ID: id, Type: ptr("alert"), Content: ptr("about " + id)}
}

func insight(id, flow string) scratch.Change {
	return scratch.Change{ID: id, Type: ptr(scratch.FlowInsight), Content: ptr("found"), ContextRefs: &[]string{"turn:1", scratch.FlowRef(flow)}}
}

func puts(changes ...scratch.Change) scratch.Changes { return scratch.Changes{Put: changes} }
