package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// benchRelay: exports that wait in an outbox on SQLite go through the relay, are put together from log and
// memory, and reach a daemon.
func benchRelay(ctx context.Context, b *bench) error {
	const sessions, waiting = 64, 12_800
	rate, err := b.fastest(func() (float64, error) {
		path := b.file("relay.db")
		if err := fillOutbox(ctx, path, sessions, waiting); err != nil {
			return 0, err
		}
		return drainOutbox(ctx, path, waiting)
	})
	if err != nil {
		return err
	}
	b.atLeast(20_000, Line{Name: "relay and one daemon in the process, SQLite", Ours: rate, Unit: "exports/s", Against: "absolute, best of rounds"})
	return benchNATS(ctx, b)
}

// fastest runs a measurement and returns the largest result.
func (b *bench) fastest(measure func() (float64, error)) (float64, error) {
	slowest, err := b.best(func() (float64, error) {
		x, err := measure()
		return -x, err
	})
	return -slowest, err
}

// fillOutbox commits exchanges without an engine, so that nobody publishes them.
func fillOutbox(ctx context.Context, path string, sessions, exchanges int) (err error) {
	st, err := sqlite.Open(ctx, path, sqlite.Config{Synchronous: sqlite.Normal})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, st.Close()) }()
	source := ids.New(nil)
	p, err := commit.New(ctx, st, commit.Config{NewID: func() string { return source.Next(time.Now()) }, Clock: time.Now})
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, p.Close(ctx)) }()
	for i := range sessions {
		err := st.Update(ctx, func(tx store.Tx) error {
			_, err := tx.Log().InsertSession(ctx, turn.SessionInfo{
				Key: turn.Key{Tenant: turn.DefaultTenant, Session: fmt.Sprint("s", i)}, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now(),
			})
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err = throughput(sessions, exchanges/sessions, func(i int) error {
		key := turn.Key{Tenant: turn.DefaultTenant, Session: fmt.Sprint("s", i)}
		_, err := p.Commit(ctx, key, commit.Exchange{
			Turns:      []turn.Draft{userText("What does the next step cost?"), {Role: turn.Agent, Content: turn.Text{Text: vocabulary[i] + " costs what it costs, as agreed."}}},
			Candidates: []memory.Candidate{{Type: memory.UserData, Text: "asks about costs", Source: memory.FromUser}},
		})
		return err
	})
	return err
}

// drainOutbox opens an engine on the outbox and returns how fast a daemon gets all that waits there.
func drainOutbox(ctx context.Context, path string, waiting int) (rate float64, err error) {
	st, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return 0, err
	}
	eng, err := turnstone.Open(ctx, st, turnstone.Config{})
	if err != nil {
		return 0, err
	}
	defer func() { err = firstError(err, eng.Close()) }()
	var handled atomic.Int64
	all := make(chan struct{})
	start := time.Now()
	_, err = eng.Subscribe(ctx, "bench", func(_ context.Context, m event.Message) (int, error) {
		if len(m.Body) == 0 {
			return 0, errors.New("an export without a body")
		}
		if handled.Add(1) == int64(waiting) {
			close(all)
		}
		return 1, nil
	}, bus.Options{})
	if err != nil {
		return 0, err
	}
	select {
	case <-all:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	return float64(waiting) / time.Since(start).Seconds(), nil
}

// sameBody gives every export the same body.
type sameBody []byte

func (s sameBody) Messages(_ context.Context, exports []event.Export) ([]event.Message, error) {
	messages := make([]event.Message, len(exports))
	for i, e := range exports {
		messages[i] = event.Message{Tenant: e.Tenant, Session: e.Session, ID: e.ID, TurnID: e.TurnID, Body: s}
	}
	return messages, nil
}

// benchNATS: a relay's batches through natsbus, and the same bytes, subjects, headers and acknowledgements
// through the bare client, in turns, on one server.
func benchNATS(ctx context.Context, b *bench) error {
	const batch, batches = 512, 40
	s, err := server.NewServer(&server.Options{JetStream: true, StoreDir: b.file("nats"), DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		return err
	}
	s.Start()
	defer func() {
		s.Shutdown()
		s.WaitForShutdown()
	}()
	if !s.ReadyForConnections(10 * time.Second) {
		return errors.New("the NATS server does not come up")
	}
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		return err
	}
	defer nc.Close()
	body := sameBody(newProse(9).text(6 << 10))
	queue, err := natsbus.New(ctx, nc, body, nil, natsbus.Config{})
	if err != nil {
		return err
	}
	defer queue.Close()
	js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(batch))
	if err != nil {
		return err
	}
	if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare.export.*.*"}}); err != nil {
		return err
	}
	n := 0
	run := func(publish func([]event.Export) error) func() (float64, error) {
		return func() (float64, error) {
			start := time.Now()
			for range batches {
				exports := make([]event.Export, batch)
				for i := range exports {
					n++
					id := fmt.Sprintf("%026d", n)
					exports[i] = event.Export{Tenant: "default", Session: fmt.Sprint("s", i%64), ID: id, TurnID: id}
				}
				if err := publish(exports); err != nil {
					return 0, err
				}
			}
			return batch * batches / time.Since(start).Seconds(), nil
		}
	}
	m, err := b.interleave(
		run(func(exports []event.Export) error {
			_, err := queue.Publish(ctx, exports)
			return err
		}),
		run(func(exports []event.Export) error { return publishBare(js, exports, body) }),
	)
	if err != nil {
		return err
	}
	b.atLeast(0.5, Line{Name: "publish 6 KB exports through NATS JetStream", Ours: m[0], Baseline: m[1], Unit: "exports/s", Against: "the bare client with the same acknowledgements"})
	return nil
}

func publishBare(js jetstream.JetStream, exports []event.Export, body []byte) error {
	acks := make([]jetstream.PubAckFuture, len(exports))
	for i, e := range exports {
		ack, err := js.PublishMsgAsync(&nats.Msg{
			Subject: "bare.export." + e.Tenant + "." + e.Session,
			Header:  nats.Header{nats.MsgIdHdr: {e.Tenant + "/" + e.ID}, natsbus.HeaderExport: {e.ID}, natsbus.HeaderTurn: {e.TurnID}},
			Data:    body,
		})
		if err != nil {
			return err
		}
		acks[i] = ack
	}
	for _, ack := range acks {
		select {
		case <-ack.Ok():
		case err := <-ack.Err():
			return err
		}
	}
	return nil
}
