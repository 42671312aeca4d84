package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestCommitsAreOpenTelemetrySpans(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(exporter))
	tracer := provider.Tracer("turnstone")
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Tracer: tracer})
	chat := session(t, eng, "talk")
	ctx, caller := tracer.Start(t.Context(), "caller")
	res, err := chat.Commit(ctx, commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "hello"}}, {Role: turn.Agent, Content: turn.Text{Text: "hi"}},
	}})
	caller.End()
	if err != nil {
		t.Fatal(err)
	}
	spans := exporter.GetSpans()
	var names []string
	for _, s := range spans {
		names = append(names, s.Name)
	}
	want := []string{"complete", "reflect", "select", "persist", "notify", "finalize", "turn commit", "caller"}
	if !slices.Equal(names, want) {
		t.Fatalf("spans %q", names)
	}
	whole := spans[6]
	if whole.Parent.SpanID() != caller.SpanContext().SpanID() {
		t.Error("the commit is not part of what the caller did")
	}
	for _, s := range spans[:6] {
		if s.Parent.SpanID() != whole.SpanContext.SpanID() || s.StartTime.Before(whole.StartTime) || s.EndTime.After(whole.EndTime) {
			t.Errorf("%s lies from %v to %v below %v", s.Name, s.StartTime, s.EndTime, s.Parent.SpanID())
		}
	}
	found := false
	for _, a := range whole.Attributes {
		found = found || string(a.Key) == "turnstone.turn_id" && a.Value.AsString() == res.TurnID
	}
	if !found || len(whole.Events) == 0 {
		t.Errorf("attributes %v, %d events", whole.Attributes, len(whole.Events))
	}
}

// TestSpansDoNotRepeatWhatWasSaid: neither what was said, nor what a tool returned, nor what a judge made of it or failed
// with leaves the store with a span.
func TestSpansDoNotRepeatWhatWasSaid(t *testing.T) {
	const secret = "swordfish"
	exporter := tracetest.NewInMemoryExporter()
	config := turnstone.Config{Tracer: trace.NewTracerProvider(trace.WithSyncer(exporter)).Tracer("turnstone")}
	config.Evaluator = commit.EvaluateFunc(func(context.Context, *commit.Situation) (commit.Assessment, error) {
		return commit.Assessment{Issues: []commit.Issue{{Kind: "vague", Text: secret}}}, nil
	})
	config.Reflector = commit.ReflectFunc(func(context.Context, *commit.Situation, commit.Assessment) (commit.Reflection, error) {
		return commit.Reflection{Lessons: []string{secret}}, errors.New(secret)
	})
	config.Deadlines = commit.Deadlines{Evaluate: time.Minute, Reflect: time.Minute}
	eng := open(t, mem.New(mem.Config{}), config)
	_, err := session(t, eng, "talk").Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: secret}},
		{Role: turn.Agent, Content: turn.Text{Text: "I look.", ToolCalls: []turn.ToolCall{{ID: "a", Name: "look", Arguments: `{"word":"` + secret + `"}`}}}},
		{Role: turn.System, Content: turn.Result{Name: "look", CallID: "a", Status: turn.CallError, Result: `"` + secret + `"`}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := make(map[string]bool)
	for _, s := range exporter.GetSpans() {
		if said := fmt.Sprint(s.Name, s.Attributes, s.Events, s.Status); strings.Contains(said, secret) {
			t.Errorf("span %s", said)
		}
		for _, e := range s.Events {
			kinds[e.Name] = true
		}
	}
	for _, kind := range []string{"tool_invocation", "observation", "error"} {
		if !kinds[kind] {
			t.Errorf("nothing is told of kind %s", kind)
		}
	}
}
