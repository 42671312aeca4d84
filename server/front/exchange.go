package front

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// exchange is a call on its way: from the client to the log, to the upstream server, and back.
type exchange struct {
	front  *Front
	engine *turnstone.Engine
	call   *call
	from   *http.Request
	to     *client

	place *place
	relay *turnstone.Relay
	heard heard
	reply chain.Hash
	// kind is how the upstream server answers, and whether that is handed on as it comes.
	kind     Kind
	verbatim bool
	speech   speech
	// held is the end of an answer, which the client gets when the exchange is on disk.
	held []byte
	// settled says that the input is durable, absent that it could not be made so: there is no exchange then.
	settled, absent bool
	// unheard is why an answer that is only recorded is no reply. The client got it all the same.
	unheard error
}

// converse answers a call with a prompt of our own.
func (f *Front) converse(w http.ResponseWriter, r *http.Request, a api) {
	engine, err := f.config.Engine(r)
	if err != nil {
		Refuse(w, r, http.StatusUnauthorized, err.Error())
		return
	}
	body, release, err := f.read(w, r)
	defer release()
	if err != nil {
		f.refuse(w, a, err)
		return
	}
	c, err := f.decodeCall(a, engine.Tenant(), body)
	if err != nil {
		f.refuse(w, a, &badCall{err})
		return
	}
	if c.bare() {
		f.bare(w, r, c)
		return
	}
	if err := c.single(); err != nil {
		f.refuse(w, a, &badCall{err})
		return
	}
	x := &exchange{front: f, engine: engine, call: c, from: r, to: newClientOf(w, f.config.Limits.Idle)}
	x.kind, x.speech = f.config.Upstream.Kind, c.speech(time.Now())
	x.verbatim = x.kind == a.kind() && a != ollamaGenerate
	if err := x.run(r.Context()); err != nil {
		x.fail(err)
	}
}

// run takes the call through the exchange. Where it returns an error the client does not know of it yet.
func (x *exchange) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := x.begin(ctx); err != nil {
		return err
	}
	x.to.header(SessionHeader, x.place.session.ID())
	over := false
	defer func() {
		if !over { // also where it panics
			x.logged(x.end(ctx, errBroken))
		}
	}()
	speaking := x.relay.Speaking()
	defer context.AfterFunc(speaking, func() { cancel(context.Cause(speaking)) })()
	err := x.answer(ctx, cancel)
	over = true
	if ended := x.end(ctx, err); ended != nil {
		return errors.Join(err, ended)
	}
	if err != nil {
		return err
	}
	return x.finish()
}

// maxMoves is how often the place of a call is looked for because the session went on meanwhile.
const maxMoves = 4

// begin finds the place of the call and makes its input durable.
func (x *exchange) begin(ctx context.Context) error {
	m := &matching{front: x.front, engine: x.engine, call: x.call}
	named := x.from.Header.Get(SessionHeader)
	for try := 1; ; try++ {
		p, err := m.find(ctx, named)
		if err != nil {
			return err
		}
		if x.place, err = p, x.enter(ctx, p); err == nil {
			return nil
		}
		if try == maxMoves || !errors.Is(err, turnstone.ErrMoved) && (p.after == turnstone.Head || !errors.Is(err, turnstone.ErrBusy)) {
			return err
		}
		// Where it is only the client itself that hung up before, the session can be gone on in after all.
		if waited := x.front.endings.wait(ctx, x.key(p)); !waited {
			m.apart = m.moved
		}
		m.moved = true
	}
}

func (x *exchange) key(p *place) turn.Key {
	return turn.Key{Tenant: x.engine.Tenant(), Session: p.session.ID()}
}

// importAtOnce is how many turns are appended in one update.
const importAtOnce = 500

// enter begins the exchange in a place.
func (x *exchange) enter(ctx context.Context, p *place) error {
	for rest := p.before; len(rest) > 0; {
		n := min(len(rest), importAtOnce)
		if _, err := p.session.Append(ctx, rest[:n]...); err != nil {
			return err
		}
		rest = rest[n:]
	}
	x.relay = p.session.Relay(turnstone.RelayOptions{
		Model: x.call.model, Context: x.call.context(), Settings: x.call.settings(p.system), After: p.after, Input: p.hash,
	})
	return x.relay.Begin(ctx, p.input...)
}

// answer has the upstream server answer the compiled prompt. It may be asked while the input is being made durable; nothing
// of its answer is used before.
func (x *exchange) answer(ctx context.Context, cancel context.CancelCauseFunc) error {
	u := x.front.upstream
	silence := u.impatient(cancel)
	defer silence.Stop()
	for {
		request, err := x.relay.Compile(ctx, agent.Offer{})
		if err != nil {
			return err
		}
		response, err := u.ask(ctx, x.from.Header, x.call.ask(x.kind, &request))
		again, unsettled := x.settle(ctx)
		if unsettled != nil || again && err == nil {
			if err == nil {
				x.logged(response.Body.Close())
			}
			if unsettled != nil {
				return unsettled
			}
			continue
		}
		if err != nil {
			return err
		}
		return x.hear(ctx, response, silence)
	}
}

// settle waits until the input is durable. Again says that another prompt has to be compiled.
func (x *exchange) settle(ctx context.Context) (again bool, err error) {
	if x.settled {
		return false, nil
	}
	x.settled = true
	if again, err = x.relay.Begun(ctx); err != nil {
		x.absent = true
	}
	return again, err
}

// hear takes an answer, as a stream or as a whole.
func (x *exchange) hear(ctx context.Context, response *http.Response, silence *time.Timer) (err error) {
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if x.call.stream {
		return x.stream(ctx, response, silence)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(x.front.config.Limits.Line)+1))
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return interrupted(err)
	}
	if len(body) > x.front.config.Limits.Line {
		return interrupted(errTooLong)
	}
	if _, err := x.heard.hear(x.kind, body); err != nil {
		return err
	}
	if x.heard.stop == "" {
		return interrupted(errCut)
	}
	if x.verbatim {
		x.held = body
	}
	return nil
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
	text := strings.TrimSpace(string(h.text))
	if why != nil {
		h.calls, h.stop = nil, "" // a call that was cut off cannot be run
		how.State, how.Calls = commit.Failed, 0
		if text != "" || errors.Is(why, context.Canceled) {
			how.State = commit.Interrupted
		}
	}
	var refused error
	switch {
	case text != "" || len(h.calls) > 0:
		reply := message{role: llm.Assistant, parts: []part{{text: string(h.text)}}, calls: h.calls}
		x.reply = reply.next(x.place.hash)
		x.relay.Link(x.reply)
		if refused = x.relay.Answer(ctx, x.stored()); refused != nil {
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
func (x *exchange) stored() llm.Answer {
	h := &x.heard
	a := llm.Answer{Text: string(h.text), Thinking: string(h.thinking), Usage: h.usage, Stop: h.stop}
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
		opening: c.opening, size: len(c.repeated()), sum: k.sum(c.repeated()), hash: x.place.hash, systems: x.place.system,
		reply: x.reply, session: x.place.session.ID(), seq: seq,
	})
}

// finish gives the client the end of the answer.
func (x *exchange) finish() error {
	if s, ok := x.speech.(*ollamaSpeech); ok {
		s.reply = x.reply
	}
	switch {
	case !x.call.stream && x.verbatim:
		x.to.whole(x.held)
	case !x.call.stream:
		x.to.whole(x.speech.whole(nil, &x.heard))
	case x.verbatim:
		x.to.write(x.held)
		x.to.flush()
	default:
		x.to.begin(x.speech.contentType())
		x.to.write(x.speech.end(x.held, &x.heard))
		x.to.flush()
	}
	x.logged(x.to.err)
	return nil
}

// fail tells the client what went wrong, unless it has gone.
func (x *exchange) fail(err error) {
	if x.from.Context().Err() != nil || x.to.err != nil {
		x.logged(err)
		return
	}
	if !x.to.begun {
		x.front.refuse(x.to.w, x.call.api, err)
		return
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

// logged notes what nobody can be told.
func (x *exchange) logged(err error) {
	if err != nil {
		x.front.log.Debug("exchange not answered", "error", err)
	}
}
