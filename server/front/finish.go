package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
)

// close makes durable what was said. What is only recorded and cannot be is no error.
func (x *exchange) close(ctx context.Context, why error) error {
	if x.relay == nil {
		return nil
	}
	err := x.end(ctx, why)
	if err != nil && x.recorded {
		x.unrecorded(err)
		return nil
	}
	return err
}

// closingTime is how long writing down the end of an exchange may take.
const closingTime = 30 * time.Second

// end makes durable what was said. Why is nil for an answer that came to its end.
func (x *exchange) end(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		defer x.front.endings.begin(x.key(x.place))()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closingTime)
	defer cancel()
	if _, err := x.settle(ctx); err != nil || x.absent {
		return err
	}
	h := &x.heard
	how := agent.Ending{State: commit.Complete, Err: why, Rounds: 1, Calls: len(h.calls), Usage: h.usage}
	said := string(h.text)
	text := strings.TrimSpace(said)
	if why != nil {
		h.calls, h.stop = nil, "" // a call that was cut off cannot be run
		how.State, how.Calls = commit.Failed, 0
		if text != "" || errors.Is(why, context.Canceled) || errors.Is(why, errEnding) {
			how.State = commit.Interrupted
		}
	}
	var refused error
	switch {
	case text != "" || len(h.calls) > 0:
		reply := message{role: llm.Assistant, parts: []part{{text: said}}, calls: h.calls}
		x.reply = reply.next(x.place.hash)
		x.relay.Link(x.reply)
		if refused = x.relay.Answer(ctx, x.stored(said)); refused != nil {
			how.State, how.Err = commit.Failed, refused
		}
	case why == nil:
		how.State, how.Err = commit.Failed, agent.ErrNoAnswer
	}
	if err := errors.Join(refused, x.relay.End(ctx, how)); err != nil {
		return fmt.Errorf("end of the exchange: %w", err)
	}
	if why == nil {
		x.remember()
	}
	return nil
}

// stored is the answer as the log takes it.
func (x *exchange) stored(said string) llm.Answer {
	h := &x.heard
	a := llm.Answer{Text: said, Thinking: string(h.thinking), Usage: h.usage, Stop: h.stop}
	for _, c := range storedCalls(h.calls) {
		a.Calls = append(a.Calls, llm.Call(c))
	}
	return a
}

// remember notes where the next call goes on.
func (x *exchange) remember() {
	c, seq := x.call, x.relay.Linked()
	if seq == 0 || c.prompt != nil {
		return
	}
	k := x.front.known
	k.put(past{
		opening: c.opening, origin: c.origin, size: len(c.repeated()), sum: k.sum(c.repeated()), hash: x.place.hash, systems: x.place.system,
		asked: c.asked, reply: x.reply, session: x.place.session.ID(), seq: seq,
	})
}

// finish gives the client the end of the answer.
func (x *exchange) finish() {
	if s, ok := x.speech.(*ollamaSpeech); ok {
		s.reply = x.reply
	}
	switch {
	case x.whole != nil:
		x.to.same(x.whole)
		x.to.write(x.held)
	case !x.call.stream && x.verbatim:
		x.to.whole(x.held)
	case !x.call.stream:
		x.to.whole(x.speech.whole(nil, &x.heard))
	case x.verbatim:
		x.to.write(x.held)
		x.to.flush()
	default:
		x.to.write(x.speech.end(x.held, &x.heard))
		x.to.flush()
	}
	x.logged(x.to.err)
}

// fail tells the client what went wrong, unless it has gone.
func (x *exchange) fail(err error) {
	err = ended(x.from.Context(), err)
	if gone(x.from.Context()) || x.to.err != nil {
		x.logged(err)
		return
	}
	if !x.to.begun {
		x.front.refuse(x.to.w, x.call.api, err)
		return
	}
	if x.recorded {
		x.logged(err)
		panic(http.ErrAbortHandler) // the client must see that there is more
	}
	var said *refusal
	var c complaint
	if errors.As(err, &said) {
		c = said.complaint()
	} else {
		_, c = x.front.told(err)
	}
	x.to.write(x.speech.failure(nil, c))
	x.to.flush()
	x.logged(x.to.err)
}

// gone reports whether the client of a request hung up. Net/http says no more than that it is over; a server that ends says why.
func gone(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), context.Canceled)
}

// ended is why a request is over: what ends it is the server, where the client has not gone.
func ended(from context.Context, err error) error {
	if err == nil || from.Err() == nil || gone(from) {
		return err
	}
	return errors.Join(errEnding, err)
}

// logged notes what nobody can be told.
func (x *exchange) logged(err error) {
	if err != nil {
		x.front.log.Debug("exchange not answered", "error", err)
	}
}
