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
	st := mem.New(mem.Config{})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
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
	s, err := new(app).demoSession(t.Context(), eng, talk, demoOptions{session: "tidewatch"})
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
	if _, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Half of it."}}); err != nil {
		t.Fatal(err)
	}
	if last, err := (storeSessions{st, turn.DefaultTenant}).last(t.Context()); err != nil || last.Session != "" {
		t.Errorf("who talks goes on in the demo %s, %v", last.Session, err)
	}
	if other := turn.ErrNotFound; halfForgotten(t.Context(), other) != other {
		t.Error("what failed by itself is called interrupted")
	}
}
