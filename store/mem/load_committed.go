package mem

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func (l *loader) intention(ctx context.Context, v *values) error {
	tenant, segment := v.text(), v.int()
	r := cortex.Row{Kind: cortex.Kind(v.text()), ID: v.text(), Version: v.int(), AfterSeq: v.int(), Live: v.int() != 0}
	r.Doc, r.Change, r.At = v.text(), v.text(), micros(v.int())
	return cortexRows{l.tx}.InsertVersion(ctx, tenant, segment, r)
}

// reminders has what may be a reminder that was sent looked at once, in every session that sees it.
func (l *loader) reminders(ctx context.Context) error {
	rows := cortexRows{l.tx}
	for _, info := range l.tx.data.sessions {
		newest, err := rows.Newest(ctx, info.Tenant, info.Lineage(info.Head), true)
		if err != nil {
			return err
		}
		for _, r := range newest {
			if r.Kind == cortex.KindAction && strings.Contains(r.Doc, `"sent"`) {
				l.tx.data.reminders[reminderKey{segmentKey{info.Tenant, info.Segment}, r.ID}] = micros(0)
			}
		}
	}
	return nil
}

func (l *loader) observation(_ context.Context, v *values) error {
	s := l.tx.segment(v.text(), v.int())
	r := scratch.Row{ID: v.text(), Type: v.text(), Status: scratch.Status(v.text()), Doc: v.text(), At: micros(v.int()), Expires: micros(v.int())}
	return once(s.observations, r.ID, r)
}

func (l *loader) item(ctx context.Context, v *values) error {
	r := memory.Row{Tenant: v.text(), ID: v.text(), Segment: v.int(), Session: v.text(), User: v.text()}
	r.Type, r.Importance, r.Created = memory.Type(v.text()), v.int(), micros(v.int())
	r.Expires, r.Archived = v.time(), v.time()
	r.Text, r.Data, r.About = v.text(), v.text(), v.text()
	added, err := memoryRows{l.tx}.InsertItems(ctx, []memory.Row{r})
	if err == nil && added == 0 {
		err = fmt.Errorf("item %s: %w", r.ID, turn.ErrConflict)
	}
	return err
}

func (l *loader) digest(_ context.Context, v *values) error {
	key := segmentKey{v.text(), v.int()}
	return once(l.tx.data.digests, key, memory.DigestRow{ThroughSeq: v.int(), Doc: v.text(), At: micros(v.int())})
}

// export loads an export; the published ones are brought into their order at the end.
func (l *loader) export(ctx context.Context, v *values) error {
	e := event.Export{Tenant: v.text(), ID: v.text(), Session: v.text(), Segment: v.int(), TurnID: v.text()}
	e.First, e.Last, e.Status, e.Body, e.At, e.Sent = v.int(), v.int(), v.text(), v.text(), micros(v.int()), v.int()
	if err := (outboxRows{l.tx}).InsertExport(ctx, e); err != nil {
		return fmt.Errorf("export %s: %w", e.ID, err)
	}
	if e.Sent != 0 {
		d, key := l.tx.data, rowKey{e.Tenant, e.ID}
		if at := v.time(); !at.IsZero() {
			d.sentAt[key] = at
		}
		d.exports[key] = e
		delete(d.waiting, key)
		d.published = append(d.published, key)
		d.publishedOf[e.Tenant] = append(d.publishedOf[e.Tenant], key)
	}
	return nil
}

func (l *loader) deferral(_ context.Context, v *values) error {
	d := event.Deferral{Tenant: v.text(), ExportID: v.text(), Target: v.text(), Session: v.text(), Payload: v.text()}
	d.Tries, d.Next, d.Error, d.At, d.Escalated = int(v.int()), micros(v.int()), v.text(), micros(v.int()), v.time()
	return once(l.tx.data.deferrals, deferralKey{d.Tenant, d.ExportID, d.Target}, d)
}

func (l *loader) event(_ context.Context, v *values) error {
	e := event.Event{Tenant: v.text(), ID: v.text(), Session: v.text(), Kind: event.Kind(v.text()), TurnID: v.text()}
	e.Data, e.At, e.Place = v.text(), micros(v.int()), v.int()
	l.tx.data.places[e.Tenant] = max(l.tx.data.places[e.Tenant], e.Place)
	return once(l.tx.data.events, rowKey{e.Tenant, e.ID}, e)
}

func (l *loader) mark(_ context.Context, v *values) error {
	if tenant := v.text(); tenant != "" {
		return fmt.Errorf("tenant %s: a daemon's mark belongs to no tenant", tenant)
	}
	m := event.Mark{Daemon: v.text(), Through: v.int(), Holder: v.text(), Until: v.time()}
	return once(l.tx.data.marks, m.Daemon, m)
}

func (l *loader) bus(_ context.Context, v *values) error {
	if tenant := v.text(); tenant != "" {
		return fmt.Errorf("tenant %s: the bus belongs to no tenant", tenant)
	}
	if l.tx.data.bus != "" {
		return turn.ErrConflict
	}
	l.tx.data.bus = v.text()
	return nil
}

func (l *loader) letter(_ context.Context, v *values) error {
	r := event.Letter{Tenant: v.text(), Daemon: v.text(), ExportID: v.text(), Session: v.text(), TurnID: v.text()}
	r.Tries, r.Error, r.At = int(v.int()), v.text(), micros(v.int())
	return once(l.tx.data.letters, letterKey{r.Tenant, r.Daemon, r.ExportID}, r)
}

func (l *loader) part(_ context.Context, v *values) error {
	tenant := v.text()
	p := trace.Part{TurnID: v.text(), ID: v.text(), Segment: v.int(), At: micros(v.int()), Body: v.text()}
	return once(l.tx.data.parts, partKey{tenant, p.TurnID, p.ID}, p)
}

// once sets a key of a table that has none of it.
func once[K comparable, V any](table map[K]V, key K, value V) error {
	if _, taken := table[key]; taken {
		return fmt.Errorf("key %v: %w", key, turn.ErrConflict)
	}
	table[key] = value
	return nil
}

// time reads a time that there need not be.
func (v *values) time() time.Time {
	if us, ok := next[any](v).(int64); ok {
		return micros(us)
	}
	return time.Time{}
}
