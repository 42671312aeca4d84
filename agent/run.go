package agent

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// closingTime is how long writing down the end of an exchange may take once the exchange itself is over.
const closingTime = 30 * time.Second

// run is one exchange. Whatever ends it, close can make a legal history of what is in here.
type run struct {
	loop         *Loop
	worker       *Worker
	conversation Conversation
	observe      Observer
	cancel       context.CancelCauseFunc // of what it runs in
	unwatch      func() bool             // what else may end it; nil where nothing may

	round    int
	calls    int
	usage    llm.Usage
	warnings []string
	warned   map[string]bool

	asked llm.Request // the model, last
	// partial is what was received of an answer that is not in the log.
	partial received
	// results are those of open, the calls of the last answer in the log, as long as they are not in it themselves.
	results []ToolResult
	open    []llm.Call
	// awaited says that it is known whether the input is durable; unbegun is why it is not.
	awaited bool
	unbegun error
	// broken says that the log refused an answer or its results: nothing can be added to it any more.
	broken bool
	// cut says that the last answer in the log was cut off.
	cut bool
	// answered says that the last entry of the container is the agent's.
	answered bool
	reply    Reply
}

func (r *run) run(ctx context.Context, input []turn.Draft) Result {
	defer func() {
		if r.unwatch != nil {
			r.unwatch()
		}
	}()
	if err := guard(func() error { return r.begin(ctx, input) }); err != nil {
		r.worker.Container.Rollback()
		return r.result(ctx, err)
	}
	err := guard(func() error { return r.exchange(ctx) })
	if guard(func() error { return r.awaitBegun(ctx) }); r.unbegun != nil {
		r.worker.Container.Rollback()
		return r.result(ctx, r.unbegun)
	}
	if err != nil {
		if further := guard(func() error { return r.close(ctx) }); further != nil {
			err = errors.Join(err, further)
		}
	}
	if len(r.results) > 0 {
		// The log refused them. Whoever next holds the session's lease closes the calls there.
		r.results = cutOff(r.open)
		err = errors.Join(err, r.pushResults())
	}
	if !r.answered {
		r.worker.Container.Abandon()
	}
	result := r.result(ctx, err)
	if err := guard(func() error { return r.end(ctx, result) }); err != nil {
		err = errors.Join(result.Err, fmt.Errorf("end of the exchange: %w", err))
		return Result{Outcome: Failed, Reply: result.Reply, Err: err}
	}
	return result
}

// guard makes an error of a panic, and of an end of the goroutine, which is one of its own: whatever fn calls, the
// exchange comes to its end.
func guard(fn func() error) error {
	back := make(chan error, 1)
	go func() {
		err := errExit
		defer func() { back <- err }()
		err = caught(fn)
	}()
	return <-back
}

// caught makes an error of a panic.
func caught(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return sound(fn())
}

// sound returns an error that can be looked at. One that cannot, mostly a nil pointer that was returned as an error, panics
// here, where it is caught.
func sound(err error) error {
	if err != nil {
		_, _ = err.Error(), errors.Is(err, context.Canceled)
	}
	return err
}

func (r *run) begin(ctx context.Context, input []turn.Draft) error {
	if err := llm.Ended(ctx); err != nil {
		return err
	}
	if err := r.conversation.Begin(ctx, input...); err != nil {
		return notBegun(ctx, err)
	}
	if c, ok := r.conversation.(Interruptible); ok {
		speaking := c.Speaking()
		r.unwatch = context.AfterFunc(speaking, func() { r.cancel(context.Cause(speaking)) })
	}
	if _, ok := r.conversation.(Early); ok {
		return nil
	}
	return r.awaitBegun(ctx)
}

// errAgain says that the model must be asked anew.
var errAgain = errors.New("the prompt has changed")

// awaitBegun waits until the input is durable, and returns why it is not.
func (r *run) awaitBegun(ctx context.Context) error {
	if r.awaited {
		return r.unbegun
	}
	r.awaited, r.unbegun = true, errExit // should it not come back
	again := false
	if c, ok := r.conversation.(Early); ok {
		var err error
		if again, err = c.Begun(ctx); err != nil {
			r.unbegun = notBegun(ctx, err)
			return r.unbegun
		}
	}
	r.unbegun = nil
	r.worker.Container.take()
	if again {
		return errAgain
	}
	return nil
}

// notBegun says why there is no exchange. That ctx has ended is the reason only if the error says so: what cannot become durable
// ends it, too.
func notBegun(ctx context.Context, err error) error {
	const where = "begin of the exchange"
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return because(ctx, where, err)
	}
	return fmt.Errorf(where+": %w", err)
}

// because says what went wrong where, or that ctx has ended, which then is the reason whatever the error says.
func because(ctx context.Context, where string, err error) error {
	if ended := llm.Ended(ctx); ended != nil {
		return fmt.Errorf("%s: %w", where, ended)
	}
	return fmt.Errorf("%s: %w", where, err)
}

// closing is the context for what must be written down although the exchange was cancelled.
func closing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), closingTime)
}

// exchange goes round until there is a reply.
func (r *run) exchange(ctx context.Context) error {
	r.tell(ctx, StateChanged{Working})
	for {
		r.round++
		answer, raw, err := r.ask(ctx)
		if err != nil {
			return err
		}
		tooMany := r.partial.tooMany
		if err := r.answer(ctx, answer); err != nil {
			return err
		}
		r.tell(ctx, Answered{answer})
		if len(answer.Calls) == 0 {
			return nil
		}
		if err := r.use(ctx, answer, raw, tooMany); err != nil {
			return err
		}
		if err := r.keepResults(ctx); err != nil {
			return err
		}
		if r.round >= r.loop.config.MaxRounds {
			return &LimitError{Limit: "MaxRounds", Most: r.loop.config.MaxRounds}
		}
		if err := llm.Ended(ctx); err != nil {
			return err
		}
	}
}

// close writes down what an exchange that did not come to its end left open.
func (r *run) close(ctx context.Context) error {
	if r.broken {
		return nil
	}
	if r.partial.worth() {
		answer, _ := r.partial.answer(r.known(), r.loop.config.MaxAnswer)
		answer.Stop = ""
		if err := r.answer(ctx, answer); err != nil {
			return err
		}
	}
	return r.keepResults(ctx)
}

// result judges how the exchange ended. It is asked once: what an answer that nobody kept has cost is counted here.
func (r *run) result(ctx context.Context, err error) Result {
	r.usage = sum(r.usage, r.partial.usage)
	r.reply.Rounds, r.reply.Calls, r.reply.Usage = r.round, r.calls, r.usage
	result := Result{Outcome: Normal, Reply: r.reply, Err: err}
	switch ended := ctx.Err(); {
	case err == nil:
	case ended != nil && errors.Is(err, ended) && !r.broken:
		result.Outcome = Cancelled
	default:
		result.Outcome = Failed
	}
	return result
}

func (r *run) end(ctx context.Context, result Result) error {
	state := commit.Complete
	switch {
	case result.Outcome == Cancelled || result.Outcome == Failed && r.cut:
		state = commit.Interrupted
	case result.Outcome == Failed:
		state = commit.Failed
	}
	ctx, cancel := closing(ctx)
	defer cancel()
	return r.conversation.End(ctx, Ending{
		State: state, Err: result.Err, Rounds: r.round, Calls: r.calls, Usage: r.usage, Warnings: r.warnings,
	})
}

// enter changes the worker's state.
func (r *run) enter(ctx context.Context, s State) {
	if r.worker.enter(s) {
		r.tell(ctx, StateChanged{s})
	}
}

func (r *run) tell(ctx context.Context, e Event) {
	if r.observe != nil {
		r.observe(ctx, e)
	}
}

func (r *run) warn(ctx context.Context, text string) {
	if r.warned[text] {
		return
	}
	if r.warned == nil {
		r.warned = map[string]bool{}
	}
	r.warned[text] = true
	r.warnings = append(r.warnings, text)
	r.tell(ctx, Warned{text})
}
