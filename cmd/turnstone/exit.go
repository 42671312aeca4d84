package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// The exit codes; outcomes says what each stands for.
const (
	exitOK          = 0
	exitInternal    = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitConflict    = 4
	exitUnavailable = 5
	exitDamaged     = 6
	exitInUse       = 7
	exitOverBudget  = 8
	exitInterrupted = 130
)

// outcome is one row of the table that translates errors to exit codes.
type outcome struct {
	code    int
	meaning string
	next    string // what to do, for an error that does not say it itself
	causes  []error
	is      func(error) bool
}

// outcomes is the one table of exit codes, in the order in which an error is held against it. The
// last row takes what no other does.
var outcomes = []outcome{
	{
		code: exitInterrupted, meaning: "interrupted", next: "nothing half-done was left behind",
		causes: []error{context.Canceled},
	}, {
		code: exitInUse, meaning: "the session is in use by somebody else", next: "try again in a moment",
		causes: []error{turn.ErrLeaseLost, turnstone.ErrBusy, prompt.ErrStale},
		is:     as[*turn.LeaseHeldError],
	}, {
		code: exitDamaged, meaning: "a store or bundle is damaged or of a newer version, what is asked for was forgotten, a prompt cannot be made again, or doctor found something",
		next:   "use a copy that is whole",
		causes: []error{store.ErrCorrupt, replay.ErrDamaged, prompt.ErrChanged, turn.ErrForgotten, errFindings},
		is:     func(err error) bool { return as[*store.NewerSchemaError](err) || as[*replay.NewerVersionError](err) },
	}, {
		code: exitOverBudget, meaning: "the prompt does not fit its window, or the exchange took more than it may",
		next:   "shorten it or use a larger context",
		causes: []error{budget.ErrOverBudget, llm.ErrContextExceeded},
		is:     as[*agent.LimitError],
	}, {
		code: exitUnavailable, meaning: "the store, the bus or the model server cannot be used now: locked, full, read-only, unreachable or failing",
		next: "check the store and try again",
		causes: []error{
			store.ErrLocked, store.ErrFull, store.ErrReadOnly, store.ErrUnavailable, store.ErrUnknown, store.ErrClosed, store.ErrRemoved,
			fs.ErrPermission, syscall.ENOSPC, syscall.EROFS, context.DeadlineExceeded,
			llm.ErrUnreachable, llm.ErrRateLimited, llm.ErrFailed, llm.ErrRefused, llm.ErrInterrupted,
			agent.ErrNoAnswer,
			nats.ErrNoServers, nats.ErrTimeout, nats.ErrAuthorization, nats.ErrNoResponders,
			jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount,
		},
	}, {
		code: exitConflict, meaning: "it exists already, or contradicts what is stored", next: "choose another name",
		causes: []error{turn.ErrExists, turn.ErrConflict, dialogue.ErrConflict, event.ErrExists, store.ErrNotEmpty, fs.ErrExist},
	}, {
		code: exitNotFound, meaning: "there is no such session, turn, flow, goal, memory, export, checkpoint, snapshot, key, file or model, or nothing to undo", next: "check the name",
		causes: []error{
			turn.ErrNotFound, dialogue.ErrNotFound, cortex.ErrNotFound, memory.ErrNotFound, event.ErrNotFound, prompt.ErrNotFound,
			compress.ErrNotFound, snapshot.ErrNotFound, access.ErrUnknownKey, turnstone.ErrNothingToUndo, fs.ErrNotExist, llm.ErrModelMissing,
		},
	}, {
		code: exitUsage, meaning: "wrong usage or input", next: "see turnstone help",
		causes: []error{turnstone.ErrCompressionOff, turnstone.ErrSnapshotsOff},
		is: func(err error) bool {
			return as[*usageError](err) || as[*turn.FieldError](err) || as[*dialogue.OpError](err) || as[*turnstone.RefusedError](err)
		},
	}, {
		code: exitInternal, meaning: "an internal error, or standard output cannot be written", next: "try again; if it stays, report it with the output of: turnstone version",
	},
}

func as[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

func outcomeOf(ctx context.Context, err error) outcome {
	// What fails while the run is being interrupted fails because of it.
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	if ctx.Err() == nil && as[*outputError](err) {
		return outcomes[len(outcomes)-1] // whatever the system says of it, no store is full
	}
	for _, o := range outcomes {
		if o.is != nil && o.is(err) {
			return o
		}
		for _, cause := range o.causes {
			if errors.Is(err, cause) {
				return o
			}
		}
	}
	return outcomes[len(outcomes)-1]
}

// line is the one line an error is reported with: what is wrong; what to do next.
func (o outcome) line(err error) string {
	if o.code == exitInterrupted {
		var kept *interrupted
		if errors.As(err, &kept) {
			return o.meaning + "; " + kept.left
		}
		return o.meaning + "; " + o.next
	}
	text := terminal.CleanLine(oneLine(err.Error()))
	switch {
	case errors.Is(err, turnstone.ErrCompressionOff):
		return "compression is off; leave out --no-compression, or no-compression in the file of settings"
	case errors.Is(err, turnstone.ErrSnapshotsOff):
		return "snapshots are off; leave out --no-snapshots, or no-snapshots in the file of settings"
	case saysWhatToDo(text):
		return text
	case errors.Is(err, fs.ErrPermission):
		// What a store may not do says so itself.
		return text + "; allow it to this user, or give another path"
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return text + "; turn JetStream on in the NATS server (nats-server -js)"
	case errors.Is(err, syscall.ENOSPC):
		return text + "; " + fullDisk
	}
	return text + "; " + o.next
}

// oneLine joins the lines of an error. Those that stand in it already, as when a driver tried the same
// address twice, are left out.
func oneLine(text string) string {
	var kept []string
	joined := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || slices.Contains(kept, line) {
			continue
		}
		switch {
		case strings.HasSuffix(joined, ":"):
			joined += " "
		case joined != "":
			joined += ", "
		}
		kept = append(kept, line)
		joined += line
	}
	return joined
}

// saysWhatToDo reports whether an error brings its own advice: after a semicolon or, from a store in
// a file, right after what is wrong.
func saysWhatToDo(text string) bool {
	return slices.ContainsFunc([]string{
		"; ", ": allow this user to ", store.ErrReadOnly.Error() + ": allow ", store.ErrFull.Error() + ": make room ", store.ErrUnavailable.Error() + ": check ",
	}, func(mark string) bool { return strings.Contains(text, mark) })
}

// usageError is a command line that cannot be carried out.
type usageError struct{ problem, next string }

func (e *usageError) Error() string { return e.problem + "; " + e.next }

func usage(next, format string, args ...any) error {
	return &usageError{problem: fmt.Sprintf(format, args...), next: next}
}

// advised is an error with what to do about it.
type advised struct {
	err  error
	next string
}

func (e *advised) Error() string { return e.err.Error() + "; " + e.next }
func (e *advised) Unwrap() error { return e.err }

// reworded is an error in words of the command line.
type reworded struct {
	err  error
	text string
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.err }

// interrupted is an error of work that was interrupted and of which something is kept.
type interrupted struct {
	err  error
	left string
}

func (e *interrupted) Error() string { return e.err.Error() + "; " + e.left }
func (e *interrupted) Unwrap() error { return e.err }

// ignore drops an error of that kind.
func ignore(err, kind error) error {
	if errors.Is(err, kind) {
		return nil
	}
	return err
}

// advise says what to do about an error if it is of that kind.
func advise(err, kind error, next string) error {
	if !errors.Is(err, kind) {
		return err
	}
	return &advised{err: err, next: next}
}
