package commit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
)

// Traces returns the parts of the traces that a turn opened, by segment and id: what is stored as such and,
// of exchanges whose exports nobody has published yet, the phases that their exports tell of.
func Traces(ctx context.Context, tx store.Tx, tenant, turnID string) ([]trace.Part, error) {
	parts, err := tx.Trace().Parts(ctx, tenant, turnID)
	if err != nil {
		return nil, err
	}
	exports, err := tx.Outbox().ExportsOf(ctx, tenant, turnID)
	if err != nil {
		return nil, err
	}
	for _, e := range exports {
		if e.Sent != 0 {
			continue // the note of its publication has them
		}
		body, err := begunBody(e.Body)
		if err != nil {
			return nil, fmt.Errorf("export %s: %w", e.ID, err)
		}
		if body != "" {
			parts = append(parts, trace.Part{TurnID: turnID, Segment: e.Segment, ID: e.ID, At: e.At, Body: body})
		}
	}
	slices.SortFunc(parts, func(a, b trace.Part) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.ID, b.ID))
	})
	return parts, nil
}

// begunBody is the JSON of the trace of an exchange's first phases as its export tells it; empty where it
// does not.
func begunBody(export string) (body string, err error) {
	if export == "" {
		return "", nil
	}
	err = strictjson.Object(export, func(name string, v strictjson.Raw) error {
		if name == "trace" {
			body = string(v)
		}
		return nil
	})
	return body, err
}
