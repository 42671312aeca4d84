package postgres_test

import (
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// A database of the third version is brought to the newest one, keeps what is in it and holds checkpoints.
func TestADatabaseOfTheThirdVersion(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	admin := connect(t, address)
	ofVersion(t, admin, 3)
	execute(t, admin, `
		INSERT INTO sessions VALUES ('default', 's', 1, '', '', '', '', 'active', NULL, 0, 1, 0, 0);
		INSERT INTO turns (tenant, segment, seq, turn_id, role, form, created_at, content)
			VALUES ('default', 1, 1, '01J00000000000000000000000', 'user', 'text', 0, '{"text":"from before"}');
		INSERT INTO epochs VALUES ('default', 1, 1, 1, '{}', 0);
		INSERT INTO prompt_ends VALUES ('default', 1, 'epochs', 1, 1)`, simple)
	s := open(t, address, postgres.Config{})
	if turns := log(t, s, turn.Key{Tenant: "default", Session: "s"}); len(turns) != 1 || turns[0].Content.(turn.Text).Text != "from before" {
		t.Errorf("turns %+v", turns)
	}
	along, noon := []span.Span{{Segment: 1, From: 1, To: 1}}, time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)
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

// Checkpoints and snapshots are found among many of their session's and of others' without looking at those.
func TestACheckpointIsFoundAmongMany(t *testing.T) {
	alone(t)
	address := pgtest.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	segments := []int64{1, 2}
	for round, analyzed := range []bool{false, true} {
		from, to := round*10_000+1, round*10_000+10_000
		execute(t, admin, `INSERT INTO checkpoints SELECT 'default', 1, n, v, n + v, repeat('d', 500), 0
			FROM generate_series($1::bigint, $2) n, generate_series(1, 2) v`, from, to)
		execute(t, admin, `INSERT INTO snapshots SELECT 'default', 's' || lpad(n::text, 9, '0'), 1 + n % 2 * 7, n, repeat('d', 500), 0
			FROM generate_series($1::bigint, $2) n`, from, to)
		execute(t, admin, `TRUNCATE prompt_ends`)
		execute(t, admin, postgres.LoadCheckpointEnds)
		if analyzed {
			execute(t, admin, `INSERT INTO checkpoints SELECT 'default', 3 + n / 2, n % 2 + 1, 1, n, repeat('d', 500), 0 FROM generate_series(1, 20000) n`)
			execute(t, admin, `ANALYZE checkpoints, snapshots, prompt_ends`)
		}
		for _, end := range []int64{1, 5_000, 1<<63 - 1} {
			if n := pages(t, s, postgres.LastNumberSQL, "default", segments, []int64{end, 9}); n > 20 {
				t.Errorf("analyzed %v, up to turn %d: %d pages were looked at for the last number", analyzed, end, n)
			}
		}
		ends := []int64{1<<63 - 1, 9}
		for _, c := range []struct {
			what, sql string
			args      []any
		}{
			{"a checkpoint", postgres.CheckpointSQL, []any{5_000, 2}},
			{"three checkpoints", postgres.CheckpointsSQL, []any{5_000, 3}},
			{"a snapshot", postgres.SnapshotSQL, []any{"s000005000"}},
			{"the newest snapshots", postgres.SnapshotsSQL, []any{3}},
			{"earlier snapshots", postgres.EarlierSnapshotsSQL, []any{3, "s000005000"}},
		} {
			if n := pages(t, s, c.sql, append([]any{"default", segments, ends}, c.args...)...); n > 40 {
				t.Errorf("analyzed %v: %d pages were looked at for %s", analyzed, n, c.what)
			}
		}
	}
}

// A sweep passes over what others hold and waits for nobody.
func TestASweepPassesOverSnapshotsOthersHold(t *testing.T) {
	address := pgstore.URL(t)
	s := open(t, address, postgres.Config{})
	admin := connect(t, address)
	execute(t, admin, `INSERT INTO snapshots SELECT 'default', 's' || n, 1, n, '{}', 0, 1 FROM generate_series(1, 5) n`)
	sweep := func() (took int64) {
		err := s.Update(t.Context(), func(tx store.Tx) (err error) {
			took, err = tx.Snapshot().SweepSnapshots(t.Context(), "default", 2, 9)
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return took
	}
	err := s.Update(t.Context(), func(tx store.Tx) error {
		err := tx.Snapshot().DeleteSnapshot(t.Context(), "default", 1, "s2")
		if took := sweep(); took != 2 {
			t.Errorf("took %d besides the one that is held, want 2", took)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := ask[string](t, admin, `SELECT string_agg(snapshot_id, ' ' ORDER BY snapshot_id) FROM snapshots`); left != "s4 s5" {
		t.Errorf("left are %s", left)
	}
	if took := sweep(); took != 0 {
		t.Errorf("took %d more", took)
	}
}
