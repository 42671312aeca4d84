package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
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

// A phase that failed is a span that says so, and nothing of what it failed with.
func TestAPhaseThatFailedIsASpanWithAnError(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	faults := faulty.New(mem.New(mem.Config{}))
	eng := open(t, faults, turnstone.Config{Tracer: trace.NewTracerProvider(trace.WithSyncer(exporter)).Tracer("turnstone")})
	chat := session(t, eng, "talk")
	faults.Set(func(at string) error {
		if at == "InsertExport" {
			return errors.New("swordfish")
		}
		return nil
	})
	_, err := chat.Commit(t.Context(), said("hello", "hi"))
	faults.Set(nil)
	if err == nil {
		t.Fatal("it was committed")
	}
	statuses := make(map[string]string)
	for _, s := range exporter.GetSpans() {
		statuses[s.Name] = s.Status.Code.String() + " " + s.Status.Description
	}
	if got, want := statuses["persist"], "Error see the trace of the exchange"; got != want || statuses["select"] != "Unset " {
		t.Errorf("persist is %q, want %q; all: %q", got, want, statuses)
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

// TestCallsOfToolsAreOpenTelemetrySpans: each call that is run is a span below what the caller did, with how it ended and
// nothing of what was said.
func TestCallsOfToolsAreOpenTelemetrySpans(t *testing.T) {
	const secret = "swordfish"
	exporter := tracetest.NewInMemoryExporter()
	tracer := trace.NewTracerProvider(trace.WithSyncer(exporter)).Tracer("turnstone")
	var calls []llm.Call
	var tools []agent.Tool
	want := map[string]string{}
	for i, test := range []struct {
		name, failure string
		timeout       time.Duration
		do            func(context.Context) (string, error)
	}{
		{"works", "", time.Minute, func(ctx context.Context) (string, error) {
			if !oteltrace.SpanContextFromContext(ctx).IsValid() {
				t.Error("the tool does not know its span")
			}
			return secret, nil
		}},
		{"fails", "_OTHER", time.Minute, func(context.Context) (string, error) { return "", errors.New(secret) }},
		{"panics", "panic", time.Minute, func(context.Context) (string, error) { panic(secret) }},
		{"hangs", "timeout", time.Millisecond, func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}},
	} {
		tool, err := agent.NewTool(test.name, "Does it.", func(ctx context.Context, _ zone) (string, error) { return test.do(ctx) })
		if err != nil {
			t.Fatal(err)
		}
		tool.Timeout = test.timeout
		tools = append(tools, tool)
		calls = append(calls, llm.Call{ID: fmt.Sprintf("c%d", i), Name: test.name, Arguments: `{"zone":"` + secret + `"}`})
		want["execute_tool "+test.name] = fmt.Sprintf("gen_ai.operation.name=execute_tool gen_ai.tool.name=%s gen_ai.tool.call.id=c%d gen_ai.tool.type=function", test.name, i)
		if test.failure != "" {
			want["execute_tool "+test.name] += " error.type=" + test.failure
		}
	}
	calls = append(calls, llm.Call{ID: "none", Name: "unheard-of", Arguments: `{}`}) // which is not run
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{
		Tracer: tracer, Model: llmtest.Replies(llmtest.Reply{Calls: calls}, llmtest.Reply{Text: "Done."}), ModelName: "llama3.2", Context: 8192,
		Agent: agent.Config{Tools: tools},
	})
	ctx, caller := tracer.Start(t.Context(), "caller")
	_, err := session(t, eng, "talk").Say(ctx, "Go.")
	caller.End()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range exporter.GetSpans() {
		if !strings.HasPrefix(s.Name, "execute_tool") {
			continue
		}
		var attributes []string
		for _, a := range s.Attributes {
			attributes = append(attributes, string(a.Key)+"="+a.Value.AsString())
		}
		got[s.Name] = strings.Join(attributes, " ")
		if s.SpanContext.TraceID() != caller.SpanContext().TraceID() {
			t.Errorf("%s is not part of what the caller did", s.Name)
		}
		if said := fmt.Sprint(s.Attributes, s.Events, s.Status); strings.Contains(said, secret) {
			t.Errorf("%s tells %s", s.Name, said)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("spans %v", got)
	}
}
