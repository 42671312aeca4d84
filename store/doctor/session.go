package doctor

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// ExamineSession calls found for every broken rule of one session that is no fork, as the transaction sees it. Tables that are read as a
// whole to find the rows of a session are left out: those of blobs, memory items and traces.
func ExamineSession(ctx context.Context, tx store.Tx, info turn.SessionInfo, found func(Finding)) error {
	e := newExamination(found, nil)
	e.alone = true
	for _, table := range store.Schema {
		among := store.Among{Segments: []int64{info.Segment}}
		switch table.Name {
		case "sessions", "bookmarks":
			among = store.Among{Sessions: []string{info.Session}}
		case "turns", "open_calls", "completed_flows", "revisions", "flow_turns", "intentions", "observations", "digests",
			"epochs", "prompts", "pins", "checkpoints", "breakers", "snapshots":
		default:
			continue
		}
		_, err := tx.Forgetting().Rewrite(ctx, info.Tenant, table.Name, among, func(values []any) (store.Verdict, error) {
			return store.Keep, e.row(store.Row{Table: table.Name, Values: values})
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", table.Name, err)
		}
	}
	clear(e.refs)
	e.finish()
	return nil
}
