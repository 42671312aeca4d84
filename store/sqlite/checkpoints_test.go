package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// A file of the third version is brought to the newest one, keeps what is in it and holds checkpoints.
func TestAFileOfTheThirdVersion(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "old.db")
	var old strings.Builder
	for _, name := range []string{"0001_log.sql", "0002_commit.sql", "0003_prompt.sql"} {
		text, err := os.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		old.Write(text)
	}
	rawSQL(t, path, old.String()+`
		CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL);
		INSERT INTO schema_migrations VALUES (1, 'log', 0), (2, 'commit', 0), (3, 'prompt', 0);
		INSERT INTO sessions VALUES (1, 'default', 's', '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO turns (tenant, segment, seq, turn_id, role, form, created_at, content)
			VALUES ('default', 1, 1, '01J00000000000000000000000', 'user', 'text', 0, '{"text":"from before"}');
		INSERT INTO epochs (tenant, segment, number, after_seq, created_at, doc) VALUES ('default', 1, 1, 1, 0, '{}');
		INSERT INTO prompt_ends VALUES ('default', 1, 'epochs', 1, 1);`)
	s := open(t, path, sqlite.Config{})
	if diff := cmp.Diff([]string{"from before"}, texts(log(t, s, key("s")))); diff != "" {
		t.Error(diff)
	}
	along := []span.Span{{Segment: 1, From: 1, To: 1}}
	made := compress.Row{Number: 1, Version: 1, AfterSeq: 1, Doc: `{}`, At: noon}
	taken := snapshot.Row{ID: "x", AfterSeq: 1, Doc: `{}`, At: noon}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		return errors.Join(
			tx.Compress().InsertCheckpoint(t.Context(), "default", 1, made),
			tx.Compress().PutBreaker(t.Context(), "default", 1, `{}`, noon),
			tx.Snapshot().InsertSnapshot(t.Context(), "default", 1, taken))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		epoch, err := tx.Prompt().LastEpoch(t.Context(), "default", along)
		checkpoint, err2 := tx.Compress().Checkpoint(t.Context(), "default", along, 1, 1)
		last, err3 := tx.Compress().LastNumber(t.Context(), "default", along)
		there, err4 := tx.Snapshot().Snapshot(t.Context(), "default", along, "x")
		_, ok, err5 := tx.Compress().Breaker(t.Context(), "default", 1)
		if epoch.Number != 1 || checkpoint != made || last != 1 || there != taken || !ok {
			t.Errorf("epoch %+v, checkpoint %+v of %d, snapshot %+v, breaker %v", epoch, checkpoint, last, there, ok)
		}
		return errors.Join(err, err2, err3, err4, err5)
	})
	if err != nil {
		t.Error(err)
	}
}

// No query over checkpoints and snapshots walks a whole table or sorts.
func TestPlansOfCheckpoints(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	create(t, s, key("s"))
	plans, err := s.Plans(t.Context(), func(tx store.Tx) error {
		ctx, spans := t.Context(), []span.Span{{Segment: 1, From: 1, To: 9}, {Segment: 2, From: 1, To: 9}}
		_, none := tx.Compress().Checkpoint(ctx, "default", spans, 1, 1)
		_, none2 := tx.Snapshot().Snapshot(ctx, "default", spans, "x")
		if !errors.Is(none, compress.ErrNotFound) || !errors.Is(none2, snapshot.ErrNotFound) {
			return fmt.Errorf("nothing is there: %w, %w", none, none2)
		}
		_, err := tx.Compress().Checkpoints(ctx, "default", spans, 0, 10)
		_, err2 := tx.Compress().LastNumber(ctx, "default", spans)
		_, _, err3 := tx.Compress().Breaker(ctx, "default", 1)
		_, err4 := tx.Snapshot().Snapshots(ctx, "default", spans, "", 10)
		return errors.Join(err, err2, err3, err4)
	})
	if err != nil {
		t.Fatal(err)
	}
	seeks := map[string]string{
		"FROM prompt_ends": "end_seq<?", "FROM snapshots WHERE tenant = ? AND segment = ?": "snapshot_id<?", "coalesce((SELECT DISTINCT": "number>?",
	}
	for sql, plan := range plans {
		for _, line := range plan {
			if strings.HasPrefix(line, "SCAN") || strings.Contains(line, "TEMP B-TREE") {
				t.Errorf("%s\n\t%s", sql, line)
			}
			for of, by := range seeks {
				if strings.Contains(sql, of) && strings.Contains(line, by) {
					delete(seeks, of)
				}
			}
		}
	}
	if len(plans) < 6 || len(seeks) > 0 {
		t.Errorf("%d statements were looked at, these do not seek: %v", len(plans), seeks)
	}
}

// The last number before a turn is found among many checkpoints, all of them aged, without looking at
// those after it.
func TestTheLastCheckpointIsFoundAmongMany(t *testing.T) {
	alone(t)
	const n = 5000
	s := openNew(t, sqlite.Config{})
	info := create(t, s, key("s"))
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for i := range int64(n) {
			for version := int64(1); version <= 2; version++ {
				c := compress.Row{Number: i + 1, Version: version, AfterSeq: 2 * (i + version), Doc: `{}`, At: noon}
				if err := tx.Compress().InsertCheckpoint(t.Context(), info.Tenant, info.Segment, c); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range []int64{3, n, 3 * n} {
		ctx := &countedContext{Context: t.Context()}
		err := s.View(ctx, func(tx store.Tx) error {
			last, err := tx.Compress().LastNumber(ctx, info.Tenant, []span.Span{{Segment: info.Segment, To: end}})
			if want := min(end/2, n); last != want {
				t.Errorf("up to turn %d: checkpoint %d, want %d", end, last, want)
			}
			return err
		})
		if err != nil || ctx.looks.Load() > 6 {
			t.Errorf("up to turn %d: %d looks, %v", end, ctx.looks.Load(), err)
		}
	}
}

// A sweep that is broken off by a full page of due snapshots goes on with the others, session by session.
func TestSweepsOfManySnapshots(t *testing.T) {
	const sessions, each, keep = 20, 30, 4
	s := openNew(t, sqlite.Config{})
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for i := range sessions * each {
			row := snapshot.Row{ID: fmt.Sprintf("%04d", i), AfterSeq: 1, Auto: true, Doc: `{}`, At: noon}
			if err := tx.Snapshot().InsertSnapshot(t.Context(), "default", int64(i%sessions), row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for took := int64(1); took > 0; {
		err := s.Update(t.Context(), func(tx store.Tx) (err error) {
			took, err = tx.Snapshot().SweepSnapshots(t.Context(), "default", keep, 100)
			return err
		})
		if err != nil || took > 100 {
			t.Fatalf("a sweep of up to 100 took %d: %v", took, err)
		}
	}
	err = s.View(t.Context(), func(tx store.Tx) error {
		for segment := range int64(sessions) {
			left, err := tx.Snapshot().Snapshots(t.Context(), "default", []span.Span{{Segment: segment, To: 9}}, "", 99)
			if want := fmt.Sprintf("%04d", sessions*(each-keep)+int(segment)); err != nil || len(left) != keep || left[keep-1].ID != want {
				return fmt.Errorf("segment %d has %d left, the oldest should be %s: %w", segment, len(left), want, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// What the load makes of checkpoints is what inserting them made.
func TestEndsOfLoadedCheckpoints(t *testing.T) {
	from, to := openNew(t, sqlite.Config{}), openNew(t, sqlite.Config{})
	info := create(t, from, key("s"))
	err := from.Update(t.Context(), func(tx store.Tx) error {
		for _, c := range [][3]int64{{1, 1, 2}, {2, 1, 9}, {1, 2, 3}, {3, 1, 6}, {3, 2, 6}, {2, 2, 4}} {
			row := compress.Row{Number: c[0], Version: c[1], AfterSeq: c[2], Doc: `{}`, At: noon}
			if err := tx.Compress().InsertCheckpoint(t.Context(), info.Tenant, info.Segment, row); err != nil {
				return err
			}
		}
		return tx.Prompt().InsertEpoch(t.Context(), info.Tenant, info.Segment, prompt.EpochRow{Number: 7, AfterSeq: 1, Doc: `{}`, At: noon})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = to.Load(t.Context(), func(yield func(store.Row, error) bool) {
		stop := errors.New("stop")
		err := from.Dump(t.Context(), func(row store.Row) error {
			if !yield(row, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(store.Row{}, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for end, want := range []int64{0, 0, 1, 1, 2, 2, 3, 3, 3, 3} {
		for name, s := range map[string]store.Store{"inserted": from, "loaded": to} {
			err := s.View(t.Context(), func(tx store.Tx) error {
				last, err := tx.Compress().LastNumber(t.Context(), info.Tenant, []span.Span{{Segment: info.Segment, To: int64(end)}})
				if last != want {
					t.Errorf("%s, up to turn %d: %d, want %d", name, end, last, want)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}
