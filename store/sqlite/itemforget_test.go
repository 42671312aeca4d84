package sqlite_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestWhatIsForgottenWhileTheFileIsWrittenAnew goes too: the file is written anew once more.
func TestWhatIsForgottenWhileTheFileIsWrittenAnew(t *testing.T) {
	t.Run("by the same process", func(t *testing.T) { testForgottenMeanwhile(t, false) })
	// It began to write the file anew for it, and died.
	t.Run("by another that dies", func(t *testing.T) { testForgottenMeanwhile(t, true) })
}

func testForgottenMeanwhile(t *testing.T, another bool) {
	path := filepath.Join(t.TempDir(), "forget.db")
	s := open(t, path, sqlite.Config{})
	for id, word := range map[string]string{"1": "herring", "2": "walrus"} {
		err := s.Update(t.Context(), func(tx store.Tx) error {
			body := strings.Repeat(word, 2000)
			return tx.Outbox().InsertExport(t.Context(), event.Export{Tenant: turn.DefaultTenant, Session: "s", Segment: 1, ID: id, TurnID: id, Last: 1, Body: body, At: tx.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	forget := func(by *sqlite.Store, word string) func() error {
		return func() error {
			return by.Update(t.Context(), func(tx store.Tx) error {
				_, err := tx.Forgetting().Rewrite(t.Context(), turn.DefaultTenant, "exports", store.Among{All: true}, func(row []any) (store.Verdict, error) {
					for _, value := range row {
						if text, ok := value.(string); ok && strings.HasPrefix(text, word) {
							return store.Delete, nil
						}
					}
					return store.Keep, nil
				})
				return err
			})
		}
	}
	holds := func(word string) bool {
		for _, name := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte(word)) {
				return true
			}
		}
		return false
	}
	if !holds("herring") || !holds("walrus") {
		t.Fatal("what is to be forgotten is not there")
	}
	meanwhile := forget(s, "walrus")
	if another {
		other := open(t, path, sqlite.Config{})
		meanwhile = func() error { return other.ForgetSlowly(t.Context(), forget(other, "walrus"), nil) }
	}
	if err := s.ForgetSlowly(t.Context(), forget(s, "herring"), meanwhile); err != nil {
		t.Fatal(err)
	}
	if holds("herring") {
		t.Error("the first is still there")
	}
	if err := s.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	if holds("walrus") {
		t.Error("what was forgotten meanwhile is still there")
	}
}
