package faulty

import (
	"context"

	"github.com/turnstone-dev/turnstone/turn"
)

// SayPoints are the places where an exchange that is under way can fail in its updates: those around an update, before
// each kind of write that it makes, and "PutDraft" before a piece of the reply is flushed.
var SayPoints = []string{"begin", "InsertTurns", "PutExchange", "PutDraft", "DeleteExchange", "InsertExport", "end", "durable"}

func (r logRows) PutExchange(ctx context.Context, key turn.Key, e turn.OpenExchange) error {
	point := "PutExchange"
	if e.Content != "" {
		point = "PutDraft"
	}
	if err := r.s.at(point); err != nil {
		return err
	}
	return r.Rows.PutExchange(ctx, key, e)
}

func (r logRows) DeleteExchange(ctx context.Context, key turn.Key) error {
	if err := r.s.at("DeleteExchange"); err != nil {
		return err
	}
	return r.Rows.DeleteExchange(ctx, key)
}
