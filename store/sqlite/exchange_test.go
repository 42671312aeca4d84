package sqlite_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// exchange is what one turn commit writes.
type exchange struct {
	turns        []turn.Sealed
	items        []memory.Row
	goal         cortex.Row
	observations []scratch.Row
	digest       memory.DigestRow
	export       event.Export
	part         trace.Part
	size         int // bytes of user data
}

// exchanges makes what a session commits, one exchange after the other.
type exchanges struct {
	info    turn.SessionInfo
	random  *rand.Rand
	version int64
}

func newExchanges(info turn.SessionInfo, seed uint64) *exchanges {
	return &exchanges{info: info, random: rand.New(rand.NewPCG(seed, 7))}
}

func (x *exchanges) json(size int) string { return `{"text":"` + prose(x.random, size) + `"}` }

func (x *exchanges) next(tb testing.TB) exchange {
	now := time.Now().UTC().Truncate(time.Microsecond)
	x.version++
	var e exchange
	for i, size := range []int{600, 3000, 1800} {
		role := []turn.Role{turn.User, turn.System, turn.Agent}[i]
		sealed, err := seal(role, turn.Text{Text: prose(x.random, size)})
		if err != nil {
			tb.Fatal(err)
		}
		e.turns = append(e.turns, sealed)
		e.size += size
	}
	days := []time.Duration{1, 7, 30}
	types := []memory.Type{memory.ToolResult, memory.Observation, memory.Error}
	for i := range 5 {
		e.items = append(e.items, memory.Row{
			Tenant: x.info.Tenant, ID: newID(), Segment: x.info.Segment, Session: x.info.Session, User: "ana",
			Type: types[i%3], Importance: x.random.Int64N(1_000_000), Created: now, Expires: now.Add(days[i%3] * 24 * time.Hour),
			Text: prose(x.random, 250), Data: x.json(2500), About: `{"tags":["trip","city"],"turns":["` + newID() + `"]}`,
		})
		e.size += 250 + 2500 + 60
	}
	e.goal = cortex.Row{Kind: cortex.KindGoal, ID: x.info.Session + "-goal", Version: x.version, Live: true, Doc: x.json(700), Change: x.json(150), At: now}
	for range 2 {
		e.observations = append(e.observations, scratch.Row{
			ID: newID(), Type: "note", Status: scratch.Active, Doc: x.json(350), At: now, Expires: now.Add(24 * time.Hour),
		})
	}
	e.digest = memory.DigestRow{Doc: x.json(1200), At: now}
	e.export = event.Export{
		Tenant: x.info.Tenant, Session: x.info.Session, Segment: x.info.Segment, ID: newID(), TurnID: newID(),
		Status: "complete", Body: x.json(2000), At: now,
	}
	e.part = trace.Part{TurnID: e.export.TurnID, Segment: x.info.Segment, ID: newID(), At: now, Body: x.json(1200)}
	e.size += 700 + 150 + 2*350 + 1200 + 2000 + 1200
	return e
}

// commitExchange writes an exchange as the pipeline does: a savepoint for each target.
func commitExchange(ctx context.Context, s store.Store, info turn.SessionInfo, e exchange) error {
	return s.Update(ctx, func(tx store.Tx) error {
		err := tx.Savepoint(ctx, func() error {
			if _, err := turn.Append(ctx, tx.Log(), info.Key, tx.Now(), e.turns...); err != nil {
				return err
			}
			return tx.Memory().PutDigest(ctx, info.Tenant, info.Segment, e.digest)
		})
		if err != nil {
			return err
		}
		err = tx.Savepoint(ctx, func() error {
			_, err := tx.Memory().InsertItems(ctx, e.items)
			return err
		})
		if err != nil {
			return err
		}
		err = tx.Savepoint(ctx, func() error { return tx.Cortex().InsertVersion(ctx, info.Tenant, info.Segment, e.goal) })
		if err != nil {
			return err
		}
		err = tx.Savepoint(ctx, func() error {
			for _, o := range e.observations {
				if err := tx.Scratch().PutObservation(ctx, info.Tenant, info.Segment, o); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := tx.Outbox().InsertExport(ctx, e.export); err != nil {
			return err
		}
		return tx.Trace().InsertParts(ctx, info.Tenant, e.part)
	})
}
