package turnstone_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata/scenario from the in-memory store")

// TestScenarios plays every transcript on every store; all must give the answers in the file.
func TestScenarios(t *testing.T) {
	stores := map[string]func(testing.TB, *scenario.Clock) store.Store{
		"mem": func(_ testing.TB, c *scenario.Clock) store.Store { return mem.New(mem.Config{Clock: c.Now}) },
		"sqlite": func(t testing.TB, c *scenario.Clock) store.Store {
			st, err := sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "log.db")), sqlite.Config{Clock: c.Now})
			if err != nil {
				t.Fatal(err)
			}
			return st
		},
		"postgres": func(t testing.TB, c *scenario.Clock) store.Store {
			st, err := postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{Clock: c.Now})
			if err != nil {
				t.Fatal(err)
			}
			return st
		},
	}
	files, err := filepath.Glob("testdata/scenario/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("transcripts: %v, %d found", err, len(files))
	}
	for name, open := range stores {
		for _, file := range files {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				clock := scenario.NewClock()
				got, err := scenario.Play(context.WithoutCancel(t.Context()), want, open(t, clock), clock)
				if err != nil {
					t.Fatal(err)
				}
				if *update && name == "mem" {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				if diff := cmp.Diff(string(want), string(got)); diff != "" {
					t.Errorf("transcript changed (-file +run):\n%s", diff)
				}
			})
		}
	}
}
