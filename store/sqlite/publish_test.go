package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// export writes exports of one session with these ids.
func export(t testing.TB, s store.Store, ids ...string) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for i, id := range ids {
			e := event.Export{Tenant: "default", Session: "s", Segment: 1, ID: id, TurnID: id, Last: int64(i), Body: "{}", At: tx.Now()}
			if err := tx.Outbox().InsertExport(t.Context(), e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sending takes all exports.
func sending(ids *[]string) store.Publication {
	return store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) {
		for _, e := range exports {
			*ids = append(*ids, e.ID)
		}
		return len(exports), nil
	}}
}

func published(t testing.TB, s store.Store) []string {
	t.Helper()
	var ids []string
	err := s.View(t.Context(), func(tx store.Tx) error {
		exports, err := tx.Outbox().Published(t.Context(), 0, 100)
		for _, e := range exports {
			ids = append(ids, fmt.Sprint(e.ID, e.Sent))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// While one process sends, another on the same file finds nothing to publish; afterwards it does.
func TestTwoProcessesDoNotPublishAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	a, b := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	export(t, a, "e", "f", "g")
	var other []string
	n, err := a.Publish(t.Context(), 2, store.Publication{Send: func(ctx context.Context, exports []event.Export) (int, error) {
		if n, err := b.Publish(ctx, 10, sending(&other)); n != 0 || err != nil {
			t.Errorf("the other: %d, %v", n, err)
		}
		return 1, errors.New("broken pipe")
	}})
	if n != 1 || err == nil || err.Error() != "broken pipe" {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := b.Publish(t.Context(), 10, sending(&other)); n != 2 || err != nil {
		t.Errorf("the other: %d, %v", n, err)
	}
	if diff := cmp.Diff([]string{"f", "g"}, other); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"e1", "f2", "g3"}, published(t, a)); diff != "" {
		t.Error(diff)
	}
}

// A process that ended while it was sending keeps others from it for a while only.
func TestAProcessThatDiedWhilePublishing(t *testing.T) {
	alone(t)
	var now atomic.Int64
	now.Store(noon.UnixMicro())
	s := openNew(t, sqlite.Config{Clock: func() time.Time { return time.UnixMicro(now.Load()) }})
	export(t, s, "e")
	func() {
		defer func() { recover() }()
		s.Publish(t.Context(), 10, store.Publication{Send: func(ctx context.Context, _ []event.Export) (int, error) {
			if err := s.TakeOverRelay(ctx, "one that will die"); err != nil {
				t.Error(err)
			}
			panic("it dies")
		}})
	}()
	var sent []string
	if n, err := s.Publish(t.Context(), 10, sending(&sent)); n != 0 || err != nil {
		t.Errorf("while it may be alive: %d, %v", n, err)
	}
	now.Add((20 * time.Second).Microseconds())
	if n, err := s.Publish(t.Context(), 10, sending(&sent)); n != 1 || err != nil || len(sent) != 1 {
		t.Errorf("later: %d, %v", n, err)
	}
}

// Who was taken for dead notes nothing: another one may be sending the same exports.
func TestALeaseThatWasLost(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	export(t, s, "e", "f")
	lose := func(ctx context.Context, exports []event.Export) (int, error) {
		return len(exports), s.TakeOverRelay(ctx, "another")
	}
	if n, err := s.Publish(t.Context(), 10, store.Publication{Send: lose}); n != 0 || !errors.Is(err, store.ErrLocked) {
		t.Errorf("%d, %v; want ErrLocked", n, err)
	}
	if got := published(t, s); got != nil {
		t.Errorf("published %v", got)
	}
	if err := s.TakeOverRelay(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	var sent []string
	if n, err := s.Publish(t.Context(), 10, sending(&sent)); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// After a panic of Send and an error of Note everything waits as before, for anybody.
func TestAPublicationThatFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	a, b := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	export(t, a, "e")
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("it did not panic")
			}
		}()
		a.Publish(t.Context(), 10, store.Publication{Send: func(context.Context, []event.Export) (int, error) { panic("boom") }})
	}()
	var sent []string
	p := sending(&sent)
	bad := errors.New("bad note")
	p.Note = func(context.Context, store.Tx, []event.Export) error { return bad }
	if n, err := a.Publish(t.Context(), 10, p); n != 0 || !errors.Is(err, bad) {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := b.Publish(t.Context(), 10, sending(&sent)); n != 1 || err != nil || len(sent) != 2 {
		t.Errorf("%d, %v; sent %v", n, err, sent)
	}
}

// Exports keep the numbers they were published under, and what waits follows them.
func TestLoadedExportsKeepTheirNumbers(t *testing.T) {
	from := openNew(t, sqlite.Config{})
	create(t, from, key("s"))
	export(t, from, "z", "y")
	var sent []string
	if _, err := from.Publish(t.Context(), 10, sending(&sent)); err != nil {
		t.Fatal(err)
	}
	export(t, from, "m", "n")
	var rows []store.Row
	err := from.Dump(t.Context(), func(r store.Row) error {
		rows = append(rows, store.Row{Table: r.Table, Values: append([]any(nil), r.Values...)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	into := openNew(t, sqlite.Config{})
	err = into.Load(t.Context(), func(yield func(store.Row, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(published(t, from), published(t, into)); diff != "" {
		t.Error(diff)
	}
	sent = nil
	if n, err := into.Publish(t.Context(), 10, sending(&sent)); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	want := append(published(t, from), "m3", "n4")
	if diff := cmp.Diff(want, published(t, into)); diff != "" {
		t.Error(diff)
	}
}

// However long sending takes, nobody else begins to.
func TestALeaseIsRenewedWhileSending(t *testing.T) {
	var now atomic.Int64
	now.Store(noon.UnixMicro())
	config := sqlite.Config{Clock: func() time.Time { return time.UnixMicro(now.Load()) }}
	path := filepath.Join(t.TempDir(), "shared.db")
	a, b := open(t, path, config), open(t, path, config)
	a.RenewOften()
	export(t, a, "e")
	var other []string
	n, err := a.Publish(t.Context(), 10, store.Publication{Send: func(ctx context.Context, exports []event.Export) (int, error) {
		for range 3 {
			at := time.UnixMicro(now.Add((10 * time.Second).Microseconds()))
			eventually(t, "renewal", func() bool { return a.RelayUntil(t).After(at.Add(10 * time.Second)) })
			if n, err := b.Publish(ctx, 10, sending(&other)); n != 0 || err != nil {
				t.Errorf("the other: %d, %v", n, err)
			}
		}
		return len(exports), nil
	}})
	if n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}
