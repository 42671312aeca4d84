package turn_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var errDisk = errors.New("disk on fire")

// faulty lets a number of calls through and then fails every one.
type faulty struct {
	turn.Rows
	left int
}

func (f *faulty) fault() error {
	if f.left--; f.left < 0 {
		return errDisk
	}
	return nil
}

// through calls the rows unless it is time to fail.
func through[V any](f *faulty, call func() (V, error)) (V, error) {
	if err := f.fault(); err != nil {
		var none V
		return none, err
	}
	return call()
}

func (f *faulty) LockSession(ctx context.Context, k turn.Key) (turn.SessionInfo, error) {
	return through(f, func() (turn.SessionInfo, error) { return f.Rows.LockSession(ctx, k) })
}

func (f *faulty) LockLease(ctx context.Context, k turn.Key) (turn.Lease, error) {
	return through(f, func() (turn.Lease, error) { return f.Rows.LockLease(ctx, k) })
}

func (f *faulty) InsertSession(ctx context.Context, s turn.SessionInfo) (int64, error) {
	return through(f, func() (int64, error) { return f.Rows.InsertSession(ctx, s) })
}

func (f *faulty) Advance(ctx context.Context, k turn.Key, head int64, at time.Time) error {
	return errors.Join(f.fault(), f.Rows.Advance(ctx, k, head, at))
}

func (f *faulty) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (turn.Turn, bool, error) {
	if err := f.fault(); err != nil {
		return turn.Turn{}, false, err
	}
	return f.Rows.TurnByKey(ctx, tenant, segment, key)
}

func (f *faulty) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...turn.Row) error {
	return errors.Join(f.fault(), f.Rows.InsertTurns(ctx, tenant, segment, rows...))
}

func (f *faulty) TurnsByID(ctx context.Context, tenant, id string) ([]turn.Stored, error) {
	return through(f, func() ([]turn.Stored, error) { return f.Rows.TurnsByID(ctx, tenant, id) })
}

func (f *faulty) Scan(ctx context.Context, tenant string, s turn.Span, filter turn.RowFilter, limit int) ([]turn.Turn, error) {
	return through(f, func() ([]turn.Turn, error) { return f.Rows.Scan(ctx, tenant, s, filter, limit) })
}

func (f *faulty) Units(ctx context.Context, tenant string, segment, first, last int64) ([]turn.Turn, error) {
	return through(f, func() ([]turn.Turn, error) { return f.Rows.Units(ctx, tenant, segment, first, last) })
}

func (f *faulty) Straddling(ctx context.Context, tenant string, segment, seq int64) (int64, error) {
	return through(f, func() (int64, error) { return f.Rows.Straddling(ctx, tenant, segment, seq) })
}

func (f *faulty) InsertOpenCall(ctx context.Context, tenant string, segment int64, c turn.OpenCall) error {
	return errors.Join(f.fault(), f.Rows.InsertOpenCall(ctx, tenant, segment, c))
}

func (f *faulty) OpenCalls(ctx context.Context, tenant string, segment int64) ([]turn.OpenCall, error) {
	return through(f, func() ([]turn.OpenCall, error) { return f.Rows.OpenCalls(ctx, tenant, segment) })
}

func (f *faulty) DeleteOpenCall(ctx context.Context, tenant string, segment int64, id string) (turn.OpenCall, error) {
	return through(f, func() (turn.OpenCall, error) { return f.Rows.DeleteOpenCall(ctx, tenant, segment, id) })
}

func (f *faulty) PutBlob(ctx context.Context, tenant string, b turn.Blob, at time.Time, segment, seq int64) error {
	return errors.Join(f.fault(), f.Rows.PutBlob(ctx, tenant, b, at, segment, seq))
}

func (f *faulty) BlobSize(ctx context.Context, tenant, sha256 string) (int64, error) {
	return through(f, func() (int64, error) { return f.Rows.BlobSize(ctx, tenant, sha256) })
}

func (f *faulty) SetLease(ctx context.Context, k turn.Key, l turn.Lease) error {
	return errors.Join(f.fault(), f.Rows.SetLease(ctx, k, l))
}

// TextMark says that the first two turns are indexed, so that both ways of a search are taken.
func (f *faulty) TextMark(context.Context, string, int64) (int64, error) { return 2, f.fault() }

func (f *faulty) TextHits(ctx context.Context, tenant string, s turn.Span, _ []string, filter turn.RowFilter, limit int) ([]turn.Turn, error) {
	return through(f, func() ([]turn.Turn, error) { return f.Rows.Scan(ctx, tenant, s, filter, limit) })
}

func TestNoFaultOfTheStoreIsSwallowed(t *testing.T) {
	seal := func(d turn.Draft) turn.Sealed {
		t.Helper()
		d.ID = turngen.ID(1 << 40)
		sealed, err := d.Seal(limits(t))
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	keyed := said(turn.User, "x")
	keyed.IdempotencyKey = "k"
	search := func(q turn.Query) func(*faulty, turn.SessionInfo) error {
		s, err := q.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return func(f *faulty, info turn.SessionInfo) error {
			_, err := s.Run(t.Context(), f, info)
			return err
		}
	}
	write := func(d turn.Draft) func(*faulty, turn.SessionInfo) error {
		sealed := seal(d)
		return func(f *faulty, info turn.SessionInfo) error {
			_, err := turn.Append(t.Context(), f, info.Key, noon, sealed)
			return err
		}
	}
	history := func(o turn.HistoryOptions) func(*faulty, turn.SessionInfo) error {
		return func(f *faulty, info turn.SessionInfo) error {
			_, err := turn.History(t.Context(), f, info, o)
			return err
		}
	}
	lease := func(take func(context.Context, turn.SessionRows, turn.Key, string, time.Time) (turn.Lease, error)) func(*faulty, turn.SessionInfo) error {
		return func(f *faulty, info turn.SessionInfo) error {
			_, err := take(t.Context(), f, info.Key, "token", noon)
			return err
		}
	}
	for name, c := range map[string]struct {
		calls int // of the store
		do    func(*faulty, turn.SessionInfo) error
	}{
		"append":            {3, write(said(turn.User, "x"))},
		"append with a key": {4, write(keyed)},
		"append calls":      {5, write(turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "x", Name: "f", Arguments: "1"}, {ID: "y", Name: "f", Arguments: "1"}}}})},
		"append a result":   {4, write(turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "open", Status: turn.CallOK}})},
		"append bytes":      {4, write(turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("new")}}})},
		"append a hash":     {5, write(turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{SHA256: pngHash, Size: 3}}})},
		"close calls": {6, func(f *faulty, info turn.SessionInfo) error {
			_, err := turn.CloseOpenCalls(t.Context(), f, info.Key, noon, func() string { return turngen.ID(1 << 41) })
			return err
		}},
		"fork": {4, func(f *faulty, info turn.SessionInfo) error {
			_, err := turn.Fork(t.Context(), f, info.Key, 4, turn.SessionInfo{Key: turn.Key{Tenant: info.Tenant, Session: "child"}}, noon)
			return err
		}},
		"history":        {4, history(turn.HistoryOptions{Turns: 2})},
		"history, whole": {2, history(turn.HistoryOptions{Turns: 99, KeepSystem: true})},
		"acquire":        {2, lease(turn.Acquire)},
		"renew":          {2, lease(turn.Renew)},
		"release": {2, func(f *faulty, info turn.SessionInfo) error {
			return turn.Release(t.Context(), f, info.Key, "token")
		}},
		"query":         {1, search(turn.Query{Limit: 9})},
		"query by id":   {2, search(turn.Query{Among: []string{turngen.ID(1), turngen.ID(2)}})},
		"query by text": {3, search(turn.Query{Text: "x"})},
	} {
		b := newBook(t)
		b.append(t, said(turn.User, "x"), turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("png")}}},
			turn.Draft{Role: turn.Agent, Content: call("done", "f", "1")}, turn.Draft{Role: turn.System, Content: turn.Result{Name: "f", CallID: "done", Status: turn.CallOK}},
			turn.Draft{Role: turn.Agent, Content: call("open", "f", "1")}, said(turn.User, "x"))
		b.update(t, func(tx store.Tx) error {
			return tx.Log().SetLease(t.Context(), b.key, turn.Lease{Token: "token", Until: noon.Add(time.Hour)})
		})
		for left := range 20 {
			err := b.store.Update(t.Context(), func(tx store.Tx) error {
				info, err := tx.Log().Session(t.Context(), b.key)
				if err != nil {
					return err
				}
				if err := c.do(&faulty{tx.Log(), left}, info); err != nil {
					return err
				}
				return errRollback
			})
			want := errDisk
			if left >= c.calls {
				want = errRollback
			}
			if !errors.Is(err, want) {
				t.Errorf("%s with a fault after %d calls: %v, want %v", name, left, err, want)
			}
		}
	}
}

var errRollback = errors.New("so that the next try finds the same")
