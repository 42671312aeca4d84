package turnstone

import (
	"context"
	"errors"

	"github.com/turnstone-dev/turnstone/prompt"
)

// opening is the update that opens an exchange, on its way to the disk. As soon as its prompt is made the model is asked:
// syncing a disk takes longer than all else that is done before the first token, and a model takes longer still.
// Nothing of the reply is handed on before the update is durable, see [agent.Early].
type opening struct {
	made chan *ready   // the prompt that is about to become durable, sent once at most
	done chan struct{} // closed when the update has returned
	sent bool          // that a prompt was made; read after done, like err
	err  error         // why there is no exchange

	// What follows is the loop's.
	early *ready         // what was made
	asked *prompt.Prompt // what the model was asked before it was durable
}

// errExited says that something ended the goroutine that it ran in.
var errExited = errors.New("what it called ended its goroutine")

func newOpening() *opening {
	return &opening{made: make(chan *ready, 1), done: make(chan struct{}), err: errExited}
}

// run makes the update. From then on the draft is kept, and with it the lease.
func (o *opening) run(ctx context.Context, e *exchange, begin func() error) {
	defer func() {
		switch {
		case o.err == nil:
			go e.draft.run(context.WithoutCancel(ctx))
		case o.sent:
			e.end(o.err) // the model need not go on
		}
		close(o.done)
	}()
	o.err = guarded(begin)
}

// offer hands out the prompt of an update that is about to be committed. A prompt was handed out before where the
// update is run again.
func (o *opening) offer(r *ready) {
	select {
	case o.made <- &ready{offer: r.offer, compiled: r.compiled}:
		o.sent = true
	default:
	}
}

// Begun implements [agent.Early].
func (e *exchange) Begun(context.Context) (again bool, err error) {
	o := e.opening
	<-o.done
	if o.err != nil {
		return false, o.err
	}
	if o.asked == nil {
		return false, nil
	}
	if e.ready.holds(o.asked) {
		e.ready = nil
		return false, nil
	}
	return true, nil
}
