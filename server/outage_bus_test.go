package server_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/internal/natstest"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
)

// NATS goes away and comes back. Nobody who says something notices, and every exchange is published in the end, once.
func TestTheBusGoneAndBack(t *testing.T) {
	daemon := natstest.Start(t)
	nc, err := nats.Connect(daemon.URL(), nats.ReconnectWait(10*time.Millisecond), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	eng := opened(t, turnstone.Config{
		Model: llmtest.NewScript("One.", "Two.", "Three."),
		Bus: func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
			return natsbus.New(context.WithoutCancel(t.Context()), nc, bodies, recorder, natsbus.Config{})
		},
	})
	c, _ := exposed(t, eng, server.Limits{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	var want []string
	say := func() {
		t.Helper()
		var told struct {
			Status   string
			ExportID string `json:"export_id"`
		}
		c.want(http.StatusOK, &told, "POST", "/sessions/s/say", `{"text":"Count."}`)
		if told.Status != "complete" {
			t.Errorf("%+v", told)
		}
		want = append(want, told.ExportID)
	}
	say()
	daemon.Stop()
	say()
	daemon.Restart()
	say()
	reader, err := nats.Connect(daemon.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	js, err := jetstream.New(reader)
	if err != nil {
		t.Fatal(err)
	}
	reading, err := js.OrderedConsumer(t.Context(), "TURNSTONE", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"turnstone.export.*.*"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range want {
		msg, err := reading.Next(jetstream.FetchMaxWait(2 * time.Minute))
		if err != nil {
			t.Fatalf("export %s: %v", id, err)
		}
		if got := msg.Headers().Get(natsbus.HeaderExport); got != id {
			t.Errorf("export %s was published, want %s", got, id)
		}
	}
	// An answer of NATS may have been lost with the connection: then it is asked again.
	for published := 0; published < len(want); pause.For(t.Context(), 20*time.Millisecond) {
		var page struct{ Items []any }
		c.want(http.StatusOK, &page, "GET", "/exports", nil)
		published = len(page.Items)
	}
}
