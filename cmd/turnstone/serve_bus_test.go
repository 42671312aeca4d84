package main

import (
	"path/filepath"
	"strings"
	"testing"

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
