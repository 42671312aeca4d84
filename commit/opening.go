package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// mayOpen refuses an exchange that the turn does not open any more, since it was committed already, under another export id; one that
// is tried again is refused where that did not fail, or was not the last. Its turns so far are given before the
// update, where they are known. Who holds the lease knows why it tries again.
func (r *run) mayOpen(ctx context.Context, tx store.Tx, info turn.SessionInfo, st *standing, opened string, turns []turn.Turn) error {
	ex := &r.exchange
	if ex.Again && ex.Lease != "" {
		return nil
	}
	exports, err := tx.Outbox().ExportsOf(ctx, info.Tenant, opened)
	if err != nil {
		return err
	}
	var before *event.Export // the last one, if all failed
	for i := range exports {
		e := &exports[i]
		if (e.Segment == info.Segment || inheritedWhole(info, e, turns)) && (before == nil || State(before.Status) == Failed) {
			before = e
		}
	}
	if turns != nil {
		r.before = before // what a fork inherited does not change any more
	} else if before == nil {
		before = r.before
	}
	switch {
	case before == nil && ex.Again:
		return fmt.Errorf("no exchange that turn %s opened was committed yet: %w; leave again out", opened, turn.ErrConflict)
	case before == nil:
		return nil
	case ex.Again && State(before.Status) == Failed:
		return r.lastOfAll(ctx, tx, info, st, before)
	case before.Segment != info.Segment && State(before.Status) != Failed:
		return fmt.Errorf("the exchange that turn %s opened was committed already, in session %s, as export %s: %w; fork that session at turn %d to answer it anew",
			opened, before.Session, before.ID, turn.ErrConflict, turns[0].Seq)
	}
	return fmt.Errorf("the exchange that turn %s opened was committed already, as export %s: %w; %s", opened, before.ID, turn.ErrConflict, remedy(before))
}

// remedy is what to do about an exchange that was committed already.
func remedy(e *event.Export) string {
	if State(e.Status) == Failed {
		return "it failed: give again as true to answer it now"
	}
	return "try again under that export_id"
}

// inheritedWhole reports whether an export tells of turns that this session inherited, up to the end of the exchange: a fork that began before
// that may end it in another way.
func inheritedWhole(info turn.SessionInfo, e *event.Export, turns []turn.Turn) bool {
	return e.Last <= info.ForkSeq && inherited(info, e) && slices.ContainsFunc(turns, func(t turn.Turn) bool {
		return sums(&t) && t.Covers.From == turns[0].Seq && t.Seq <= info.ForkSeq
	})
}

// inherited reports whether an export is of a session that this one was forked from.
func inherited(info turn.SessionInfo, e *event.Export) bool {
	return slices.ContainsFunc(info.Inherited, func(s turn.Span) bool { return s.Segment == e.Segment })
}

// lastOfAll refuses to try an exchange again that failed, where somebody is at it or others were committed behind it: their turns would
// be told as its own.
func (r *run) lastOfAll(ctx context.Context, tx store.Tx, info turn.SessionInfo, st *standing, failed *event.Export) error {
	open, ok, err := tx.Log().Exchange(ctx, r.key)
	if err != nil {
		return err
	}
	if ok && open.Opened == r.openedBy {
		return fmt.Errorf("the exchange that turn %s opened is being answered, as export %s: %w; wait for its end", r.openedBy, open.ExportID, turn.ErrConflict)
	}
	since := func(what string) error {
		return fmt.Errorf("another exchange, %s, was committed since turn %s: %w; say it once more as a new turn", what, r.openedBy, turn.ErrConflict)
	}
	summaries, err := found(ctx, tx, info, turn.Query{Kind: turn.KindSummary, From: r.openedAt + 1, Limit: MaxTurns})
	if err != nil {
		return err
	}
	for i := range summaries {
		if s := &summaries[i]; sums(s) && s.Covers.From > r.openedAt {
			return since(fmt.Sprintf("of turns %d–%d", s.Covers.From, s.Covers.To))
		}
	}
	waiting, err := takenByWaiting(ctx, tx, info, st, r.openedBy)
	for _, e := range waiting {
		if e.At.After(failed.At) {
			return since("which waits to be written")
		}
	}
	return err
}
