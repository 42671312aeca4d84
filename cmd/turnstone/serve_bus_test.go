package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/natsbus"
	"github.com/turnstone-dev/turnstone/event"
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

// What commands commit beside a server with a bus reaches the daemons there, and none of them takes it away, until a server
// takes the exports back.
func TestCommandsBesideAServerWithABus(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	away := natstest.Start(t)
	dir := t.TempDir()
	store, exchange := filepath.Join(dir, "store.db"), filepath.Join(dir, "exchange.json")
	if err := os.WriteFile(exchange, []byte(`{"turns":[{"role":"user","text":"hello"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	mustRun(t, store, "session", "create", "demo")
	s := serveProcess(t, store, "--bus", away.URL(), "--url", "http://127.0.0.1:1", "--no-bundle")
	heard := heardOn(t, away)
	commit := func(id string) {
		mustRun(t, store, "commit", "demo", exchange, "--export-id", id)
	}
	hear := func(want string) {
		t.Helper()
		select {
		case id := <-heard:
			if id != want {
				t.Fatalf("heard of %s, want %s", id, want)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("nothing was heard of %s: %s", want, s.errs)
		}
	}
	first, second, third := "01ARZ3NDEKTSV4RRFFQ69G5FAA", "01ARZ3NDEKTSV4RRFFQ69G5FAB", "01ARZ3NDEKTSV4RRFFQ69G5FAC"
	commit(first)
	hear(first)
	s.end(os.Interrupt)
	commit(second)
	for _, args := range [][]string{{"daemon", "dead"}, {"daemon", "tail", "--once"}, {"session", "list"}, {"sweep"}} {
		mustRun(t, store, args...)
	}
	if tail := mustRun(t, store, "daemon", "tail", "--from-start", "--once"); strings.Contains(tail, second) {
		t.Errorf("it was published without the bus: %s", tail)
	}
	s = serveProcess(t, store, "--bus", away.URL(), "--url", "http://127.0.0.1:1", "--no-bundle")
	hear(second)
	s.end(os.Interrupt)

	t.Setenv(envBus, busInside)
	commit(third)
	s = serveProcess(t, store, "--url", "http://127.0.0.1:1", "--no-bundle")
	s.end(os.Interrupt)
	if tail := mustRun(t, store, "daemon", "tail", "--from-start", "--once"); strings.Count(tail, third) != 1 {
		t.Errorf("the server that took them back did not publish: %s", tail)
	}
}

// heardOn has a daemon of a process that has only NATS tell the ids that it hears of.
func heardOn(t *testing.T, away *natstest.Server) <-chan string {
	t.Helper()
	nc, err := nats.Connect(away.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	b, err := natsbus.New(t.Context(), nc, nil, nil, natsbus.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	heard := make(chan string, 10)
	_, err = b.Subscribe(t.Context(), "far", func(_ context.Context, m event.Message) (int, error) {
		heard <- m.ID
		return 1, nil
	}, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return heard
}
