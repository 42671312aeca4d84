package natsbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/turnstone-dev/turnstone/event"
)

// answers brings the server's answers to those who wait for them. It is safe for concurrent use.
type answers struct {
	mu      sync.Mutex // guards waiting
	waiting map[*nats.Msg]func(error)
}

// expect has f called with the answer to a message. It must not block.
func (a *answers) expect(msg *nats.Msg, f func(error)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting[msg] = f
}

func (a *answers) give(msg *nats.Msg, err error) {
	a.mu.Lock()
	f := a.waiting[msg]
	delete(a.waiting, msg)
	a.mu.Unlock()
	if f != nil {
		f(err)
	}
}

func (a *answers) acked(_ jetstream.JetStream, msg *nats.Msg, _ *jetstream.PubAck) { a.give(msg, nil) }

func (a *answers) refused(_ jetstream.JetStream, msg *nats.Msg, err error) { a.give(msg, err) }

// round is one round of sending: all sessions side by side, each session's messages one after the
// other. JetStream would take them all at once, but what it misses of those, when a connection breaks
// or a cluster's leader changes, would come behind the rest.
type round struct {
	bus      *Bus
	messages []event.Message
	next     []int  // for each message the next one of its session, or none
	stubs    []bool // whose body made way for a stub because the stream refused it
	errs     []error
	answered chan answer
}

type answer struct {
	message int
	err     error
}

const none = -1

// send publishes messages and returns how many of them, from the first on, the server has.
func (b *Bus) send(ctx context.Context, messages []event.Message) (int, error) {
	r := &round{
		bus: b, messages: messages, next: make([]int, len(messages)), stubs: make([]bool, len(messages)),
		errs: make([]error, len(messages)), answered: make(chan answer, len(messages)),
	}
	outstanding := 0
	for _, first := range r.lines() {
		r.launch(first)
		outstanding++
	}
	for outstanding > 0 {
		a := <-r.answered
		outstanding--
		switch next := r.next[a.message]; {
		case tooLarge(a.err) && !r.stubs[a.message]:
			r.shrink(a.message)
			outstanding++
		case a.err != nil:
			r.fail(a.message, fmt.Errorf("publish export %s: %w", messages[a.message].ID, a.err))
		case next != none && ctx.Err() != nil:
			r.fail(next, ctx.Err())
		case next != none:
			r.launch(next)
			outstanding++
		}
	}
	return b.count(messages, r.errs)
}

// lines links each session's messages and returns the first ones.
func (r *round) lines() []int {
	type session struct{ tenant, name string }
	last := make(map[session]int)
	var firsts []int
	for i, m := range r.messages {
		r.next[i] = none
		key := session{m.Tenant, m.Session}
		if before, seen := last[key]; seen {
			r.next[before] = i
		} else {
			firsts = append(firsts, i)
		}
		last[key] = i
	}
	return firsts
}

// fail gives up a message and all of its session behind it.
func (r *round) fail(i int, err error) {
	for ; i != none; i = r.next[i] {
		r.errs[i] = err
	}
}

// launch sends a message. Its answer comes through answered, whatever happens: the client answers what
// the server does not, after publishTimeout.
func (r *round) launch(i int) {
	m := r.messages[i]
	if r.bus.isAhead(m) {
		r.answered <- answer{i, nil}
		return
	}
	msg, err := r.bus.encode(m)
	if err != nil {
		r.answered <- answer{i, err}
		return
	}
	r.bus.answers.expect(msg, func(err error) { r.answered <- answer{i, err} })
	if _, err := r.bus.js.PublishMsgAsync(msg); err != nil {
		r.bus.answers.give(msg, err)
	}
}

// tooLarge says whether an error is the answer to one message that is larger than the stream takes, or than a server to
// which the connection has moved.
func tooLarge(err error) bool {
	return errors.Is(err, jetstream.ErrStreamMessageExceedsMaximum) || errors.Is(err, nats.ErrMaxPayload)
}

// shrink sends a stub in the place of a message: sent whole, it would be refused again and again, and hold up what waits
// behind it.
func (r *round) shrink(i int) {
	m := &r.messages[i]
	body, err := r.bus.small(*m)
	if err != nil {
		r.answered <- answer{i, err}
		return
	}
	m.Body, r.stubs[i] = body, true
	r.launch(i)
}

// encode makes what is sent of a message, a stub where the server would not take it whole.
func (b *Bus) encode(m event.Message) (*nats.Msg, error) {
	body := m.Body
	if limit := int(b.nc.MaxPayload()) - headerRoom; len(body) > limit {
		var err error
		if body, err = b.small(m); err != nil {
			return nil, err
		}
	}
	return &nats.Msg{
		Subject: b.exportSubject(m),
		Header: nats.Header{
			nats.MsgIdHdr: {id(m.Tenant, m.ID)}, HeaderExport: {m.ID}, HeaderTurn: {m.TurnID},
		},
		Data: body,
	}, nil
}

func (b *Bus) isAhead(m event.Message) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ahead.has(id(m.Tenant, m.ID))
}

// count returns how many were sent up to the first error, and remembers what was sent: the ones behind that come again,
// and so does all that cannot be noted, perhaps after the server has forgotten them.
func (b *Bus) count(messages []event.Message, errs []error) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent, failed, now := 0, error(nil), time.Now()
	for i, m := range messages {
		if errs[i] != nil {
			failed = cmp.Or(failed, errs[i])
			continue
		}
		b.ahead.add(id(m.Tenant, m.ID), now)
		if failed == nil {
			b.ahead.publish(id(m.Tenant, m.ID))
			delete(b.unmade, id(m.Tenant, m.ID))
			sent++
		}
	}
	return sent, failed
}
