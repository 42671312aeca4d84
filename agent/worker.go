package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// Worker is somebody who talks: a model, a history of its own and at most one running job. Its exported fields are set
// before the first job and not changed while one runs; everything else is safe for concurrent use.
type Worker struct {
	ID        string
	Name      string
	Model     llm.Model
	Container *Container

	mu      sync.Mutex // guards all below
	state   State
	failure error
	job     *Job
}

// NewWorker returns a worker with an empty container.
func NewWorker(id, name string, model llm.Model) *Worker {
	return &Worker{ID: id, Name: name, Model: model, Container: NewContainer(nil), state: Inactive}
}

// State is what the worker is doing now.
func (w *Worker) State() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state
}

// LastFailure is why the last job failed, and nil if it did not or has not ended.
func (w *Worker) LastFailure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// Job is the running job, nil if there is none.
func (w *Worker) Job() *Job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.job
}

// Ask says the text to the worker, runs the loop and waits for its end. An error that is not about this call is the
// job's; what came of a reply is returned with it. When ctx ends, the job is cancelled. [ErrBusy] if the
// worker has a job already.
func (w *Worker) Ask(ctx context.Context, l *Loop, c Conversation, text string) (Reply, error) {
	job, err := l.Start(ctx, w, c, RunOptions{Input: []turn.Draft{Input(text)}})
	if err != nil {
		return Reply{}, err
	}
	<-job.Done()
	return job.result.Reply, job.result.Err
}

// LastReply is the text of the agent's last response in the container, empty if there is none.
func (w *Worker) LastReply() string {
	text := ""
	for _, e := range w.Container.All() {
		if r, ok := e.Message.(Response); ok {
			text = r.Text
		}
	}
	return text
}

// begin gives the worker a job, and returns the input that waits for it: the one given, or what is staged.
func (w *Worker) begin(job *Job, given []turn.Draft) (Prompt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.job != nil:
		return Prompt{}, fmt.Errorf("worker %q: %w", w.ID, ErrBusy)
	case invalid.Nil(w.Model) || w.Container == nil || w.state == "":
		return Prompt{}, invalid.New("worker", "has no model or no container", "make it with NewWorker")
	}
	if err := w.Container.settle(); err != nil {
		return Prompt{}, err
	}
	if len(given) > 0 {
		if err := w.Container.PushInput(given...); err != nil {
			return Prompt{}, err
		}
	}
	input, staged := w.Container.Staged()
	if !staged {
		return Prompt{}, invalid.New("input", "there is none", "give one, or push one into the worker's container first")
	}
	w.job, w.failure = job, nil
	w.move(Working)
	return input, nil
}

// enter changes the state of a running worker, and reports whether it was another before.
func (w *Worker) enter(s State) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state == s {
		return false
	}
	w.move(s)
	return true
}

// end takes the job away.
func (w *Worker) end(r Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.job = nil
	if r.Outcome == Failed {
		w.failure = r.Err
		w.move(InactiveFailed)
		return
	}
	w.move(Inactive)
}

// move panics where the table does not allow it: that is a mistake in the loop and nobody's input.
func (w *Worker) move(next State) {
	if !w.state.Leads(next) {
		panic(fmt.Sprintf("worker %q cannot go from %s to %s", w.ID, w.state, next))
	}
	w.state = next
}
