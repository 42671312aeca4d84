package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/internal/natstest"
)

// A NATS server that keeps nothing can be no bus: serve says so, and what to do there.
func TestServeOnABusWithoutJetStream(t *testing.T) {
	bus := natstest.StartWithoutJetStream(t)
	var said strings.Builder
	code := run(t.Context(), []string{
		"serve", "--store", filepath.Join(t.TempDir(), "store.db"), "--addr", "127.0.0.1:0", "--bus", bus.URL(), "--url", "http://127.0.0.1:1",
	}, system{
		stdin: strings.NewReader(""), stdout: &said, stderr: &said, getenv: func(string) string { return "" },
	})
	if code != exitUnavailable || !strings.HasSuffix(said.String(), "; turn JetStream on in the NATS server (nats-server -js)\n") {
		t.Errorf("exit code %d, said %q", code, said.String())
	}
}

// Each deployment on a NATS has a stream of its own.
func TestServeOnAStreamOfItsOwn(t *testing.T) {
	bus := natstest.Start(t)
	serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--bus", bus.URL(), "--bus-stream", "STAGING")
	nc, err := nats.Connect(bus.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.Stream(t.Context(), "STAGING"); err != nil {
		t.Error(err)
	}
	if _, err := js.Stream(t.Context(), "TURNSTONE"); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("the stream of another deployment: %v", err)
	}
}
