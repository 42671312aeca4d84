package replay_test

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/span"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
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

// importedAtLast has each write of an import fail in turn, which leaves nothing behind, until none does. It returns how
// many there are.
func (w *world) importedAtLast(broken *faulty, file []byte) (writes int) {
	w.Helper()
	before := w.dump()
	for n := 1; ; n++ {
		broken.failAt = n
		_, err := replay.Import(w.ctx, broken, opener(file), replay.ImportOptions{})
		if err == nil {
			return n - 1
		}
		if !errors.Is(err, errBroken) {
			w.Fatalf("write %d: %v", n, err)
		}
		if diff := cmp.Diff(before, w.dump()); diff != "" {
			w.Fatalf("write %d left (-before +after):\n%s", n, diff)
		}
	}
}

type faultyTx struct {
	store.Tx
	f *faulty
}

func (t faultyTx) Log() turn.Rows          { return faultyLog{t.Tx.Log(), t.f} }
func (t faultyTx) Dialogue() dialogue.Rows { return faultyDialogue{t.Tx.Dialogue(), t.f} }
func (t faultyTx) Cortex() cortex.Rows     { return faultyCortex{t.Tx.Cortex(), t.f} }
func (t faultyTx) Scratch() scratch.Rows   { return faultyScratch{t.Tx.Scratch(), t.f} }
func (t faultyTx) Memory() memory.Rows     { return faultyMemory{t.Tx.Memory(), t.f} }
func (t faultyTx) Trace() trace.Rows       { return faultyTrace{t.Tx.Trace(), t.f} }

type faultyCortex struct {
	cortex.Rows
	f *faulty
}

func (c faultyCortex) InsertVersion(ctx context.Context, tenant string, segment int64, r cortex.Row) error {
	return errors.Join(c.f.write(), c.Rows.InsertVersion(ctx, tenant, segment, r))
}

type faultyScratch struct {
	scratch.Rows
	f *faulty
}

func (s faultyScratch) PutObservation(ctx context.Context, tenant string, segment int64, r scratch.Row) error {
	return errors.Join(s.f.write(), s.Rows.PutObservation(ctx, tenant, segment, r))
}

type faultyMemory struct {
	memory.Rows
	f *faulty
}

func (m faultyMemory) ItemsByID(ctx context.Context, tenant string, ids []string) ([]memory.Row, error) {
	rows, err := m.Rows.ItemsByID(ctx, tenant, ids)
	return rows, errors.Join(m.f.write(), err)
}

func (m faultyMemory) InsertItems(ctx context.Context, items []memory.Row) (int, error) {
	n, err := m.Rows.InsertItems(ctx, items)
	return n, errors.Join(m.f.write(), err)
}

func (m faultyMemory) PutDigest(ctx context.Context, tenant string, segment int64, d memory.DigestRow) error {
	return errors.Join(m.f.write(), m.Rows.PutDigest(ctx, tenant, segment, d))
}

type faultyTrace struct {
	trace.Rows
	f *faulty
}

func (t faultyTrace) Parts(ctx context.Context, tenant, turnID string) ([]trace.Part, error) {
	parts, err := t.Rows.Parts(ctx, tenant, turnID)
	return parts, errors.Join(t.f.write(), err)
}

func (t faultyTrace) InsertParts(ctx context.Context, tenant string, parts ...trace.Part) error {
	return errors.Join(t.f.write(), t.Rows.InsertParts(ctx, tenant, parts...))
}

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

func (l faultyLog) InsertTurns(ctx context.Context, tenant string, segment int64, rows ...turn.Row) error {
	return errors.Join(l.f.write(), l.Rows.InsertTurns(ctx, tenant, segment, rows...))
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
func (u unread) Cortex() cortex.Rows     { return unreadCortex{u.Tx.Cortex(), u} }
func (u unread) Scratch() scratch.Rows   { return unreadScratch{u.Tx.Scratch(), u} }
func (u unread) Memory() memory.Rows     { return unreadMemory{u.Tx.Memory(), u} }
func (u unread) Trace() trace.Rows       { return unreadTrace{u.Tx.Trace(), u} }

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

func (l unreadLog) TurnsByID(ctx context.Context, tenant, id string) ([]turn.Stored, error) {
	found, err := l.Rows.TurnsByID(ctx, tenant, id)
	return found, errors.Join(err, l.u.read("TurnsByID"))
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

type unreadCortex struct {
	cortex.Rows
	u unread
}

func (c unreadCortex) Newest(ctx context.Context, tenant string, spans []span.Span, live bool) ([]cortex.Row, error) {
	rows, err := c.Rows.Newest(ctx, tenant, spans, live)
	return rows, errors.Join(err, c.u.read("Newest"))
}

func (c unreadCortex) Versions(ctx context.Context, tenant string, spans []span.Span, kind cortex.Kind, id string) ([]cortex.Row, error) {
	rows, err := c.Rows.Versions(ctx, tenant, spans, kind, id)
	return rows, errors.Join(err, c.u.read("Versions"))
}

type unreadScratch struct {
	scratch.Rows
	u unread
}

func (s unreadScratch) Observations(ctx context.Context, tenant string, segment int64, now time.Time, live bool) ([]scratch.Row, error) {
	rows, err := s.Rows.Observations(ctx, tenant, segment, now, live)
	return rows, errors.Join(err, s.u.read("Observations"))
}

type unreadMemory struct {
	memory.Rows
	u unread
}

func (m unreadMemory) Items(ctx context.Context, f memory.Filter) ([]memory.Row, error) {
	rows, err := m.Rows.Items(ctx, f)
	return rows, errors.Join(err, m.u.read("Items"))
}

func (m unreadMemory) Digest(ctx context.Context, tenant string, segment int64) (memory.DigestRow, bool, error) {
	d, ok, err := m.Rows.Digest(ctx, tenant, segment)
	return d, ok, errors.Join(err, m.u.read("Digest"))
}

type unreadTrace struct {
	trace.Rows
	u unread
}

func (t unreadTrace) PartsOf(ctx context.Context, tenant string, segment int64) ([]trace.Part, error) {
	parts, err := t.Rows.PartsOf(ctx, tenant, segment)
	return parts, errors.Join(err, t.u.read("PartsOf"))
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
