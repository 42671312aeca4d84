package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// maxReason is how many bytes of an error are told to the model.
	maxReason = 16 << 10
	// minReason is how many of them are told however little a tool may return.
	minReason = 256
)

// ready is a call that may be run.
type ready struct {
	at   int
	call llm.Call
	tool *Tool
	act  action
}

// use confirms and runs the calls of an answer, the last one. Their results are in r.results, in the order of the calls,
// whatever it returns: calls that it does not come to are cut off there already.
func (r *run) use(ctx context.Context, a llm.Answer, raw []string, tooMany bool) error {
	r.enter(ctx, Waiting)
	var confirmed []ready
	for i, call := range a.Calls {
		if f, refused := r.refused(tooMany); refused {
			r.settle(ctx, i, call, f)
			continue
		}
		next, err := r.prepare(i, call, raw[i])
		// Arguments that did not come are not the same as none.
		if a.Stop == llm.StopLength && i == len(a.Calls)-1 && strings.TrimSpace(raw[i]) == "" {
			err = fmt.Errorf("the answer reached its limit before the arguments of %s; call it again", call.Name)
		}
		if err != nil {
			r.settle(ctx, i, call, finished{err: err, status: turn.CallError})
			continue
		}
		err = r.confirm(ctx, &next)
		if ended := llm.Ended(ctx); ended != nil {
			return ended
		}
		if err != nil {
			r.settle(ctx, i, call, finished{err: err, status: turn.CallCancelled})
			continue
		}
		confirmed = append(confirmed, next)
	}
	if len(confirmed) == 0 {
		return nil
	}
	r.enter(ctx, UsingTool)
	return r.runAll(ctx, confirmed)
}

// refused says whether no call of the answer is run, and why.
func (r *run) refused(tooMany bool) (f finished, refused bool) {
	config := &r.loop.config
	switch {
	case tooMany:
		err := fmt.Errorf("more than %d calls at once; none of them was run; make fewer", config.MaxCalls)
		return finished{err: err, status: turn.CallError}, true
	case r.round >= config.MaxRounds:
		err := fmt.Errorf("not run: after %d rounds nobody would read the result", r.round)
		return finished{err: err, status: turn.CallCancelled}, true
	}
	return finished{}, false
}

// prepare finds the tool and reads the arguments. Its errors are written for the model.
func (r *run) prepare(i int, call llm.Call, raw string) (ready, error) {
	tool := r.loop.tools[call.Name]
	if tool == nil {
		return ready{}, fmt.Errorf("there is no tool %.80q; %s", call.Name, r.loop.choice())
	}
	if err := (llm.Call{Name: call.Name, Arguments: raw}).Check(); err != nil {
		return ready{}, err
	}
	if !strings.HasPrefix(call.Arguments, "{") {
		// An object that could only be kept as a string.
		return ready{}, fmt.Errorf("the arguments of %s are nested too deep; call it again with fewer levels", call.Name)
	}
	var act action
	err := caught(func() (err error) { // a type of the tool's may read itself
		act, err = tool.bind(call.Arguments)
		return err
	})
	if err != nil {
		return ready{}, fmt.Errorf("arguments of %s: %w", call.Name, err)
	}
	return ready{at: i, call: call, tool: tool, act: act}, nil
}

// choice says which tools there are.
func (l *Loop) choice() string {
	if len(l.offer) == 0 {
		return "there are none; answer without"
	}
	names := make([]string, len(l.offer))
	for i := range l.offer {
		names[i] = l.offer[i].Name
	}
	return "use one of " + strings.Join(names, ", ")
}

// confirm asks the tool's hook, or the loop's. One that does not stop when it is told to is left alone.
func (r *run) confirm(ctx context.Context, next *ready) error {
	hook := next.tool.Confirm
	if hook == nil {
		hook = r.loop.config.Confirm
	}
	if hook == nil {
		return nil
	}
	_, err := await(ctx, r.loop, func(ctx context.Context) (struct{}, error) { return struct{}{}, hook(ctx, next.call) })
	if err == nil || errors.Is(err, ErrDenied) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDenied, err)
}

// runAll runs the calls, as many at once as may be, and settles each as it ends. When it is left by a panic of who is
// told, those that run are stopped first.
func (r *run) runAll(ctx context.Context, calls []ready) error {
	type ended struct {
		of *ready
		finished
	}
	ends := make(chan ended, len(calls))
	active := 0
	running, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		for ; active > 0; active-- {
			end := <-ends
			r.put(end.of.at, end.of.call, end.finished)
		}
	}()
	for next := 0; ; {
		for ; next < len(calls) && active < r.loop.config.Parallel && ctx.Err() == nil; next++ {
			c := &calls[next]
			r.tell(ctx, ToolStarted{c.call})
			go func() { ends <- ended{c, r.loop.observed(running, c)} }()
			active++
		}
		if active == 0 {
			return llm.Ended(ctx)
		}
		end := <-ends
		active--
		r.settle(ctx, end.of.at, end.of.call, end.finished)
	}
}

// settle puts the result of a call into its place and tells of it.
func (r *run) settle(ctx context.Context, i int, call llm.Call, f finished) {
	r.put(i, call, f)
	r.tell(ctx, ToolFinished{Call: call, Result: r.results[i], Err: f.err})
}

func (r *run) put(i int, call llm.Call, f finished) {
	result := turn.Result{Name: call.Name, CallID: call.ID, Status: f.status, Result: f.result}
	if f.err != nil {
		result.Result = quote(plain(f.err.Error()), min(maxReason, max(minReason, r.loop.config.MaxResult)))
	}
	r.results[i] = ToolResult{Result: result, Took: f.took}
}

// cutOff are the results of calls that nobody came to.
func cutOff(calls []llm.Call) []ToolResult {
	var results []ToolResult
	for _, c := range calls {
		results = append(results, ToolResult{Result: unmade(c.ID, c.Name)})
	}
	return results
}

// unmade is the result of a call that was not made, or of which nobody knows.
func unmade(id, name string) turn.Result {
	return turn.Result{
		Name: name, CallID: id, Status: turn.CallCancelled, Synthetic: true,
		Result: `"the exchange ended before the call did"`,
	}
}

// keepResults makes the results durable, where there are some, and puts them into the container.
func (r *run) keepResults(ctx context.Context) error {
	if len(r.results) == 0 {
		return nil
	}
	writing, cancel := closing(ctx)
	defer cancel()
	r.broken = true // should it panic
	if err := r.conversation.Results(writing, slices.Clone(r.results)); err != nil {
		return fmt.Errorf("results of tools: %w", err)
	}
	r.broken = false
	return r.pushResults()
}

// pushResults puts the results into the container.
func (r *run) pushResults() error {
	results := make([]turn.Result, len(r.results))
	for i := range r.results {
		results[i] = r.results[i].Result
	}
	r.results = nil
	r.answered = false
	return r.worker.Container.PushToolResults(results...)
}

// finished is how a call ended. With an error there is no result.
type finished struct {
	result string
	status turn.CallStatus
	err    error
	took   time.Duration
}
