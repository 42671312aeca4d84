package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/demo"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestInterruptedInTheMiddle holds the last line of what is not all or nothing to what it leaves behind.
func TestInterruptedInTheMiddle(t *testing.T) {
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	}()
	talk, err := demo.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	s, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "tidewatch"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	var errs bytes.Buffer
	a := &app{system: system{stderr: &errs, getenv: func(string) string { return "" }}}
	for want, failed := range map[string]error{
		"turnstone: interrupted; what was replayed stays in the session tidewatch; forget it with: turnstone forget session tidewatch\n": a.replayDemo(ctx, s, talk),
		"turnstone: interrupted; some of it may be forgotten already; ask again, to forget the rest\n":                                   halfForgotten(ctx, ctx.Err()),
	} {
		errs.Reset()
		if code := a.conclude(ctx, failed); code != exitInterrupted || errs.String() != want {
			t.Errorf("exit code %d, %q, want %q", code, errs.String(), want)
		}
	}
	if other := turn.ErrNotFound; halfForgotten(t.Context(), other) != other {
		t.Error("what failed by itself is called interrupted")
	}
}
