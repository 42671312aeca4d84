package bus

import (
	"context"
	"errors"

	"github.com/turnstone-dev/turnstone/event"
)

// ErrClosed says that the bus was closed.
var ErrClosed = errors.New("bus is closed")

// Bus brings exports to daemons. It is safe for concurrent use; after Close, Publish and Subscribe
// return ErrClosed.
type Bus interface {
	// Name tells the bus from others. The exports of a store are published by the bus of one name, in whichever process;
	// see [Relay.TakeOver]. It is empty for one inside the process, whose daemons read from the store.
	Name() string

	// Publish hands exports to the bus in the given order and returns how many of them, from the first
	// on, are safely with it. One that is published again under its id is delivered once more at most.
	Publish(ctx context.Context, exports []event.Export) (sent int, err error)

	// NeedsBodies reports whether Publish looks at the bodies of exports, which are left empty otherwise.
	NeedsBodies() bool

	// Announce wakes consumers: exports were noted as published. It does not block.
	Announce()

	// Subscribe runs h for every export, in order for each session, until the subscription or the bus
	// is closed or ctx ends. A daemon is known by its name: it goes on where it stopped, whichever
	// process it runs in. Where several subscribe under one name, one of them works and the others
	// stand by to take over.
	Subscribe(ctx context.Context, daemon string, h Handler, o Options) (*Subscription, error)

	// Close ends all subscriptions as [Subscription.Close] does.
	Close() error
}

// Bodies turns exports into messages with their whole body.
type Bodies interface {
	// Messages returns one message for each export, in the same order. Number is the bus's to set.
	Messages(ctx context.Context, exports []event.Export) ([]event.Message, error)
}

// Recorder keeps what daemons did for the trace of the turn, and dead letters.
type Recorder interface {
	// Completed records completions. After an error, or a crash, the same ones come again, by themselves or with others.
	Completed(ctx context.Context, c []Completion) error
}

// Handler is what a daemon does with an export. It returns how many things it processed, as the daemon
// counts them. An error has the message tried again, see [Options.Backoff], unless it is one of
// [Reject]. A panic is an error, and so is the end of the goroutine.
//
// Calls for one session come one after the other, those for different sessions at the same time. The
// context ends with [Options.Timeout] and when the subscription is closed. A handler that does not heed
// it keeps its session, and one of [Options.Parallel] places, until it returns.
type Handler func(ctx context.Context, m event.Message) (processed int, err error)

// The ways a message can end.
const (
	OK   = "ok"   // the handler returned without an error
	Dead = "dead" // it was given up: a dead letter
)

// Reject marks an error of a handler: the message is never tried again and becomes a dead letter at
// once. Reject(nil) is an error too.
func Reject(err error) error {
	if err == nil {
		err = errors.New("rejected")
	}
	return &rejection{err}
}

type rejection struct{ err error }

func (r *rejection) Error() string { return r.err.Error() }

func (r *rejection) Unwrap() error { return r.err }

func rejected(err error) bool {
	var r *rejection
	return errors.As(err, &r)
}
