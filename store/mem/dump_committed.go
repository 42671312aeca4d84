package mem

import (
	"cmp"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
)

func dumpIntentions(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		intentions := s.segments[k].intentions
		return each(inOrder(intentions, compareIntentions), func(i intentionKey) error {
			return each(intentions[i], func(v cortex.Row) error {
				live := int64(0)
				if v.Live {
					live = 1
				}
				return row(k.tenant, k.segment, string(v.Kind), v.ID, v.Version, v.AfterSeq, live, v.Doc, v.Change, v.At.UnixMicro())
			})
		})
	})
}

func dumpObservations(s *state, row func(...any) error) error {
	return each(s.numbers, func(k segmentKey) error {
		observations := s.segments[k].observations
		return each(inOrder(observations, cmp.Compare[string]), func(id string) error {
			o := observations[id]
			return row(k.tenant, k.segment, o.ID, o.Type, string(o.Status), o.Doc, o.At.UnixMicro(), o.Expires.UnixMicro())
		})
	})
}

func dumpItems(s *state, row func(...any) error) error {
	return each(inOrder(s.items, compareRowKeys), func(k rowKey) error {
		i := s.items[k]
		return row(i.Tenant, i.ID, i.Segment, i.Session, i.User, string(i.Type), i.Importance, i.Created.UnixMicro(),
			timeOrNil(i.Expires), timeOrNil(i.Archived), i.Text, orNil(i.Data), i.About)
	})
}

func dumpDigests(s *state, row func(...any) error) error {
	return each(inOrder(s.digests, compareSegments), func(k segmentKey) error {
		d := s.digests[k]
		return row(k.tenant, k.segment, d.ThroughSeq, d.Doc, d.At.UnixMicro())
	})
}

func dumpExports(s *state, row func(...any) error) error {
	return each(inOrder(s.exports, compareRowKeys), func(k rowKey) error {
		e := s.exports[k]
		return row(e.Tenant, e.ID, e.Session, e.Segment, e.TurnID, e.First, e.Last, e.Status, e.Body, e.At.UnixMicro(), orNil(e.Sent), timeOrNil(s.sentAt[k]))
	})
}

func dumpDeferrals(s *state, row func(...any) error) error {
	return each(inOrder(s.deferrals, compareDeferrals), func(k deferralKey) error {
		d := s.deferrals[k]
		return row(d.Tenant, d.ExportID, d.Target, d.Session, d.Payload, int64(d.Tries), d.Next.UnixMicro(), d.Error,
			d.At.UnixMicro(), timeOrNil(d.Escalated))
	})
}

func dumpEvents(s *state, row func(...any) error) error {
	return each(inOrder(s.events, compareRowKeys), func(k rowKey) error {
		e := s.events[k]
		return row(e.Tenant, e.ID, e.Session, string(e.Kind), orNil(e.TurnID), e.Data, e.At.UnixMicro(), orNil(e.Place))
	})
}

// dumpMarks hands out marks as rows of no tenant: a daemon receives the exports of all of them.
func dumpMarks(s *state, row func(...any) error) error {
	return each(inOrder(s.marks, cmp.Compare[string]), func(name string) error {
		m := s.marks[name]
		return row("", m.Daemon, m.Through, orNil(m.Holder), timeOrNil(m.Until))
	})
}

// dumpBus hands out which bus publishes as a row of no tenant, none for the one inside the process.
func dumpBus(s *state, row func(...any) error) error {
	if s.bus == "" {
		return nil
	}
	return row("", s.bus)
}

func dumpLetters(s *state, row func(...any) error) error {
	return each(inOrder(s.letters, compareLetters), func(k letterKey) error {
		l := s.letters[k]
		return row(l.Tenant, l.Daemon, l.ExportID, l.Session, l.TurnID, int64(l.Tries), l.Error, l.At.UnixMicro())
	})
}

func dumpParts(s *state, row func(...any) error) error {
	return each(inOrder(s.parts, compareParts), func(k partKey) error {
		p := s.parts[k]
		return row(k.tenant, p.TurnID, p.ID, p.Segment, p.At.UnixMicro(), p.Body)
	})
}

// timeOrNil is how a time is stored that there need not be.
func timeOrNil(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}
