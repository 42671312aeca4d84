package recall_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// paged counts how much is read of a log at once.
type paged struct {
	recall.LogRows
	most, bytes int
}

func (p *paged) TurnsAt(ctx context.Context, tenant string, at []turn.Place) ([]turn.Stored, error) {
	turns, err := p.LogRows.TurnsAt(ctx, tenant, at)
	size := 0
	for _, t := range turns {
		size += len(t.Content.Searchable())
	}
	p.most, p.bytes = max(p.most, len(at)), max(p.bytes, size)
	return turns, err
}

// TestLargeTurnsAreNotAllHeldAtOnce: hundreds of them are judged, and a turn may have a megabyte.
func TestLargeTurnsAreNotAllHeldAtOnce(t *testing.T) {
	w := newWorld(t)
	key := w.create("s", "")
	long := strings.Repeat("and so on it went for hours ", 400)
	for i := range 150 {
		w.talk(key, fmt.Sprintf("user: round %d saw no bird, %s", i, long), fmt.Sprintf("agent: the heron of day %d, %s", i, long))
	}
	w.talk(key, "user: the red heron stands here, "+long)
	var hits []recall.Hit
	rows := &paged{}
	err := w.View(t.Context(), func(tx store.Tx) (err error) {
		rows.LogRows = tx.Log()
		home, err := tx.Log().Session(t.Context(), key)
		if err != nil {
			return err
		}
		hits, err = recall.Search(t.Context(), rows, tx.Memory(), recall.Query{Text: "red heron", Home: home, Now: tx.Now(), Limit: 3})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if rows.most > 64 || rows.bytes > 64*len(long)*2 {
		t.Errorf("%d turns were read at once, %d bytes", rows.most, rows.bytes)
	}
	if len(hits) != 3 || hits[0].Text != "the red heron stands here, "+long || len(hits[0].Turns) != 1 || hits[0].Turns[0].Content == nil {
		t.Errorf("%d hits, the first %.80q", len(hits), hits[0].Text)
	}
}
