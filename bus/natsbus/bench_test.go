package natsbus_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
)

// whole gives each export the same body.
type whole []byte

func (w whole) Messages(_ context.Context, exports []event.Export) ([]event.Message, error) {
	messages := make([]event.Message, len(exports))
	for i, e := range exports {
		messages[i] = event.Message{Tenant: e.Tenant, Session: e.Session, ID: e.ID, TurnID: e.TurnID, Body: w}
	}
	return messages, nil
}

// batch is how many exports a relay hands over at once.
const batch = 512

// BenchmarkNATS publishes exports of 64 sessions as a relay hands them over, and in turn with that, since
// machines are never equally busy, the same through the bare client: the same bytes, subjects and
// headers, the same acknowledgements, as many of them outstanding as a batch has.
func BenchmarkNATS(b *testing.B) {
	for _, size := range []int{200, 25 << 10} {
		body := whole(strings.Repeat("x", size))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			nc := connect(b, serve(b))
			queue, err := natsbus.New(b.Context(), nc, body, nil, natsbus.Config{})
			if err != nil {
				b.Fatal(err)
			}
			js, err := jetstream.New(nc, jetstream.WithPublishAsyncMaxPending(batch))
			if err != nil {
				b.Fatal(err)
			}
			_, err = js.CreateStream(b.Context(), jetstream.StreamConfig{Name: "BARE", Subjects: []string{"bare.export.*.*"}})
			if err != nil {
				b.Fatal(err)
			}
			var ours, theirs time.Duration
			for done := 0; done < b.N; done += batch {
				exports := some(done, min(batch, b.N-done))
				begin := time.Now()
				if _, err := queue.Publish(b.Context(), exports); err != nil {
					b.Fatal(err)
				}
				queue.Announce()
				ours += time.Since(begin)
				begin = time.Now()
				if err := bare(js, exports, body); err != nil {
					b.Fatal(err)
				}
				theirs += time.Since(begin)
			}
			b.ReportMetric(float64(b.N)/ours.Seconds(), "exports/s")
			b.ReportMetric(float64(b.N)/theirs.Seconds(), "bare/s")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "of-bare")
		})
	}
}

func some(from, n int) []event.Export {
	exports := make([]event.Export, n)
	for i := range exports {
		id := fmt.Sprintf("%026d", from+i)
		exports[i] = event.Export{Tenant: "tenant", Session: fmt.Sprint("s", i%64), ID: id, TurnID: id}
	}
	return exports
}

func bare(js jetstream.JetStream, exports []event.Export, body []byte) error {
	acks := make([]jetstream.PubAckFuture, len(exports))
	for i, e := range exports {
		ack, err := js.PublishMsgAsync(&nats.Msg{
			Subject: "bare.export." + e.Tenant + "." + e.Session,
			Header: nats.Header{
				nats.MsgIdHdr: {e.Tenant + "/" + e.ID}, natsbus.HeaderExport: {e.ID}, natsbus.HeaderTurn: {e.TurnID},
			},
			Data: body,
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
