package front

import (
	"context"
	"errors"

	"github.com/turnstone-dev/turnstone/llm"
)

func unobserved(ctx context.Context, _ string, _ llm.Request) (context.Context, func(llm.Chunk, error), func()) {
	return ctx, func(llm.Chunk, error) {}, func() {}
}

// asking is what an observer sees of an answer of the model server.
type asking struct {
	heard  func(llm.Chunk, error)
	end    func()
	spoken bool
}

// observe begins to observe the server being asked, and returns what it is asked with.
func (x *exchange) observe(ctx context.Context, r llm.Request) context.Context {
	ctx, heard, end := x.front.config.Observe(ctx, x.call.model, r)
	x.asking = asking{heard: heard, end: end}
	return ctx
}

// spoke tells the observer of the first piece.
func (x *exchange) spoke(c llm.Chunk) {
	if !x.asking.spoken {
		x.asking.spoken = true
		x.asking.heard(c, nil)
	}
}

// observed tells the observer how it ended. Nothing is told where no server was asked.
func (x *exchange) observed(err error) {
	a, h := &x.asking, &x.heard
	if a.end == nil {
		return
	}
	var said *refusal
	switch err = errors.Join(err, x.unheard); {
	case errors.Is(err, errGone):
		a.heard(llm.Chunk{}, context.Canceled)
	case errors.As(err, &said):
		a.heard(llm.Chunk{}, llm.Refusal{Status: said.status, Said: said.complaint().Message}.Judge(x.call.model))
	case err != nil:
		a.heard(llm.Chunk{}, err)
	default:
		last := llm.Chunk{Calls: h.calls, Usage: h.usage, Stop: h.stop}
		if !a.spoken {
			last.Text, last.Thinking = string(h.text), string(h.thinking)
		}
		a.heard(last, nil)
	}
	a.end()
	*a = asking{}
}
