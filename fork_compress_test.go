package turnstone_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// compression is what a session sees of its compression, one line each.
type compression struct{ Checkpoints, Snapshots, Breaker []string }

func seen(t *testing.T, st store.Store, s *turnstone.Session) (c compression) {
	t.Helper()
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	spans := info.Lineage(info.Head)
	err = st.View(t.Context(), func(tx store.Tx) error {
		rows, err := tx.Compress().Checkpoints(t.Context(), info.Tenant, spans, 0, 100)
		if err != nil {
			return err
		}
		for _, r := range rows {
			c.Checkpoints = append(c.Checkpoints, fmt.Sprint(r.Number, " ", r.Version, " after ", r.AfterSeq, ": ", r.Doc))
		}
		list, err := snapshot.List(t.Context(), tx.Snapshot(), info.Tenant, spans, "", 100)
		if err != nil {
			return err
		}
		for _, s := range list {
			c.Snapshots = append(c.Snapshots, fmt.Sprint(s.Name, " of ", s.Session, " after ", s.Turn))
		}
		doc, ok, err := tx.Compress().Breaker(t.Context(), info.Tenant, info.Segment)
		if ok {
			c.Breaker = append(c.Breaker, doc)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compressor writes what passes leave.
type compressor struct {
	*testing.T
	st  store.Store
	ids uint64
}

func (c *compressor) write(s *turnstone.Session, fn func(store.Tx, turn.SessionInfo) error) {
	c.Helper()
	info, err := s.Info(c.Context())
	if err != nil {
		c.Fatal(err)
	}
	if err := c.st.Update(c.Context(), func(tx store.Tx) error { return fn(tx, info) }); err != nil {
		c.Fatal(err)
	}
}

func (c *compressor) checkpoint(s *turnstone.Session, number, version int64, doc string) {
	c.Helper()
	c.write(s, func(tx store.Tx, info turn.SessionInfo) error {
		return tx.Compress().InsertCheckpoint(c.Context(), info.Tenant, info.Segment, compress.Row{
			Number: number, Version: version, AfterSeq: info.Head, Doc: doc, At: tx.Now(),
		})
	})
}

func (c *compressor) snapshot(s *turnstone.Session, name string) string {
	c.Helper()
	c.ids++
	id := turngen.ID(c.ids)
	c.write(s, func(tx store.Tx, info turn.SessionInfo) error {
		taken := snapshot.Snapshot{ID: id, Session: info.Session, Name: name, Turn: info.Head, At: tx.Now().Truncate(time.Microsecond)}
		return snapshot.Take(c.Context(), tx.Snapshot(), info.Tenant, info.Segment, taken)
	})
	return id
}

func (c *compressor) breaker(s *turnstone.Session, b compress.Breaker) {
	c.Helper()
	c.write(s, func(tx store.Tx, info turn.SessionInfo) error {
		return tx.Compress().PutBreaker(c.Context(), info.Tenant, info.Segment, string(b.AppendJSON(nil)), tx.Now())
	})
}

func (c *compressor) fork(s *turnstone.Session, at int64, id string) *turnstone.Session {
	c.Helper()
	f, err := s.Fork(c.Context(), at, turn.SessionInfo{Key: turn.Key{Session: id}})
	if err != nil {
		c.Fatal(err)
	}
	return f
}

// TestForksKeepTheCompressionOfTheirPoint: what a parent compresses at the fork point afterwards, and what
// snapshots it takes or deletes there, is the parent's alone, and both go on counting from the same numbers.
func TestForksKeepTheCompressionOfTheirPoint(t *testing.T) {
	for name, opened := range map[string]func(t *testing.T) (store.Store, error){
		"mem": func(*testing.T) (store.Store, error) { return mem.New(mem.Config{}), nil },
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "forks.db"), sqlite.Config{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := opened(t)
			if err != nil {
				t.Fatal(err)
			}
			eng := open(t, st, turnstone.Config{})
			c := &compressor{T: t, st: st}
			parent := session(t, eng, "parent")
			say(t, parent, turn.User, "one")
			c.checkpoint(parent, 1, 1, "first")
			c.snapshot(parent, "early")
			say(t, parent, turn.Agent, "two")
			c.checkpoint(parent, 1, 2, "first, aged")
			c.checkpoint(parent, 2, 1, "second")
			gone := c.snapshot(parent, "late")
			c.snapshot(parent, "later")
			stuck := compress.Breaker{Failures: 2}.Stuck(3, turn.Range{From: 1, To: 1}, 2000)
			c.breaker(parent, stuck)

			child, early := c.fork(parent, turnstone.Head, "child"), c.fork(parent, 1, "early")
			c.checkpoint(parent, 1, 3, "the parent's")
			c.checkpoint(parent, 3, 1, "the parent's")
			c.snapshot(parent, "the parent's")
			c.write(parent, func(tx store.Tx, info turn.SessionInfo) error {
				return snapshot.Delete(t.Context(), tx.Snapshot(), info.Tenant, info.Segment, gone)
			})
			c.breaker(parent, compress.Breaker{Failures: 9})

			inherited := compression{
				Checkpoints: []string{"1 1 after 1: first", "1 2 after 2: first, aged", "2 1 after 2: second"},
				Snapshots:   []string{"later of parent after 2", "late of parent after 2", "early of parent after 1"},
				Breaker:     []string{string(stuck.AppendJSON(nil))},
			}
			if diff := cmp.Diff(inherited, seen(t, st, child)); diff != "" {
				t.Errorf("child (-want +got):\n%s", diff)
			}
			// Before the parent's last turn: nothing is known of what it could not compress in its last epoch.
			before := compression{
				Checkpoints: inherited.Checkpoints[:1], Snapshots: inherited.Snapshots[2:], Breaker: []string{`{"failures":2}`},
			}
			if diff := cmp.Diff(before, seen(t, st, early)); diff != "" {
				t.Errorf("early (-want +got):\n%s", diff)
			}

			c.checkpoint(child, 1, 3, "the child's")
			c.checkpoint(child, 3, 1, "the child's")
			c.snapshot(child, "the child's")
			grandchild := c.fork(child, turnstone.Head, "grandchild")
			c.checkpoint(child, 4, 1, "the child's alone")
			say(t, grandchild, turn.User, "three")
			want := compression{
				Checkpoints: []string{inherited.Checkpoints[0], inherited.Checkpoints[1], "1 3 after 2: the child's", inherited.Checkpoints[2], "3 1 after 2: the child's"},
				Breaker:     inherited.Breaker,
			}
			got := seen(t, st, grandchild)
			if len(got.Snapshots) != 4 {
				t.Errorf("the grandchild has snapshots %v", got.Snapshots)
			}
			got.Snapshots = nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("grandchild (-want +got):\n%s", diff)
			}
		})
	}
}

// TestForksOfDamagedCompression: a fork leaves behind what nobody can read, and is made all the same.
func TestForksOfDamagedCompression(t *testing.T) {
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{})
	c := &compressor{T: t, st: st}
	parent := session(t, eng, "parent")
	say(t, parent, turn.User, "one")
	c.checkpoint(parent, 1, 1, "what it was")
	c.write(parent, func(tx store.Tx, info turn.SessionInfo) error {
		return errors.Join(
			tx.Compress().PutBreaker(t.Context(), info.Tenant, info.Segment, "{", tx.Now()),
			tx.Snapshot().InsertSnapshot(t.Context(), info.Tenant, info.Segment, snapshot.Row{ID: turngen.ID(7), AfterSeq: info.Head, Doc: "{", At: tx.Now()}))
	})
	want := compression{Checkpoints: []string{"1 1 after 1: what it was"}}
	if diff := cmp.Diff(want, seen(t, st, c.fork(parent, turnstone.Head, "child"))); diff != "" {
		t.Errorf("child (-want +got):\n%s", diff)
	}
}
