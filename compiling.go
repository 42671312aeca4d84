package turnstone

import (
	"context"
	"errors"
	"reflect"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// compiling is what is to be compiled.
type compiling struct {
	options  PromptOptions
	settings *prompt.Sealed
	// at is the last turn that it may show, [Head] for that of the session.
	at int64
	// earlier makes it cheaper, and is used up.
	earlier *prompt.Projection
	// with, if it is not nil, changes the request and reads what else must be of the same transaction.
	with func(store.Tx, turn.SessionInfo, *prompt.Request) error
}

// maxJobs is how often a prompt is compiled for the summaries that it asks for. One or two do, since summaries that
// were made are found again. More than that says that somebody changes pins or goals all the time.
const maxJobs = 64

// compile makes a prompt as of one turn of the session. Summaries that passes ask for are made between two
// transactions, so that neither writers nor the store wait for them. prompt.ErrStale where the session was changed
// again and again meanwhile.
func (s *Session) compile(ctx context.Context, c compiling) (compiled prompt.Compiled, err error) {
	var made jobs
	for range maxJobs {
		err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
			if c.at != Head {
				info.Head = min(c.at, info.Head)
			}
			c.at = info.Head
			r, err := s.request(ctx, tx, info, c.options, c.settings, &made)
			if err != nil {
				return err
			}
			if c.with != nil {
				if err := c.with(tx, info, &r); err != nil {
					return err
				}
			}
			compiled, err = prompt.Compile(ctx, promptRows(tx), r, c.earlier)
			return err
		})
		if !errors.Is(err, errUnmade) {
			return compiled, err
		}
		c.earlier = nil
		if err := made.run(ctx, s.engine.shared.manager.Extract); err != nil {
			return prompt.Compiled{}, err
		}
	}
	return prompt.Compiled{}, prompt.ErrStale
}

// errUnmade says that a pass was planned whose summaries are not made yet.
var errUnmade = errors.New("the summaries of the pass are not made yet")

// jobs are the summaries that compiling one prompt asked for.
type jobs struct {
	made []job
	next *compress.Job // asked for and not made yet
}

type job struct {
	of      compress.Job
	outcome compress.Outcome
}

// outcome is what came of a job. errUnmade if it has not been run: it will be. Whoever keeps no jobs, since
// others wait for the end of the transaction, gets prompt.ErrStale.
func (js *jobs) outcome(j *compress.Job) (compress.Outcome, error) {
	if js == nil {
		return compress.Outcome{}, prompt.ErrStale
	}
	of := *j
	of.Count = nil // functions cannot be compared
	for i := range js.made {
		// Everything that was read is compared: a turn may have been forgotten meanwhile.
		if reflect.DeepEqual(js.made[i].of, of) {
			return js.made[i].outcome, nil
		}
	}
	js.next = j
	return compress.Outcome{}, errUnmade
}

// run makes the summaries that were asked for.
func (js *jobs) run(ctx context.Context, extract func(context.Context, *compress.Job) (compress.Outcome, error)) error {
	of := *js.next
	of.Count = nil
	out, err := extract(ctx, js.next)
	js.made = append(js.made, job{of, out})
	return err
}
