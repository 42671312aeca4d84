package turnstone

import (
	"context"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// Conversation returns one exchange of the session for a loop and a worker of the caller's own: what [Session.Say] does
// with Config.Model and Config.Agent, [agent.Loop.Start] does with it. It is for one run. When it begins it waits until
// the session's floor is free; when the engine is closed it ends with [ErrClosed]. The model of [WithModel] is not used, its name is.
func (s *Session) Conversation(options ...SayOption) agent.Conversation {
	return &conversation{exchange: exchange{session: s, options: s.sayOptions(options), foreign: true}}
}

// conversation is an exchange whose loop is somebody else's: it takes the floor by itself.
type conversation struct {
	exchange
	speaking context.Context // ends when the engine is closed, or the draft cannot be kept
	leave    func()
}

// Begin implements [agent.Conversation].
func (c *conversation) Begin(ctx context.Context, input ...turn.Draft) error {
	s := c.session
	floor, leave, err := s.engine.shared.floors.take(ctx, s.key)
	if err != nil {
		return err
	}
	c.speaking, c.end = context.WithCancelCause(floor)
	c.leave = func() {
		c.end(nil)
		leave()
	}
	begun := false
	defer func() {
		if !begun { // also where it panics
			c.leave()
		}
	}()
	if err := c.exchange.Begin(c.speaking, input...); err != nil {
		return err
	}
	begun = true
	return nil
}

// Speaking implements [agent.Interruptible].
func (c *conversation) Speaking() context.Context { return c.speaking }

// Compile implements [agent.Conversation].
func (c *conversation) Compile(ctx context.Context, o agent.Offer) (llm.Request, error) {
	if err := llm.Ended(c.speaking); err != nil {
		return llm.Request{}, err
	}
	return c.exchange.Compile(ctx, o)
}

// Receive implements [agent.Conversation].
func (c *conversation) Receive(ctx context.Context, piece llm.Chunk) error {
	if err := llm.Ended(c.speaking); err != nil {
		return err
	}
	return c.exchange.Receive(ctx, piece)
}

// End implements [agent.Conversation].
func (c *conversation) End(ctx context.Context, how agent.Ending) error {
	defer c.leave()
	return c.exchange.End(ctx, how)
}
