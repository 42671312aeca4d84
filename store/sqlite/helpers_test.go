package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

func open(t testing.TB, path string, config sqlite.Config) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, s) })
	return s
}

// alone skips a test in the short form, which the race detector watches: no two goroutines meet in it that do not meet in
// the suite, or only those of different processes.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("nothing to watch")
	}
}

func closed(t testing.TB, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func openNew(t testing.TB, config sqlite.Config) *sqlite.Store {
	t.Helper()
	return open(t, litetest.File(t, filepath.Join(t.TempDir(), "test.db")), config)
}

var newIDs = ids.New(nil)

func newID() string { return newIDs.Next(time.Now()) }

func key(session string) turn.Key { return turn.Key{Tenant: turn.DefaultTenant, Session: session} }

// make a session where there is none.
func ensure(ctx context.Context, s store.Store, k turn.Key) (info turn.SessionInfo, err error) {
	err = s.Update(ctx, func(tx store.Tx) error {
		info = turn.SessionInfo{Key: k, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()}
		info.Segment, err = tx.Log().InsertSession(ctx, info)
		if errors.Is(err, turn.ErrExists) {
			info, err = tx.Log().Session(ctx, k)
		}
		return err
	})
	return info, err
}

func create(t testing.TB, s store.Store, k turn.Key) turn.SessionInfo {
	t.Helper()
	info, err := ensure(t.Context(), s, k)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func seal(role turn.Role, c turn.Content) (turn.Sealed, error) {
	return turn.Draft{ID: newID(), Role: role, Content: c}.Seal(turn.Limits{Text: 32 << 20, Blob: 32 << 20, Calls: 1})
}

// put appends one turn.
func put(ctx context.Context, s store.Store, k turn.Key, role turn.Role, c turn.Content) (turn.Turn, error) {
	sealed, err := seal(role, c)
	if err != nil {
		return turn.Turn{}, err
	}
	var turns []turn.Turn
	err = s.Update(ctx, func(tx store.Tx) (err error) {
		turns, err = turn.Append(ctx, tx.Log(), k, tx.Now(), sealed)
		return err
	})
	if err != nil {
		return turn.Turn{}, err
	}
	return turns[0], nil
}

func say(ctx context.Context, s store.Store, k turn.Key, text string) (turn.Turn, error) {
	return put(ctx, s, k, turn.User, turn.Text{Text: text})
}

func mustSay(t testing.TB, s store.Store, k turn.Key, text string) turn.Turn {
	t.Helper()
	said, err := say(t.Context(), s, k, text)
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// log returns all turns of a session.
func log(t testing.TB, s store.Store, k turn.Key) []turn.Turn {
	t.Helper()
	turns, err := readLog(t.Context(), s, k)
	if err != nil {
		t.Fatal(err)
	}
	return turns
}

func readLog(ctx context.Context, s store.Store, k turn.Key) (turns []turn.Turn, err error) {
	err = s.View(ctx, func(tx store.Tx) error {
		info, err := tx.Log().Session(ctx, k)
		if err != nil {
			return err
		}
		own := turn.Span{Segment: info.Segment, From: 1, To: info.Head}
		turns, err = tx.Log().Scan(ctx, k.Tenant, own, turn.RowFilter{}, 1<<30)
		return err
	})
	return turns, err
}

func texts(turns []turn.Turn) []string {
	out := make([]string, len(turns))
	for i := range turns {
		out[i] = turns[i].Content.Searchable()
	}
	return out
}

// eventually asks again and again until the answer is yes.
func eventually(t testing.TB, what string, yes func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(2 * time.Minute)
	for !yes() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s did not happen", what)
		}
	}
}
