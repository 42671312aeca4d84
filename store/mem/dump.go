package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Dump implements [store.Store]. Writers do not wait for it.
func (s *Store) Dump(ctx context.Context, yield func(store.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	snap, closed := s.data.state(), s.closed
	s.mu.RUnlock()
	if closed {
		return store.ErrClosed
	}
	for _, table := range store.Schema {
		err := dumpers[table.Name](snap, func(values ...any) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return yield(store.Row{Table: table.Name, Values: values})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dumpers hands out the rows of each table of the schema, in the order of its key.
var dumpers = map[string]func(s *state, row func(...any) error) error{
	"sessions":        dumpSessions,
	"spans":           dumpSpans,
	"bookmarks":       dumpBookmarks,
	"leases":          dumpLeases,
	"turns":           dumpTurns,
	"open_calls":      dumpOpenCalls,
	"completed_flows": dumpCompletedFlows,
	"blobs":           dumpBlobs,
	"blob_refs":       dumpBlobRefs,
	"revisions":       dumpRevisions,
	"flow_turns":      dumpFlowTurns,
	"intentions":      dumpIntentions,
	"observations":    dumpObservations,
	"memory_items":    dumpItems,
	"digests":         dumpDigests,
	"exports":         dumpExports,
	"deferrals":       dumpDeferrals,
	"events":          dumpEvents,
	"daemons":         dumpMarks,
	"dead_letters":    dumpLetters,
	"trace_parts":     dumpParts,
	"epochs":          dumpEpochs,
	"prompts":         dumpPrompts,
	"pins":            dumpPins,
	"materials":       dumpMaterials,
	"calibrations":    dumpCalibrations,
	"checkpoints":     dumpCheckpoints,
	"breakers":        dumpBreakers,
	"snapshots":       dumpSnapshots,
	"drafts":          dumpDrafts,
	"access_keys":     dumpKeys,
	"chain_links":     dumpLinks,
	"buses":           dumpBus,
}

func dumpSessions(s *state, row func(...any) error) error {
	return each(s.sessions, func(i turn.SessionInfo) error {
		return row(i.Tenant, i.Session, i.Segment, i.User, i.Title, i.Model, i.Mode, string(i.Status),
			orNil(i.Parent), i.ForkSeq, i.Head, i.CreatedAt.UnixMicro(), i.LastActivity.UnixMicro(), orNil(i.Files))
	})
}

func dumpSpans(s *state, row func(...any) error) error {
	heirs := slices.Clone(s.sessions)
	slices.SortFunc(heirs, func(a, b turn.SessionInfo) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Segment, b.Segment))
	})
	return each(heirs, func(i turn.SessionInfo) error {
		for position, in := range i.Inherited {
			if err := row(i.Tenant, i.Segment, int64(position), in.Segment, in.From, in.To); err != nil {
				return err
			}
		}
		return nil
	})
}

func dumpBookmarks(s *state, row func(...any) error) error {
	return each(s.sessions, func(i turn.SessionInfo) error {
		return each(s.bookmarks[i.Key], func(b turn.Bookmark) error {
			return row(i.Tenant, i.Session, b.Name, b.Seq, b.At.UnixMicro())
		})
	})
}

func dumpLeases(s *state, row func(...any) error) error {
	return each(s.sessions, func(i turn.SessionInfo) error {
		l, held := s.leases[i.Key]
		if !held {
			return nil
		}
		return row(i.Tenant, i.Session, l.Token, l.Until.UnixMicro())
	})
}

func dumpTurns(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		return each(s.segments[k].turns, func(t storedTurn) error {
			kind := string(t.Kind)
			if t.Kind == turn.KindTurn {
				kind = ""
			}
			var meta any
			if t.Meta != (turn.Meta{}) {
				meta = string(t.Meta.AppendJSON(nil))
			}
			return row(k.tenant, k.segment, t.Seq, t.ID, string(t.Role), string(t.Form), orNil(kind), t.content,
				t.CreatedAt.UnixMicro(), orNil(t.Unit), orNil(t.MessageID), orNil(t.IdempotencyKey),
				orNil(t.Covers.From), orNil(t.Covers.To), meta)
		})
	})
}

func dumpOpenCalls(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		calls := slices.SortedFunc(slices.Values(s.segments[k].calls), func(a, b openCall) int { return cmp.Compare(a.ID, b.ID) })
		return each(calls, func(c openCall) error {
			return row(k.tenant, k.segment, c.ID, c.Name, c.Unit, c.position)
		})
	})
}

func dumpCompletedFlows(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		var flows []notedFlow
		for position, f := range s.segments[k].flows {
			flows = append(flows, notedFlow{f, int64(position)})
		}
		slices.SortFunc(flows, func(a, b notedFlow) int { return cmp.Compare(a.ID, b.ID) })
		return each(flows, func(f notedFlow) error {
			return row(k.tenant, k.segment, f.ID, f.AfterSeq, f.position)
		})
	})
}

// notedFlow is a row of completed_flows.
type notedFlow struct {
	turn.CompletedFlow
	position int64
}

func dumpBlobs(s *state, row func(...any) error) error {
	return each(s.hashes, func(k blobKey) error {
		b := s.blobs[k]
		return row(k.tenant, k.sha256, int64(len(b.data)), slices.Clone(b.data), b.wanted.UnixMicro())
	})
}

func dumpBlobRefs(s *state, row func(...any) error) error {
	return each(s.hashes, func(k blobKey) error {
		return each(s.blobs[k].refs, func(p place) error { return row(k.tenant, k.sha256, p.segment, p.seq) })
	})
}

func dumpRevisions(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		for _, r := range s.segments[k].revisions {
			if err := row(k.tenant, k.segment, r.Number, r.AfterSeq, r.State, r.At.UnixMicro()); err != nil {
				return err
			}
		}
		return nil
	})
}

func dumpFlowTurns(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		g := s.segments[k]
		return each(g.flowTurns(), func(p flowTurn) error {
			return row(k.tenant, k.segment, p.FlowID, p.TurnID, p.seq)
		})
	})
}

func each[V any](list []V, f func(V) error) error {
	for _, v := range list {
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// orNil is how an empty value is stored where the column may be null.
func orNil[V comparable](v V) any {
	var zero V
	if v == zero {
		return nil
	}
	return v
}

func micros(us int64) time.Time { return time.UnixMicro(us).UTC() }
