package mcp

import (
	"context"
	"errors"
	"strings"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// advice is what a caller can do about an error. It is the one table from errors to words for models.
var advice = []struct {
	err  error
	next string
}{
	{compress.ErrNotFound, "read the resource turnstone://sessions/{session}/checkpoints to see which there are"},
	{cortex.ErrNotFound, "call goals with all set to see which there are"},
	{snapshot.ErrNotFound, "take one with snapshot"},
	{turn.ErrNotFound, "call list_sessions to see which sessions there are, or search_history for turns; remember and set_goal make a session"},
	{turn.ErrForgotten, "it cannot be brought back"},
	{turn.ErrConflict, "use another key for another content"},
	{turn.ErrLeaseLost, "call it again"},
	{turnstone.ErrBusy, "call it again in some seconds"},
	{turnstone.ErrNothingToUndo, "the prompt shows every turn that it can already"},
	{turnstone.ErrSnapshotsOff, "go on without one"},
	{turnstone.ErrCompressionOff, "go on without it"},
	{turnstone.ErrOverBudget, "give a model or a context with more tokens"},
	{prompt.ErrChanged, "call prompt without at for one that can be made now"},
	{turnstone.ErrClosed, "the server is stopping: call it again when it is back"},
	{context.DeadlineExceeded, "call it again, or ask for less"},
	{context.Canceled, "call it again"},
}

// explain returns what a caller is told of an error. One that is not the caller's is logged.
func (s *Server) explain(ctx context.Context, what string, err error) error {
	var field *invalid.Field
	var refused *turnstone.RefusedError
	if errors.As(err, &field) || errors.As(err, &refused) {
		return err
	}
	for _, row := range advice {
		if errors.Is(err, row.err) {
			return &advised{err, row.next}
		}
	}
	s.log.ErrorContext(ctx, "mcp: "+what, "error", err)
	if told := store.Condition(err); told != "" {
		return errors.New(told)
	}
	return errors.New("the server could not do it, for a reason of its own that its log tells; try again later")
}

// advised is an error and what to do about it.
type advised struct {
	err  error
	next string
}

func (a *advised) Error() string {
	text := a.err.Error()
	var over *budget.OverBudgetError
	if errors.As(a.err, &over) {
		// The account is many lines; the first says by how much.
		text, _, _ = strings.Cut(text, "\n")
	}
	return text + "; " + a.next
}

func (a *advised) Unwrap() error { return a.err }
