package sqlite_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// A log is mended although somebody reads at every moment: nothing could be written for as long as they do.
func TestALogIsMendedBetweenReaders(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "test.db"), sqlite.Config{})
	k := create(t, s, key("s")).Key
	soon(t, s, k, "hello")
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for reading := true; reading; {
				err := s.View(t.Context(), func(tx store.Tx) error {
					_, err := tx.Log().Bookmarks(t.Context(), k) // begins to read
					select {
					case <-done:
						reading = false
					case <-time.After(50 * time.Millisecond):
					}
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	time.Sleep(60 * time.Millisecond) // they read one beside another by now
	s.Doubt()
	soon(t, s, k, "it goes on")
	close(done)
	readers.Wait()
}
