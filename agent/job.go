package agent

import (
	"context"
	"sync"

	"github.com/turnstone-dev/turnstone/llm"
)

// Outcome is how a job ended.
type Outcome string

// The outcomes.
const (
	Normal    Outcome = "normal"
	Cancelled Outcome = "cancelled"
	Failed    Outcome = "failed"
)

// Result is what became of a job.
type Result struct {
	Outcome Outcome
	// Reply is the reply, or what came of it.
	Reply Reply
	// Err is nil for a normal outcome, the context's own error for one that was cancelled (with [ErrCancelled] where
	// [Job.Cancel] did it), and why it failed otherwise.
	Err error
}

// Reply is what the agent said in the end.
type Reply struct {
	Text     string
	Thinking string
	// Stop is why it ended; llm.StopLength for a reply that the model cut short, empty for one that was cut off.
	Stop llm.Stop
	// Rounds is how often the model was asked, Calls how many tools it called, Usage what it counted, all together.
	Rounds int
	Calls  int
	Usage  llm.Usage
}

// Job is one run of a [Loop]. It is safe for concurrent use.
type Job struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
	result Result // written before done is closed

	mu   sync.Mutex // guards then and whether it is still taken
	over bool
	then []func(Result)
}

func newJob(cancel context.CancelCauseFunc) *Job {
	return &Job{cancel: cancel, done: make(chan struct{})}
}

// Cancel asks the job to end and does not wait for it. What was said so far is kept. A job that is over stays as
// it is.
func (j *Job) Cancel() { j.cancel(ErrCancelled) }

// Done is closed when the job is over and its worker is free.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait waits for the end of the job and returns what became of it, the same for everybody. The error is of a ctx
// that ended before the job, which goes on.
func (j *Job) Wait(ctx context.Context) (Result, error) {
	select {
	case <-j.done:
		return j.result, nil
	default:
	}
	select {
	case <-j.done:
		return j.result, nil
	case <-ctx.Done():
		return Result{}, llm.Ended(ctx)
	}
}

// Then has fn called with the result when the job is over: in the order of the calls of Then, by the job, and
// at once by the caller where it is over already. The worker is free by then, so that fn may start its next job. One that
// panics or ends its goroutine keeps no other from being called. A panic is not caught, like that of [context.AfterFunc]: the
// exchange is written down, and there is nobody left who could be told.
func (j *Job) Then(fn func(Result)) {
	j.mu.Lock()
	if !j.over {
		j.then = append(j.then, fn)
		j.mu.Unlock()
		return
	}
	j.mu.Unlock()
	fn(j.result)
}

// finish stores the result, wakes who waits and runs the continuations.
func (j *Job) finish(r Result) {
	j.mu.Lock()
	j.result, j.over = r, true
	then := j.then
	j.then = nil
	j.mu.Unlock()
	// Only now: whoever has waited finds a job to which nothing can be added any more.
	close(j.done)
	callAll(then, r)
}

// callAll calls one after the other, whatever becomes of the one before.
func callAll(then []func(Result), r Result) {
	if len(then) == 0 {
		return
	}
	defer callAll(then[1:], r)
	then[0](r)
}
