package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// A file of the first version is brought to the newest one, and keeps what is in it.
func TestAFileOfTheFirstVersion(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "old.db")
	first, err := os.ReadFile("migrations/0001_log.sql")
	if err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, string(first)+`
		CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
		INSERT INTO schema_migrations VALUES (1, 'first', 0);
		INSERT INTO sessions VALUES (1, 'default', 's', '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO turns (tenant, segment, seq, turn_id, role, form, created_at, content)
			VALUES ('default', 1, 1, '01J00000000000000000000000', 'user', 'text', 0, '{"text":"from before"}');`)
	s := open(t, path, sqlite.Config{})
	if diff := cmp.Diff([]string{"from before"}, texts(log(t, s, key("s")))); diff != "" {
		t.Error(diff)
	}
	info := create(t, s, key("s"))
	if err := commitExchange(t.Context(), s, info, newExchanges(info, 1).next(t)); err != nil {
		t.Error(err)
	}
	if n := len(log(t, s, key("s"))); n != 4 {
		t.Errorf("%d turns", n)
	}
}

// Snapshots from before it was known who took them count as the user's, which are never swept.
func TestSnapshotsOfTheFourthVersion(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "old.db")
	var schema string
	for _, name := range []string{"0001_log", "0002_commit", "0003_prompt", "0004_compress"} {
		text, err := os.ReadFile("migrations/" + name + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		schema += string(text)
	}
	rawSQL(t, path, schema+`
		CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
		INSERT INTO schema_migrations VALUES (1, 'log', 0), (2, 'commit', 0), (3, 'prompt', 0), (4, 'compress', 0);
		INSERT INTO sessions VALUES (1, 'default', 's', '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO snapshots (tenant, snapshot_id, segment, after_seq, created_at, doc) VALUES ('default', 'old', 1, 1, 0, '{}');`)
	s := open(t, path, sqlite.Config{})
	err := s.Update(t.Context(), func(tx store.Tx) error {
		added := snapshot.Row{ID: "new", AfterSeq: 1, Auto: true, Doc: `{}`, At: noon}
		err := tx.Snapshot().InsertSnapshot(t.Context(), "default", 1, added)
		swept, err2 := tx.Snapshot().SweepSnapshots(t.Context(), "default", 0, 9)
		left, err3 := tx.Snapshot().Snapshots(t.Context(), "default", []span.Span{{Segment: 1, To: 9}}, "", 9)
		if swept != 1 || len(left) != 1 || left[0].ID != "old" || left[0].Auto {
			t.Errorf("swept %d, left %+v", swept, left)
		}
		return errors.Join(err, err2, err3)
	})
	if err != nil {
		t.Error(err)
	}
}

// Events from before they had places are given them, in the order of their ids.
func TestEventsOfTheSixthVersion(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "old.db")
	rawSQL(t, path, schemaOf(t, 6)+`INSERT INTO events VALUES ('default', 'b', 's', 'undone', NULL, '{}', 0), ('default', 'a', 's', 'undone', NULL, '{}', 0);`)
	err := open(t, path, sqlite.Config{}).Update(t.Context(), func(tx store.Tx) error {
		if err := tx.Outbox().PlaceEvents(t.Context(), "default"); err != nil {
			return err
		}
		events, err := tx.Outbox().Events(t.Context(), "default", "s", 0, 9)
		if len(events) != 2 || events[0].ID != "a" || events[0].Place != 1 || events[1].Place != 2 {
			t.Errorf("events %+v", events)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Exports from before there was an index of each tenant's are found by it. Programs from before it refuse the file: they
// would take data that stands in the text of what is remembered for damage.
func TestExportsOfTheSeventhVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	rawSQL(t, path, schemaOf(t, 7)+`
		INSERT INTO exports VALUES (1, 'default', 'a', 's', 1, 't', 1, 2, 'complete', 0, '{}'), (2, 'other', 'b', 's', 2, 't', 1, 2, 'complete', 0, '{}'),
			(3, 'default', 'c', 's', 1, 't', 3, 4, 'complete', 0, '{}'), (4, 'default', 'd', 's', 1, 't', 5, 6, 'complete', 0, '{}');
		UPDATE relay SET position = 3;`)
	s := open(t, path, sqlite.Config{})
	err := s.View(t.Context(), func(tx store.Tx) error {
		exports, err := tx.Outbox().PublishedOf(t.Context(), "default", 0, 9)
		if len(exports) != 2 || exports[0].ID != "a" || exports[1].ID != "c" {
			t.Errorf("exports %+v", exports)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	closed(t, s)
	rawSQL(t, path, `CREATE TEMP TABLE newer (version INTEGER CHECK (version > 7)); INSERT INTO newer SELECT max(version) FROM schema_migrations;`)
}

// Reminders that were sent before anybody looked after them are looked at once, where they were sent and where they were
// inherited.
func TestRemindersOfTheEighthVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	rawSQL(t, path, schemaOf(t, 8)+`
		INSERT INTO sessions VALUES (1, 'default', 's', '', '', '', '', 'active', NULL, 0, 2, 0, 0), (2, 'default', 'fork', '', '', '', '', 'active', 's', 2, 2, 0, 0);
		INSERT INTO spans VALUES ('default', 2, 0, 1, 1, 2);
		INSERT INTO intentions (tenant, segment, kind, id, version, after_seq, live, created_at, doc, change) VALUES
			('default', 1, 'action', 'a', 1, 1, 1, 0, '{"id":"a","status":"scheduled"}', '[]'),
			('default', 1, 'action', 'a', 2, 2, 1, 0, '{"id":"a","status":"sent"}', '[]'),
			('default', 1, 'action', 'b', 1, 1, 1, 0, '{"id":"b","status":"sent"}', '[]'),
			('default', 1, 'action', 'b', 2, 2, 0, 0, '{"id":"b","status":"done"}', '[]'),
			('default', 1, 'goal', 'g', 1, 1, 1, 0, '{"id":"g","title":"sent"}', '[]');`)
	err := open(t, path, sqlite.Config{}).View(t.Context(), func(tx store.Tx) error {
		due, err := tx.Cortex().DueReminders(t.Context(), noon, 9)
		want := []cortex.Due{{Tenant: "default", Session: "s", ID: "a"}, {Tenant: "default", Session: "fork", ID: "b"}}
		if diff := cmp.Diff(want, due); diff != "" {
			t.Error(diff)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Exports that were sent before it was noted when are swept by when they were made, those that wait by when they are sent.
func TestExportsOfTheTenthVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	rawSQL(t, path, schemaOf(t, 10)+fmt.Sprintf(`
		INSERT INTO exports VALUES (1, 'default', 'a', 's', 1, 't', 1, 2, 'complete', 0, '{}'), (2, 'default', 'b', 's', 1, 't', 3, 4, 'complete', %d, '{}'),
			(3, 'default', 'c', 's', 1, 't', 5, 6, 'complete', 0, '{}');
		UPDATE relay SET position = 2;`, noon.UnixMicro()))
	s := open(t, path, sqlite.Config{Clock: func() time.Time { return noon }})
	all := func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil }
	if n, err := s.Publish(t.Context(), 9, store.Publication{Send: all}); n != 1 || err != nil {
		t.Fatalf("published %d: %v", n, err)
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		swept, err := tx.Outbox().SweepExports(t.Context(), noon, 9)
		if err != nil || swept != 1 {
			t.Errorf("swept %d", swept)
			return err
		}
		e, err := tx.Outbox().Export(t.Context(), "default", "a")
		if e.Body != "" {
			t.Errorf("the oldest has a body")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// schemaOf is what a program made that knew so many versions.
func schemaOf(t *testing.T, version int) string {
	t.Helper()
	files, err := filepath.Glob("migrations/0*.sql")
	if err != nil || len(files) < version {
		t.Fatalf("%v, %v", files, err)
	}
	schema := `CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);`
	for i, file := range files[:version] {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schema += string(text) + fmt.Sprintf("INSERT INTO schema_migrations VALUES (%d, 'old', 0);", i+1)
	}
	return schema
}
