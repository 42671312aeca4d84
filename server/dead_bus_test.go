package server_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/natstest"
	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/server"
)

// What a daemon behind NATS cannot handle is listed among the dead letters, as what one of the process cannot.
func TestDeadLettersBehindNATS(t *testing.T) {
	nc, err := nats.Connect(natstest.Start(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	eng := opened(t, turnstone.Config{Bus: func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
		return natsbus.New(context.WithoutCancel(t.Context()), nc, bodies, recorder, natsbus.Config{})
	}})
	alone, err := natsbus.New(t.Context(), nc, nil, nil, natsbus.Config{}) // a process that has only NATS
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = alone.Close() })
	_, err = alone.Subscribe(t.Context(), "mailer", func(context.Context, event.Message) (int, error) {
		return 0, bus.Reject(errors.New("no such mailbox"))
	}, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := exposed(t, eng, server.Limits{})
	var committed struct {
		ExportID string `json:"export_id"`
	}
	c.want(http.StatusOK, &committed, "POST", "/sessions/s/commit?create=true", `{"turns":[{"role":"user","text":"Write to Ada."},{"role":"agent","text":"Written."}]}`)
	type deadLetter struct {
		Daemon, Error string
		ExportID      string `json:"export_id"`
	}
	var page struct{ Items []deadLetter }
	for late := time.Now().Add(time.Minute); len(page.Items) == 0; pause.For(t.Context(), 20*time.Millisecond) {
		if time.Now().After(late) {
			t.Fatal("no dead letter after a minute")
		}
		c.want(http.StatusOK, &page, "GET", "/daemons/mailer/dead-letters", nil)
	}
	if want := (deadLetter{Daemon: "mailer", Error: "no such mailbox", ExportID: committed.ExportID}); len(page.Items) != 1 || page.Items[0] != want {
		t.Errorf("%+v, want %+v", page.Items, want)
	}
}
