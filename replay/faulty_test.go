package replay_test

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var errBroken = errors.New("the store broke")

// faulty is a store whose n-th write of an update fails.
type faulty struct {
	store.Store
	failAt int
	with   error // defaults to errBroken
	writes int
	// pointers counts those that the last update wrote.
	pointers int
}

func (f *faulty) Update(ctx context.Context, fn func(store.Tx) error) error {
	f.writes, f.pointers = 0, 0
	return f.Store.Update(ctx, func(tx store.Tx) error { return fn(faultyTx{tx, f}) })
}

func (f *faulty) write() error {
	if f.writes++; f.writes != f.failAt {
		return nil
	}
	if f.with != nil {
		return f.with
	}
	return errBroken
}

type faultyTx struct {
	store.Tx
	f *faulty
}

func (t faultyTx) Log() turn.Rows          { return faultyLog{t.Tx.Log(), t.f} }
func (t faultyTx) Dialogue() dialogue.Rows { return faultyDialogue{t.Tx.Dialogue(), t.f} }

type faultyLog struct {
	turn.Rows
	f *faulty
}

func (l faultyLog) InsertSession(ctx context.Context, s turn.SessionInfo) (int64, error) {
	if err := l.f.write(); err != nil {
		return 0, err
	}
	return l.Rows.InsertSession(ctx, s)
}

func (l faultyLog) InsertTurn(ctx context.Context, tenant string, segment int64, t turn.Turn, content string) error {
	return errors.Join(l.f.write(), l.Rows.InsertTurn(ctx, tenant, segment, t, content))
}

func (l faultyLog) InsertOpenCall(ctx context.Context, tenant string, segment int64, c turn.OpenCall) error {
	return errors.Join(l.f.write(), l.Rows.InsertOpenCall(ctx, tenant, segment, c))
}

func (l faultyLog) InsertCompletedFlow(ctx context.Context, tenant string, segment int64, flow string, afterSeq int64) error {
	return errors.Join(l.f.write(), l.Rows.InsertCompletedFlow(ctx, tenant, segment, flow, afterSeq))
}

func (l faultyLog) InsertBookmark(ctx context.Context, key turn.Key, b turn.Bookmark) error {
	return errors.Join(l.f.write(), l.Rows.InsertBookmark(ctx, key, b))
}

func (l faultyLog) PutBlob(ctx context.Context, tenant string, b turn.Blob, at time.Time, segment, seq int64) error {
	return errors.Join(l.f.write(), l.Rows.PutBlob(ctx, tenant, b, at, segment, seq))
}

type faultyDialogue struct {
	dialogue.Rows
	f *faulty
}

func (d faultyDialogue) InsertRevision(ctx context.Context, tenant string, segment int64, rev dialogue.RevisionRow) error {
	return errors.Join(d.f.write(), d.Rows.InsertRevision(ctx, tenant, segment, rev))
}

func (d faultyDialogue) InsertFlowTurns(ctx context.Context, tenant string, segment, seq int64, ptrs []dialogue.Pointer) error {
	d.f.pointers += len(ptrs)
	return errors.Join(d.f.write(), d.Rows.InsertFlowTurns(ctx, tenant, segment, seq, ptrs))
}

// hesitant is a store that loses the transaction of every update once and repeats it.
type hesitant struct{ store.Store }

func (h hesitant) Update(ctx context.Context, fn func(store.Tx) error) error {
	lost := errors.New("lost")
	err := h.Store.Update(ctx, func(tx store.Tx) error { return errors.Join(fn(tx), lost) })
	if !errors.Is(err, lost) {
		return err
	}
	return h.Store.Update(ctx, fn)
}

// unread is a transaction in which one method cannot read.
type unread struct {
	store.Tx
	method string
}

func (u unread) Log() turn.Rows          { return unreadLog{u.Tx.Log(), u} }
func (u unread) Dialogue() dialogue.Rows { return unreadDialogue{u.Tx.Dialogue(), u} }

func (u unread) read(method string) error {
	if u.method == method {
		return errBroken
	}
	return nil
}

type unreadLog struct {
	turn.Rows
	u unread
}

func (l unreadLog) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	page, err := l.Rows.Scan(ctx, tenant, s, f, limit)
	return page, errors.Join(err, l.u.read("Scan"))
}

func (l unreadLog) TurnByKey(ctx context.Context, tenant string, segment int64, key string) (turn.Turn, bool, error) {
	t, found, err := l.Rows.TurnByKey(ctx, tenant, segment, key)
	return t, found, errors.Join(err, l.u.read("TurnByKey"))
}

func (l unreadLog) Blob(ctx context.Context, tenant, sha256 string) (turn.Blob, error) {
	b, err := l.Rows.Blob(ctx, tenant, sha256)
	return b, errors.Join(err, l.u.read("Blob"))
}

func (l unreadLog) CompletedFlows(ctx context.Context, tenant string, s turn.Span) ([]turn.CompletedFlow, error) {
	flows, err := l.Rows.CompletedFlows(ctx, tenant, s)
	return flows, errors.Join(err, l.u.read("CompletedFlows"))
}

func (l unreadLog) Bookmarks(ctx context.Context, key turn.Key) ([]turn.Bookmark, error) {
	list, err := l.Rows.Bookmarks(ctx, key)
	return list, errors.Join(err, l.u.read("Bookmarks"))
}

type unreadDialogue struct {
	dialogue.Rows
	u unread
}

func (d unreadDialogue) Revisions(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.RevisionRow, error] {
	return unreadRows(d.u, "Revisions", d.Rows.Revisions(ctx, tenant, spans))
}

func (d unreadDialogue) RevisionAt(ctx context.Context, tenant string, spans []dialogue.Span, seq int64) (dialogue.RevisionRow, error) {
	row, err := d.Rows.RevisionAt(ctx, tenant, spans, seq)
	return row, errors.Join(err, d.u.read("RevisionAt"))
}

func (d unreadDialogue) Pointers(ctx context.Context, tenant string, spans []dialogue.Span) iter.Seq2[dialogue.PointerRow, error] {
	return unreadRows(d.u, "Pointers", d.Rows.Pointers(ctx, tenant, spans))
}

// unreadRows gives all rows and then fails.
func unreadRows[T any](u unread, method string, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for row, err := range rows {
			if !yield(row, err) {
				return
			}
		}
		if err := u.read(method); err != nil {
			var none T
			yield(none, err)
		}
	}
}

// unreadable is a store whose views cannot read with one method.
type unreadable struct {
	store.Store
	method string
}

func (s unreadable) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(unread{tx, s.method}) })
}
