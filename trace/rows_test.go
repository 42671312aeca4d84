package trace_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/trace"
)

// calls keeps the ids of the parts of each call, and fails at one of a tenant.
type calls struct {
	trace.Rows
	seen []string
	fail string
}

var errFull = errors.New("full")

func (c *calls) InsertParts(_ context.Context, tenant string, parts ...trace.Part) error {
	ids := make([]string, len(parts))
	for i, p := range parts {
		ids[i] = p.ID
	}
	c.seen = append(c.seen, tenant+": "+strings.Join(ids, " "))
	if tenant == c.fail {
		return errFull
	}
	return nil
}

func TestPartsOfTenantsAreInsertedInRuns(t *testing.T) {
	parts := []trace.OfTenant{
		{Tenant: "a", Part: trace.Part{ID: "1"}}, {Tenant: "a", Part: trace.Part{ID: "2"}}, {Tenant: "b", Part: trace.Part{ID: "3"}},
		{Tenant: "a", Part: trace.Part{ID: "4"}}, {Tenant: "a", Part: trace.Part{ID: "5"}},
	}
	for name, c := range map[string]struct {
		fail string
		want []string
		err  error
	}{
		"all":           {want: []string{"a: 1 2", "b: 3", "a: 4 5"}},
		"up to a fault": {fail: "b", want: []string{"a: 1 2", "b: 3"}, err: errFull},
	} {
		t.Run(name, func(t *testing.T) {
			rows := &calls{fail: c.fail}
			if err := trace.Insert(t.Context(), rows, parts); !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if !slices.Equal(rows.seen, c.want) {
				t.Errorf("calls %q, want %q", rows.seen, c.want)
			}
		})
	}
}
