package cortex_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// memory keeps rows the way Rows says, as plainly as possible.
type memory struct {
	rows    []memoryRow
	failure error // returned by every method, if set
	asked   int   // calls of Versions
	// versionsFail is returned by Versions alone.
	versionsFail error
}

type memoryRow struct {
	tenant  string
	segment int64
	cortex.Row
}

func (m *memory) InsertVersion(_ context.Context, tenant string, segment int64, r cortex.Row) error {
	if m.failure != nil {
		return m.failure
	}
	for _, have := range m.rows {
		if have.tenant == tenant && have.segment == segment && have.Kind == r.Kind && have.ID == r.ID && have.Version == r.Version {
			return cortex.ErrStale
		}
	}
	m.rows = append(m.rows, memoryRow{tenant, segment, r})
	return nil
}

func (m *memory) along(tenant string, spans []span.Span) []cortex.Row {
	var list []cortex.Row
	for _, r := range m.rows {
		for _, s := range spans {
			if r.tenant == tenant && r.segment == s.Segment && r.AfterSeq <= s.To {
				list = append(list, r.Row)
			}
		}
	}
	slices.SortFunc(list, func(a, b cortex.Row) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Version, b.Version))
	})
	return list
}

func (m *memory) Newest(_ context.Context, tenant string, spans []span.Span, live bool) ([]cortex.Row, error) {
	var newest []cortex.Row
	for _, r := range m.along(tenant, spans) {
		if n := len(newest); n > 0 && newest[n-1].Kind == r.Kind && newest[n-1].ID == r.ID {
			newest[n-1] = r
		} else {
			newest = append(newest, r)
		}
	}
	if live {
		newest = slices.DeleteFunc(newest, func(r cortex.Row) bool { return !r.Live })
	}
	return newest, m.failure
}

func (m *memory) Versions(_ context.Context, tenant string, spans []span.Span, kind cortex.Kind, id string) ([]cortex.Row, error) {
	m.asked++
	list := m.along(tenant, spans)
	return slices.DeleteFunc(list, func(r cortex.Row) bool { return r.Kind != kind || r.ID != id }), cmp.Or(m.failure, m.versionsFail)
}

const (
	tenant  = "acme"
	segment = 1
)

// start is the time of the tests; all of them are in microseconds, as stores keep them.
var start = time.Date(2026, 1, 27, 10, 0, 0, 0, time.UTC)

// upTo are the spans of a session that was never forked.
func upTo(seq int64) []span.Span { return []span.Span{{Segment: segment, From: 1, To: seq}} }

// counter returns ids n1, n2 …
func counter() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprint("n", n)
	}
}

func ptr[V any](v V) *V { return &v }

func goalChange(id string, edit func(*cortex.GoalChange)) cortex.Changes {
	c := cortex.GoalChange{ID: id, By: cortex.ActorAgent}
	edit(&c)
	return cortex.Changes{Goals: []cortex.GoalChange{c}}
}

func actionChange(id string, by cortex.Actor, edit func(*cortex.ActionChange)) cortex.Changes {
	c := cortex.ActionChange{ID: id, By: by}
	edit(&c)
	return cortex.Changes{Actions: []cortex.ActionChange{c}}
}

func (m *memory) SetReminder(context.Context, string, int64, string, time.Time) error {
	return m.failure
}

func (m *memory) DueReminders(context.Context, time.Time, int) ([]cortex.Due, error) {
	return nil, m.failure
}
