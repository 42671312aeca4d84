package turnstone

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/turnstone-dev/turnstone/trace"
)

// traced returns what hands traces on to OpenTelemetry, nil where that is not configured.
func (c *Config) traced() func(context.Context, trace.TurnTrace) {
	if c.Tracer == nil {
		return nil
	}
	return func(ctx context.Context, t trace.TurnTrace) { emit(ctx, c.Tracer, t) }
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
