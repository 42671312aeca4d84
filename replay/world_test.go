package replay_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// tester is what tests, fuzz targets and rapid checks have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// world is a store with a clock of its own, in which every transaction is a second after the one
// before and ids count up.
type world struct {
	tester
	ctx context.Context
	store.Store
	clock *clock
	ids   uint64
}

// clock stands still until it is moved.
type clock struct{ micros atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.micros.Store(time.Date(2026, 11, 14, 9, 30, 0, 250_000, time.UTC).UnixMicro())
	return c
}

func (c *clock) now() time.Time { return time.UnixMicro(c.micros.Load()).UTC() }
func (c *clock) tick()          { c.micros.Add(1_000_000) }

func newWorld(t tester, ctx context.Context) *world {
	c := newClock()
	return &world{tester: t, ctx: ctx, Store: mem.New(mem.Config{Clock: c.now}), clock: c}
}

func key(session string) turn.Key { return turn.Key{Tenant: "acme", Session: session} }

func (w *world) update(fn func(store.Tx) error) {
	w.Helper()
	w.clock.tick()
	if err := w.Update(w.ctx, fn); err != nil {
		w.Fatalf("update: %v", err)
	}
}

func (w *world) view(fn func(store.Tx) error) {
	w.Helper()
	w.clock.tick()
	if err := w.View(w.ctx, fn); err != nil {
		w.Fatalf("view: %v", err)
	}
}

func (w *world) create(session string) turn.Key {
	w.Helper()
	k := key(session)
	w.update(func(tx store.Tx) error {
		s := turn.SessionInfo{
			Key: k, User: "u-17", Title: "Trip to “Lisbon”", Model: "made-up-1", Mode: "chat",
			Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
		}
		segment, err := tx.Log().InsertSession(w.ctx, s)
		if err != nil {
			return err
		}
		_, err = dialogue.Start(w.ctx, tx.Dialogue(), k.Tenant, segment, tx.Now())
		return err
	})
	return k
}

// say appends drafts and gives those without an id the next one.
func (w *world) say(k turn.Key, drafts ...turn.Draft) []turn.Turn {
	w.Helper()
	sealed := make([]turn.Sealed, len(drafts))
	limits, err := turn.Limits{}.WithDefaults()
	for i, d := range drafts {
		if d.ID == "" {
			w.ids++
			d.ID = turngen.ID(w.ids)
		}
		if err == nil {
			sealed[i], err = d.Seal(limits)
		}
	}
	if err != nil {
		w.Fatalf("seal: %v", err)
	}
	var turns []turn.Turn
	w.update(func(tx store.Tx) (err error) {
		turns, err = turn.Append(w.ctx, tx.Log(), k, tx.Now(), sealed...)
		return err
	})
	return turns
}

// believe changes the dialogue state after the last turn.
func (w *world) believe(k turn.Key, change func(s *dialogue.State) error) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(w.ctx, k)
		if err != nil {
			return err
		}
		prev, err := dialogue.Load(w.ctx, tx.Dialogue(), k.Tenant, info.Lineage(info.Head), info.Head)
		if err != nil {
			return err
		}
		next := prev.State
		if err := change(&next); err != nil {
			return err
		}
		for _, flow := range next.TakeCompleted() {
			if err := tx.Log().InsertCompletedFlow(w.ctx, k.Tenant, info.Segment, flow, info.Head); err != nil {
				return err
			}
		}
		_, err = dialogue.Save(w.ctx, tx.Dialogue(), k.Tenant, info.Segment, prev, &next, info.Head, tx.Now())
		return err
	})
}

func (w *world) fork(parent turn.Key, at int64, child string) turn.Key {
	w.Helper()
	k := turn.Key{Tenant: parent.Tenant, Session: child}
	w.update(func(tx store.Tx) error {
		p, err := tx.Log().Session(w.ctx, parent)
		if err != nil {
			return err
		}
		made, err := turn.Fork(w.ctx, tx.Log(), parent, at, turn.SessionInfo{Key: k}, tx.Now())
		if err != nil {
			return err
		}
		if _, err = dialogue.Fork(w.ctx, tx.Dialogue(), parent.Tenant, p.Lineage(at), made.Segment, at, tx.Now()); err != nil {
			return err
		}
		if err := cortex.Fork(w.ctx, tx.Cortex(), parent.Tenant, p.Lineage(at), made.Segment, at); err != nil {
			return err
		}
		if err := prompt.Fork(w.ctx, tx.Prompt(), parent.Tenant, p.Lineage(at), made.Segment, at); err != nil {
			return err
		}
		if err := compress.Fork(w.ctx, tx.Compress(), p, made.Segment, at, tx.Now()); err != nil {
			return err
		}
		return snapshot.Fork(w.ctx, tx.Snapshot(), parent.Tenant, p.Lineage(at), made.Segment, at, w.snapshotID)
	})
	return k
}

func (w *world) bookmark(k turn.Key, name string, seq int64) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		return tx.Log().InsertBookmark(w.ctx, k, turn.Bookmark{Name: name, Seq: seq, At: tx.Now()})
	})
}

func (w *world) end(k turn.Key) {
	w.Helper()
	w.update(func(tx store.Tx) error {
		info, err := tx.Log().LockSession(w.ctx, k)
		if err != nil {
			return err
		}
		info.Status = turn.Ended
		return tx.Log().UpdateSession(w.ctx, info)
	})
}

func (w *world) info(k turn.Key) (info turn.SessionInfo) {
	w.Helper()
	w.view(func(tx store.Tx) (err error) {
		info, err = tx.Log().Session(w.ctx, k)
		return err
	})
	return info
}

// bundle writes a session's bundle.
func (w *world) bundle(k turn.Key, o replay.WriteOptions) ([]byte, replay.Bundle) {
	w.Helper()
	var out bytes.Buffer
	var b replay.Bundle
	w.view(func(tx store.Tx) (err error) {
		out.Reset()
		b, err = replay.Write(w.ctx, tx, k, &out, o)
		return err
	})
	return out.Bytes(), b
}

func (w *world) plain(k turn.Key) []byte {
	w.Helper()
	file, _ := w.bundle(k, replay.WriteOptions{})
	return file
}

// imported imports a bundle that must be good.
func (w *world) imported(file []byte, o replay.ImportOptions) turn.SessionInfo {
	w.Helper()
	w.clock.tick()
	info, err := replay.Import(w.ctx, w.Store, opener(file), o)
	if err != nil {
		w.Fatalf("import: %v", err)
	}
	return info
}

func (w *world) dump() []string {
	w.Helper()
	return dump(w, w.ctx, w.Store)
}

func dump(t tester, ctx context.Context, st store.Store) []string {
	t.Helper()
	var rows []string
	if err := st.Dump(ctx, func(r store.Row) error {
		rows = append(rows, fmt.Sprintf("%s %q", r.Table, r.Values))
		return nil
	}); err != nil {
		t.Fatalf("dump: %v", err)
	}
	return rows
}

func opener(file []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file)), nil }
}

func verify(file []byte) (replay.Bundle, error) {
	return replay.Verify(context.Background(), bytes.NewReader(file), replay.VerifyOptions{})
}

// records returns the lines between the first and the last.
func records(file []byte) []byte {
	_, rest, _ := bytes.Cut(file, []byte("\n"))
	return rest[:bytes.LastIndexByte(rest[:len(rest)-1], '\n')+1]
}

// refused checks that a bundle is refused as damaged.
func refused(t *testing.T, file []byte) error {
	t.Helper()
	_, err := verify(file)
	if !errors.Is(err, replay.ErrDamaged) {
		t.Errorf("verify: %v, want %v", err, replay.ErrDamaged)
	}
	return err
}
