package agent

import (
	"context"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// Loop runs exchanges: it has the prompt compiled, streams the model's answer, runs the tools it calls, and goes
// round until there is a reply, which it hands to the commit pipeline with the whole exchange. A loop has no state
// of its own and may run for any number of workers at once.
type Loop struct {
	config Config
	tools  map[string]*Tool
	offer  []llm.Tool
	strays strays
}

// NewLoop returns a loop. A *[FieldError] names the field of the configuration that is wrong.
func NewLoop(c Config) (*Loop, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	l := &Loop{config: c}
	if l.tools, l.offer, err = c.tools(); err != nil {
		return nil, err
	}
	return l, nil
}

// RunOptions are what one run has of its own. The zero value is ready for use.
type RunOptions struct {
	// Input is what the user said, the parts of one message. Defaults to what is staged in the worker's container.
	Input []turn.Draft
	// Observe is told what happens. Defaults to nobody.
	Observe Observer
}

// Start runs one exchange as the worker's job: in a goroutine of its own, which has ended when the job is over. When
// ctx ends the job is cancelled. The error says why there is no job: [ErrBusy] where the worker has one, a
// *[FieldError] where it has no input or may not have one now.
//
// An input that could not be made durable is taken back. From then on it is in the history, and marked unanswered if
// there was no reply.
func (l *Loop) Start(ctx context.Context, w *Worker, c Conversation, o RunOptions) (*Job, error) {
	if invalid.Nil(w) || invalid.Nil(c) {
		return nil, invalid.New("worker", "there is none, or no conversation", "give both")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	job := newJob(cancel)
	input, err := w.begin(job, o.Input)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	r := &run{loop: l, worker: w, conversation: c, observe: o.Observe, cancel: cancel}
	go func() {
		result := r.run(ctx, input.Parts)
		cancel(nil) // tools that still run after a panic are told to stop
		w.end(result)
		job.finish(result)
	}()
	return job, nil
}

// Offer is what the model is offered now: the tools, and the sticky files as they are, with an error for each that cannot be
// shown. When ctx ends, a disk that does not answer is left alone, see [Loop.Drain].
func (l *Loop) Offer(ctx context.Context) (offer Offer, problems []*StickyError, err error) {
	offer.Tools = l.offer
	sticky := l.config.Sticky
	if sticky == nil {
		return offer, nil, nil
	}
	type read struct {
		files    []prompt.Material
		problems []*StickyError
	}
	got, err := await(ctx, l, func(context.Context) (r read, _ error) {
		r.files, r.problems = sticky.Read()
		return r, nil
	})
	if err != nil {
		return Offer{}, nil, because(ctx, "sticky files", err)
	}
	offer.Sticky = got.files
	return offer, got.problems, nil
}

// Drain waits for tools, hooks, models and readers of sticky files that did not stop when they were told to, of all runs.
// Its error is of a ctx that ended before they did.
func (l *Loop) Drain(ctx context.Context) error { return l.strays.wait(ctx) }
