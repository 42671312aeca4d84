package mem

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Load implements [store.Store]. The rows are read into a store of their own first, so that
// nobody waits and nothing is there before everything is.
func (s *Store) Load(ctx context.Context, rows iter.Seq2[store.Row, error]) error {
	if err := s.loadable(ctx); err != nil {
		return err
	}
	l := newLoader()
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := l.row(ctx, row); err != nil {
			return fmt.Errorf("load a row of %s: %w", row.Table, err)
		}
		l.tx.undo = nil // a load that goes wrong is dropped whole
	}
	l.sort()
	if err := l.reminders(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.loadableLocked(ctx); err != nil {
		return err
	}
	s.data = l.tx.data
	return nil
}

func (s *Store) loadable(ctx context.Context) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.loadableLocked(ctx)
}

func (s *Store) loadableLocked(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.closed {
		return store.ErrClosed
	}
	if len(s.data.sessions) > 0 {
		return store.ErrNotEmpty
	}
	return nil
}

// loader fills a store from rows.
type loader struct {
	tx    *tx
	heirs map[segmentKey]turn.Key // which session owns a segment
	flows map[*segment][]notedFlow
}

// loaders reads a row of each table of the schema.
var loaders = map[string]func(*loader, context.Context, *values) error{
	"sessions":        (*loader).session,
	"spans":           (*loader).span,
	"bookmarks":       (*loader).bookmark,
	"leases":          (*loader).lease,
	"turns":           (*loader).turn,
	"open_calls":      (*loader).openCall,
	"completed_flows": (*loader).completedFlow,
	"blobs":           (*loader).blob,
	"blob_refs":       (*loader).blobRef,
	"revisions":       (*loader).revision,
	"flow_turns":      (*loader).flowTurn,
	"intentions":      (*loader).intention,
	"observations":    (*loader).observation,
	"memory_items":    (*loader).item,
	"digests":         (*loader).digest,
	"exports":         (*loader).export,
	"deferrals":       (*loader).deferral,
	"events":          (*loader).event,
	"daemons":         (*loader).mark,
	"dead_letters":    (*loader).letter,
	"trace_parts":     (*loader).part,
	"epochs":          (*loader).epoch,
	"prompts":         (*loader).prompt,
	"pins":            (*loader).pin,
	"materials":       (*loader).material,
	"calibrations":    (*loader).calibration,
	"checkpoints":     (*loader).checkpoint,
	"breakers":        (*loader).breaker,
	"snapshots":       (*loader).snapshot,
	"drafts":          (*loader).draft,
	"access_keys":     (*loader).key,
	"chain_links":     (*loader).link,
	"buses":           (*loader).bus,
}

func (l *loader) row(ctx context.Context, row store.Row) error {
	i := slices.IndexFunc(store.Schema, func(t store.Table) bool { return t.Name == row.Table })
	if i < 0 {
		return fmt.Errorf("there is no such table")
	}
	v := &values{table: &store.Schema[i]}
	var err error
	if v.left, err = v.table.Complete(row.Values); err != nil {
		return err
	}
	if err := v.check(); err != nil {
		return err
	}
	return loaders[row.Table](l, ctx, v)
}

func (l *loader) session(_ context.Context, v *values) error {
	var s turn.SessionInfo
	s.Tenant, s.Session, s.Segment = v.text(), v.text(), v.int()
	s.User, s.Title, s.Model, s.Mode = v.text(), v.text(), v.text(), v.text()
	s.Status, s.Parent, s.ForkSeq, s.Head = turn.Status(v.text()), v.text(), v.int(), v.int()
	s.CreatedAt, s.LastActivity, s.Files = micros(v.int()), micros(v.int()), v.text()
	d := l.tx.data
	owned := segmentKey{s.Tenant, s.Segment}
	if _, taken := l.heirs[owned]; taken {
		return fmt.Errorf("segment %d: %w", s.Segment, turn.ErrConflict)
	}
	if _, taken := d.sessions[s.Key]; taken {
		return fmt.Errorf("session %s: %w", s.Session, turn.ErrExists)
	}
	l.heirs[owned] = s.Key
	d.sessions[s.Key] = s
	d.tenants[s.Tenant] = append(d.tenants[s.Tenant], s.Key)
	d.lastSegment = max(d.lastSegment, s.Segment)
	return nil
}

func (l *loader) span(_ context.Context, v *values) error {
	tenant, heir, position := v.text(), v.int(), v.int()
	key, ok := l.heirs[segmentKey{tenant, heir}]
	if !ok {
		return fmt.Errorf("segment %d: %w", heir, turn.ErrNotFound)
	}
	s := l.tx.data.sessions[key]
	if position != int64(len(s.Inherited)) {
		return fmt.Errorf("position %d of segment %d: %w", position, heir, turn.ErrConflict)
	}
	s.Inherited = append(s.Inherited, turn.Span{Segment: v.int(), From: v.int(), To: v.int()})
	l.tx.data.sessions[key] = s
	return nil
}

func (l *loader) bookmark(ctx context.Context, v *values) error {
	key := turn.Key{Tenant: v.text(), Session: v.text()}
	return logRows{l.tx}.InsertBookmark(ctx, key, turn.Bookmark{Name: v.text(), Seq: v.int(), At: micros(v.int())})
}

func (l *loader) lease(ctx context.Context, v *values) error {
	key := turn.Key{Tenant: v.text(), Session: v.text()}
	if _, taken := l.tx.data.leases[key]; taken {
		return fmt.Errorf("lease of %s: %w", key.Session, turn.ErrConflict)
	}
	return logRows{l.tx}.SetLease(ctx, key, turn.Lease{Token: v.text(), Until: micros(v.int())})
}

func (l *loader) turn(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	t := turn.Turn{Seq: v.int(), ID: v.text(), Role: turn.Role(v.text()), Form: turn.Form(v.text())}
	t.Kind = cmp.Or(turn.Kind(v.text()), turn.KindTurn)
	content := v.text()
	t.CreatedAt, t.Unit, t.MessageID, t.IdempotencyKey = micros(v.int()), v.int(), v.text(), v.text()
	t.Covers.From, t.Covers.To = v.int(), v.int()
	var err error
	if t.Content, err = turn.DecodeContent(t.Role, t.Form, content); err != nil {
		return fmt.Errorf("turn %d: %w", t.Seq, err)
	}
	if meta := v.text(); meta != "" {
		if t.Meta, err = turn.DecodeMeta(meta); err != nil {
			return fmt.Errorf("turn %d: %w", t.Seq, err)
		}
	}
	return logRows{l.tx}.InsertTurns(ctx, tenant, segment, turn.Row{Turn: t, Encoded: turn.EncodedAs(content)})
}

func (l *loader) openCall(_ context.Context, v *values) error {
	s := l.tx.segment(v.text(), v.int())
	c := openCall{turn.OpenCall{ID: v.text(), Name: v.text(), Unit: v.int()}, v.int()}
	if s.call(c.ID) >= 0 {
		return fmt.Errorf("call %s: %w", c.ID, turn.ErrConflict)
	}
	i, _ := slices.BinarySearchFunc(s.calls, c.position, func(c openCall, position int64) int { return cmp.Compare(c.position, position) })
	s.calls = insertAt(s.calls, i, c)
	return nil
}

func (l *loader) completedFlow(_ context.Context, v *values) error {
	s := l.tx.segment(v.text(), v.int())
	f := notedFlow{turn.CompletedFlow{ID: v.text(), AfterSeq: v.int()}, v.int()}
	if slices.ContainsFunc(l.flows[s], func(have notedFlow) bool { return have.ID == f.ID }) {
		return fmt.Errorf("flow %s: %w", f.ID, turn.ErrConflict)
	}
	l.flows[s] = append(l.flows[s], f)
	return nil
}

func (l *loader) blob(_ context.Context, v *values) error {
	key := blobKey{v.text(), v.text()}
	size, data, wanted := v.int(), v.bytes(), v.int()
	if size != int64(len(data)) {
		return fmt.Errorf("blob %s: %d bytes for a size of %d", key.sha256, len(data), size)
	}
	if _, taken := l.tx.data.blobs[key]; taken {
		return fmt.Errorf("blob %s: %w", key.sha256, turn.ErrConflict)
	}
	l.tx.data.blobs[key] = blob{data: slices.Clone(data), wanted: micros(wanted)}
	return nil
}

func (l *loader) blobRef(_ context.Context, v *values) error {
	key := blobKey{v.text(), v.text()}
	b, ok := l.tx.data.blobs[key]
	if !ok {
		return fmt.Errorf("blob %s: %w", key.sha256, turn.ErrNotFound)
	}
	ref := place{v.int(), v.int()}
	i, taken := findRef(b.refs, ref)
	if taken {
		return fmt.Errorf("reference to blob %s: %w", key.sha256, turn.ErrConflict)
	}
	b.refs = insertAt(b.refs, i, ref)
	l.tx.data.blobs[key] = b
	return nil
}

func (l *loader) revision(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	return dialogueRows{l.tx}.InsertRevision(ctx, tenant, segment, dialogue.RevisionRow{
		Number: v.int(), AfterSeq: v.int(), State: v.text(), At: micros(v.int()),
	})
}

func (l *loader) flowTurn(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	p := dialogue.Pointer{FlowID: v.text(), TurnID: v.text()}
	if _, taken := l.tx.segment(tenant, segment).pointed[p]; taken {
		return fmt.Errorf("turn %s of flow %s: %w", p.TurnID, p.FlowID, turn.ErrConflict)
	}
	return dialogueRows{l.tx}.InsertFlowTurns(ctx, tenant, segment, v.int(), []dialogue.Pointer{p})
}

// sort brings what came in the order of its key into the order in which it is kept.
func (l *loader) sort() {
	for _, keys := range l.tx.data.tenants {
		slices.SortFunc(keys, func(a, b turn.Key) int {
			return cmp.Compare(l.tx.data.sessions[a].Segment, l.tx.data.sessions[b].Segment)
		})
	}
	for s, flows := range l.flows {
		slices.SortFunc(flows, func(a, b notedFlow) int { return cmp.Compare(a.position, b.position) })
		for _, f := range flows {
			s.flows = append(s.flows, f.CompletedFlow)
		}
	}
	d := l.tx.data
	byNumber := func(a, b rowKey) int { return cmp.Compare(d.exports[a].Sent, d.exports[b].Sent) }
	slices.SortFunc(d.published, byNumber)
	for _, published := range d.publishedOf {
		slices.SortFunc(published, byNumber)
	}
}
