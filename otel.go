package turnstone

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// traced returns what hands traces on to OpenTelemetry, nil where that is not configured.
func (c *Config) traced() func(context.Context, trace.TurnTrace) {
	if c.Tracer == nil {
		return nil
	}
	return func(ctx context.Context, t trace.TurnTrace) { emit(ctx, c.Tracer, t) }
}

// using returns what makes a span of every call of a tool, after OpenTelemetry's conventions for generative AI and without
// what the tool was given or returned; what the configuration has where there is no tracer.
func (c *Config) using() func(context.Context, llm.Call) (context.Context, func(turn.CallStatus, error)) {
	if c.Tracer == nil || c.Agent.Using != nil {
		return c.Agent.Using
	}
	return func(ctx context.Context, call llm.Call) (context.Context, func(turn.CallStatus, error)) {
		ctx, span := c.Tracer.Start(ctx, "execute_tool "+call.Name, oteltrace.WithAttributes(
			attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", call.Name),
			attribute.String("gen_ai.tool.call.id", call.ID), attribute.String("gen_ai.tool.type", "function"),
		))
		return ctx, func(status turn.CallStatus, err error) {
			if kind := callError(status, err); kind != "" {
				span.SetAttributes(attribute.String("error.type", kind))
				span.SetStatus(codes.Error, kind)
			}
			span.End()
		}
	}
}

// callError is of which kind the failure of a call is, empty where there is none.
func callError(status turn.CallStatus, err error) string {
	var panicked *agent.PanicError
	switch {
	case status == turn.CallOK:
		return ""
	case status == turn.CallCancelled:
		return "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &panicked):
		return "panic"
	}
	return "_OTHER"
}

// emit makes a span of the exchange and one of each phase below it, with the times they had. What was
// noted becomes events of the exchange's span: when and of which kind. Its text may repeat what somebody said or a tool
// returned, as may an error's: that stays in the store, where the exchange's trace shows it.
func emit(ctx context.Context, tracer oteltrace.Tracer, t trace.TurnTrace) {
	ctx, whole := tracer.Start(ctx, "turn commit", oteltrace.WithTimestamp(t.Started), oteltrace.WithAttributes(
		attribute.String("turnstone.session_id", t.Session), attribute.String("turnstone.turn_id", t.TurnID),
		attribute.String("turnstone.export_id", t.ExportID), attribute.String("turnstone.status", t.Status),
	))
	for _, s := range t.Spans {
		_, span := tracer.Start(ctx, s.Phase, oteltrace.WithTimestamp(t.Started.Add(s.Start)))
		if s.Error != "" {
			span.SetStatus(codes.Error, "see the trace of the exchange")
		}
		span.End(oteltrace.WithTimestamp(t.Started.Add(s.Start + s.Length)))
	}
	for _, e := range t.Entries {
		whole.AddEvent(string(e.Kind), oteltrace.WithTimestamp(t.Started.Add(e.At)))
	}
	whole.End(oteltrace.WithTimestamp(t.Started.Add(t.End())))
}
