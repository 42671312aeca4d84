package commit_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// BenchmarkMessages is what one export of many costs that a daemon reads: in turns of many sessions, as they were committed.
func BenchmarkMessages(b *testing.B) {
	const sessions, exchanges, batch = 64, 64, 256
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "log.db"), sqlite.Config{Synchronous: sqlite.Normal})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	source := ids.New(nil)
	p, err := commit.New(b.Context(), st, commit.Config{NewID: func() string { return source.Next(time.Now()) }, Clock: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close(b.Context())
	var all sync.WaitGroup
	for i := range sessions {
		key := turn.Key{Tenant: turn.DefaultTenant, Session: fmt.Sprint("s", i)}
		all.Go(func() {
			err := st.Update(b.Context(), func(tx store.Tx) error {
				_, err := tx.Log().InsertSession(b.Context(), turn.SessionInfo{Key: key, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
				return err
			})
			for n := 0; n < exchanges && err == nil; n++ {
				ex := talk("What does the next step cost?", fmt.Sprintf("Step %d of %d costs what it costs, as agreed.", n, i))
				ex.Candidates = []memory.Candidate{{Type: memory.UserData, Text: "asks about costs", Source: memory.FromUser}}
				_, err = p.Commit(b.Context(), key, ex)
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	sent := store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil }}
	for n := 1; n > 0; {
		if n, err = st.Publish(b.Context(), batch, sent); err != nil {
			b.Fatal(err)
		}
	}
	err = st.View(b.Context(), func(tx store.Tx) error {
		exports, err := tx.Outbox().Published(b.Context(), 0, sessions*exchanges)
		if err != nil {
			return err
		}
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			if at := n % len(exports); at%batch == 0 {
				if _, err := commit.Messages(b.Context(), tx, exports[at:at+batch]); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
