package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// ImportOptions says where a bundle goes.
type ImportOptions struct {
	// Tenant of the new session. Defaults to the bundle's.
	Tenant string
	// As is the id of the new session. Defaults to the bundle's.
	As string
	// Limits bounds what is taken in. Defaults to those of [turn.Limits].
	Limits turn.Limits
	// MaxTurns is how many turns the bundle may have; of all else it may have ten times as much, of what
	// appears with its end 20,000 records. Defaults to no bound.
	MaxTurns int64
	// Progress is told now and then how much is done, of how much. Both readings of the file
	// count, a turn each. Nil: nobody is told.
	Progress func(done, total int64)
	// piece is how many records are written at once. Defaults to PieceRows.
	piece int
}

// Import makes a session of a bundle and returns it. Turns keep their ids, seqs, times, units and
// idempotency keys; revisions, flows, bookmarks and the session's status are as they were, and calls
// that waited for a result go on waiting. So do goals and actions with all their versions, notes, what
// was remembered and how long it stays, the digest and the traces, and pins, checkpoints and all else that prompts
// are made from: every prompt that was compiled can be made again, byte for byte, and every snapshot can be gone
// back to. The session stands alone: a fork has no parent any more.
//
// Memory items, parts of traces and snapshots are known by their id in the whole tenant. Imported under another id
// than the bundle's, next to its original, a session gets new ones in the same order, and links between
// its items follow. So does a snapshot that is there already, brought by a fork or its parent.
//
// The whole file is verified before anything is written, and then written in pieces that appear at once at their end: after an
// error nothing of it is there, and what a crash leaves is seen by nobody and swept by [SweepImports]. Open is called once for each reading; its answer is
// closed. A file that changes between the readings is refused.
//
// turn.ErrExists if the session, or an item or trace of it, is there already; see [NewDecoder] for the errors of bad bundles.
func Import(ctx context.Context, st store.Store, open func() (io.ReadCloser, error), o ImportOptions) (turn.SessionInfo, error) {
	p := newProgress(o.Progress, 0)
	var bundle Bundle
	var renamed renaming
	err := reading(open, o.Limits, func(d *Decoder) error {
		p.total = 2 * d.bundle.Session.Head
		if o.MaxTurns > 0 && d.bundle.Session.Head > o.MaxTurns {
			return tooMany("turns", o.MaxTurns)
		}
		renames, records, shared := o.renames(d.bundle), int64(0), 0
		err := d.each(ctx, p, func(r Record) error {
			if records++; o.MaxTurns > 0 && records > 11*o.MaxTurns+1000 {
				return tooMany("records", 11*o.MaxTurns+1000)
			}
			if r.waits() {
				if shared++; o.MaxTurns > 0 && shared > maxShared {
					return invalid.New("records", fmt.Sprintf("more than %d are items of memory, bookmarks, or what prompts begin with", maxShared), "import it with turnstone bundle import")
				}
			}
			if r.MemoryItem != nil && renames {
				renamed.note(r.MemoryItem)
			}
			return nil
		})
		bundle = d.bundle
		return err
	})
	if err != nil {
		return turn.SessionInfo{}, fmt.Errorf("import: %w", err)
	}
	session, err := standalone(bundle.Session, o)
	if err != nil {
		return turn.SessionInfo{}, fmt.Errorf("import: %w", err)
	}
	renamed.decide()
	pieces := NewStagedImport(st, session, insertSession)
	err = reading(open, o.Limits, func(d *Decoder) error {
		d.check.trusted, d.check.names = true, nil
		p.done = p.total / 2
		i := &imported{pieces: pieces, most: cmp.Or(o.piece, PieceRows), session: session, calls: &d.check.calls, renames: o.renames(bundle), renamed: &renamed, snapshotIDs: ids.New(nil)}
		if err := d.each(ctx, p, func(r Record) error { return i.take(ctx, r) }); err != nil {
			return err
		}
		if d.bundle.SHA256 != bundle.SHA256 {
			return fmt.Errorf("%w: it changed while it was imported; try again", ErrDamaged)
		}
		return i.finish(ctx)
	})
	if err != nil {
		_ = pieces.Drop(ctx) // what is left is swept
		return turn.SessionInfo{}, fmt.Errorf("import session %s: %w", session.Session, err)
	}
	session = pieces.session
	p.finish()
	return session, nil
}

func tooMany(what string, most int64) error {
	return invalid.New(what, fmt.Sprintf("there are more than %d", most), "raise MaxTurns")
}

// sound holds the session to the rules that every store is held to.
func sound(ctx context.Context, tx store.Tx, session turn.SessionInfo) error {
	var first doctor.Finding
	n := 0
	err := doctor.ExamineSession(ctx, tx, session, func(f doctor.Finding) {
		if n++; n == 1 {
			first = f
		}
	})
	switch {
	case err != nil:
		return err
	case n > 1:
		return fmt.Errorf("%w: it breaks %d rules, the first of them: %s: %s", ErrDamaged, n, first.Table, first.Problem)
	case n == 1:
		return fmt.Errorf("%w: it breaks a rule: %s: %s", ErrDamaged, first.Table, first.Problem)
	}
	return nil
}

// renames reports whether the session goes on under another id than the bundle's, so that its
// original may stand beside it.
func (o *ImportOptions) renames(b Bundle) bool { return o.As != "" && o.As != b.Session.Session }

// reading runs f on a decoder of the file.
func reading(open func() (io.ReadCloser, error), l turn.Limits, f func(*Decoder) error) (err error) {
	file, err := open()
	if err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	d, err := NewDecoder(file, l)
	if err != nil {
		return err
	}
	defer d.Close()
	return f(d)
}

// standalone returns the session that a bundle's session becomes.
func standalone(s turn.SessionInfo, o ImportOptions) (turn.SessionInfo, error) {
	if o.Tenant != "" {
		s.Tenant = o.Tenant
	}
	if o.As != "" {
		s.Session = o.As
	}
	s.Parent, s.ForkSeq = "", 0
	var err error
	s.Key, err = turn.NewKey(s.Tenant, s.Session)
	return s, err
}

// imported writes one session.
type imported struct {
	pieces *StagedImport
	most   int      // of a piece
	piece  []Record // not written yet
	size   int      // of it, about, in bytes
	last   []Record // which the last piece writes
	// The last piece also has actions looked at, those whose newest versions these are.
	reminders []cortex.Row

	tx      store.Tx
	log     turn.Rows
	session turn.SessionInfo
	calls   *calls
	blob    turn.Blob // the bytes that the next turn refers to
	content []byte
	flows   []dialogue.Pointer // those of one turn
	flowSeq int64

	renames bool
	renamed *renaming
	items   []memory.Row // not written yet
	traced  string       // the turn whose trace is being written
	parts   []trace.Part // what there was of it before
	partIDs *ids.Source

	snapshotIDs *ids.Source
}

// maxShared bounds what an import of bounded size may have for its last piece.
const maxShared = 20_000

// waits reports whether all of a tenant sees or shares the record.
func (r Record) waits() bool {
	return r.MemoryItem != nil || r.Bookmark != nil || r.Material != nil || r.Settings != nil
}

// take collects records, and writes a piece where it is full. What all of a tenant sees or shares waits for the last one.
func (i *imported) take(ctx context.Context, r Record) error {
	switch {
	case r.waits():
		i.last = append(i.last, r)
		return nil
	case (i.size >= PieceBytes || len(i.piece) >= i.most) && !i.continues(r):
		if err := i.write(ctx); err != nil {
			return err
		}
	}
	if r.Blob != nil {
		i.size += len(r.Blob.Data)
	} else if r.Turn != nil {
		i.content = turn.AppendContent(i.content[:0], r.Turn.Content)
		i.size += len(i.content)
	}
	if v := r.Intention; v != nil && v.Kind == cortex.KindAction {
		if n := len(i.reminders); n > 0 && i.reminders[n-1].ID == v.ID {
			i.reminders = i.reminders[:n-1]
		}
		if v.Live {
			i.reminders = append(i.reminders, *v)
		}
	}
	i.piece = append(i.piece, r)
	return nil
}

// continues reports whether the record belongs to the one before it: a turn to its bytes, a flow's turn or a part of a trace to its like.
func (i *imported) continues(r Record) bool {
	switch before := i.piece[len(i.piece)-1]; {
	case before.Blob != nil:
		return true
	case r.FlowTurn != nil:
		return before.FlowTurn != nil && before.FlowTurn.Seq == r.FlowTurn.Seq
	case r.TracePart != nil:
		return before.TracePart != nil && before.TracePart.TurnID == r.TracePart.TurnID
	}
	return false
}

// write writes a piece that is not the last one.
func (i *imported) write(ctx context.Context, calls ...turn.OpenCall) error {
	err := i.pieces.Write(ctx, false, func(tx store.Tx, s turn.SessionInfo) error {
		if err := i.records(ctx, tx, s, i.piece, calls); err != nil {
			return err
		}
		for _, r := range i.piece {
			if r.Turn != nil {
				s.Head = r.Turn.Seq
			}
		}
		return tx.Log().UpdateSession(ctx, s)
	})
	i.piece, i.size = i.piece[:0], 0
	return err
}

// finish has the session appear, if it is sound. One that came in pieces is looked at before the last of them, so that nobody waits for it.
func (i *imported) finish(ctx context.Context) error {
	calls := i.calls.waiting()
	if i.pieces.staged == (turn.Key{}) {
		return i.pieces.Write(ctx, true, func(tx store.Tx, s turn.SessionInfo) error {
			if err := i.records(ctx, tx, s, slices.Concat(i.piece, i.last), calls); err != nil {
				return err
			}
			if err := i.remind(ctx); err != nil {
				return err
			}
			return sound(ctx, tx, s)
		})
	}
	if err := i.write(ctx, calls...); err != nil {
		return err
	}
	err := i.pieces.store.View(ctx, func(tx store.Tx) error {
		s, err := tx.Log().Session(ctx, i.pieces.staged)
		if err != nil {
			return err
		}
		return sound(ctx, tx, s)
	})
	if err != nil {
		return err
	}
	return i.pieces.Write(ctx, true, func(tx store.Tx, s turn.SessionInfo) error {
		if err := i.records(ctx, tx, s, i.last, nil); err != nil {
			return err
		}
		return i.remind(ctx)
	})
}

func (i *imported) remind(ctx context.Context) error {
	for _, r := range i.reminders {
		if err := cortex.Remind(ctx, i.tx.Cortex(), i.session.Tenant, i.session.Segment, r); err != nil {
			return err
		}
	}
	return nil
}

// records writes some of the bundle in an update, which may run more than once.
func (i *imported) records(ctx context.Context, tx store.Tx, s turn.SessionInfo, records []Record, calls []turn.OpenCall) error {
	i.tx, i.log, i.session.Segment = tx, tx.Log(), s.Segment
	i.blob, i.flows, i.items, i.traced = turn.Blob{}, nil, nil, ""
	for _, r := range records {
		if err := i.record(ctx, r); err != nil {
			return err
		}
	}
	for _, c := range calls {
		if err := i.log.InsertOpenCall(ctx, s.Tenant, s.Segment, c); err != nil {
			return fmt.Errorf("open call %q: %w", c.ID, err)
		}
	}
	if err := i.flushFlows(ctx); err != nil {
		return err
	}
	return i.flushItems(ctx)
}

func insertSession(ctx context.Context, tx store.Tx, s turn.SessionInfo) (_ turn.SessionInfo, err error) {
	s.Segment, err = tx.Log().InsertSession(ctx, s)
	return s, err
}

func (i *imported) record(ctx context.Context, r Record) error {
	tenant, segment := i.session.Tenant, i.session.Segment
	switch {
	case r.Blob != nil:
		i.blob = *r.Blob
	case r.Turn != nil:
		return i.turn(ctx, r.Turn)
	case r.Revision != nil:
		if err := i.tx.Dialogue().InsertRevision(ctx, tenant, segment, *r.Revision); err != nil {
			return fmt.Errorf("revision %d: %w", r.Revision.Number, err)
		}
	case r.FlowTurn != nil:
		return i.flowTurn(ctx, r.FlowTurn)
	case r.CompletedFlow != nil:
		if err := i.log.InsertCompletedFlow(ctx, tenant, segment, r.CompletedFlow.ID, r.CompletedFlow.AfterSeq); err != nil {
			return fmt.Errorf("completed flow %q: %w", r.CompletedFlow.ID, err)
		}
	case r.Bookmark != nil:
		if err := i.log.InsertBookmark(ctx, i.session.Key, *r.Bookmark); err != nil {
			return fmt.Errorf("bookmark %q: %w", r.Bookmark.Name, err)
		}
	case r.Intention != nil:
		return i.intention(ctx, r.Intention)
	case r.Observation != nil:
		return i.observation(ctx, r.Observation)
	case r.MemoryItem != nil:
		return i.memoryItem(ctx, r.MemoryItem)
	case r.Digest != nil:
		return i.digest(ctx, r.Digest)
	case r.TracePart != nil:
		return i.tracePart(ctx, r.TracePart)
	case r.Material != nil:
		return i.material(ctx, r.Material)
	case r.Settings != nil:
		return i.material(ctx, r.Settings)
	case r.Checkpoint != nil:
		return i.checkpoint(ctx, r.Checkpoint)
	case r.Epoch != nil:
		return i.epoch(ctx, r.Epoch)
	case r.Pin != nil:
		return i.pin(ctx, r.Pin)
	case r.Prompt != nil:
		return i.prompt(ctx, r.Prompt)
	case r.Breaker != nil:
		return i.breaker(ctx, r.Breaker)
	case r.Snapshot != nil:
		return i.snapshot(ctx, r.Snapshot)
	}
	return nil
}

func (i *imported) turn(ctx context.Context, t *turn.Turn) error {
	i.content = turn.AppendContent(i.content[:0], t.Content)
	err := i.log.InsertTurns(ctx, i.session.Tenant, i.session.Segment, turn.Row{Turn: *t, Encoded: turn.EncodedAs(string(i.content))})
	if errors.Is(err, turn.ErrConflict) {
		return fmt.Errorf("%w: turn %d: its turn_id or idempotency_key stands twice: %w", ErrDamaged, t.Seq, turn.ErrConflict)
	}
	if err != nil {
		return err
	}
	b, ok := turn.BlobOf(t.Content)
	if !ok {
		return nil
	}
	b.Data, i.blob = i.blob.Data, turn.Blob{}
	if err := i.log.PutBlob(ctx, i.session.Tenant, b, i.tx.Now(), i.session.Segment, t.Seq); err != nil {
		return fmt.Errorf("turn %d: blob %s: %w", t.Seq, b.SHA256, err)
	}
	return nil
}

// flowTurn collects the pointers of one turn, which are written together.
func (i *imported) flowTurn(ctx context.Context, p *dialogue.PointerRow) error {
	if p.Seq != i.flowSeq {
		if err := i.flushFlows(ctx); err != nil {
			return err
		}
	}
	i.flows, i.flowSeq = append(i.flows, p.Pointer), p.Seq
	return nil
}

func (i *imported) flushFlows(ctx context.Context) error {
	if len(i.flows) == 0 {
		return nil
	}
	if err := i.tx.Dialogue().InsertFlowTurns(ctx, i.session.Tenant, i.session.Segment, i.flowSeq, i.flows); err != nil {
		return fmt.Errorf("flows of turn %d: %w", i.flowSeq, err)
	}
	i.flows = i.flows[:0]
	return nil
}
