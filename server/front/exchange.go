package front

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/internal/httpstream"
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

	place  *place
	asking asking
	relay  *turnstone.Relay // nil where the log of a call that is only recorded cannot be kept
	heard  heard
	reply  chain.Hash
	// kind is how the upstream server answers, and whether that is handed on as it comes.
	kind     Kind
	verbatim bool
	speech   speech
	// out is what the client gets next, and dropped says that it does not get the event that is being told.
	out     []byte
	dropped bool
	// held is the end of an answer, which the client gets when the exchange is on disk.
	held []byte
	// settled says that the input is durable, absent that it could not be made so: there is no exchange then.
	settled, absent bool
	// recorded says that the call and its answer are only recorded, and several that the client wants more than one: the others
	// go on when the one that is kept has ended.
	recorded, several bool
	// unheard is why an answer that is only recorded is no reply, and whole that answer where it came at once. The client gets
	// it all the same.
	unheard error
	whole   *http.Response
}

// converse answers a call.
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
	x := &exchange{front: f, engine: engine, from: r, to: newClientOf(w, f.config.Limits.silence(false))}
	defer x.heard.begin()()
	if f.config.RecordOnly {
		x.record(a, body)
	} else {
		x.talk(a, body)
	}
}

// talk answers a call with a prompt of our own.
func (x *exchange) talk(a api, body []byte) {
	f, w := x.front, x.to.w
	c, err := f.decodeCall(a, x.engine.Tenant(), x.from.Header.Get(SessionHeader), body)
	if err == nil && a == openaiChat && c.first == 0 && len(c.system) == 0 {
		err = errNoMessages // Ollama loads the model then, OpenAI has nothing of the kind
	}
	if err == nil && c.bare() {
		f.bare(w, x.from, c)
		return
	}
	if err == nil {
		x.call, x.kind, x.speech = c, f.config.Upstream.Kind, c.speech(time.Now())
		x.verbatim = x.kind == a.kind() && a != ollamaGenerate
		err = cmp.Or(c.single(), c.sized(x.engine), c.carried(x.verbatim))
	}
	if err != nil {
		f.refuse(w, a, &badCall{err})
		return
	}
	if err := x.run(x.from.Context()); err != nil {
		x.fail(err)
	}
}

// run takes the call through the exchange. Where it returns an error the client does not know of it yet.
func (x *exchange) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if err := x.open(ctx); err != nil {
		return err
	}
	over := false
	defer func() {
		if !over { // also where it panics
			x.logged(x.close(ctx, errBroken))
		}
	}()
	if !x.recorded {
		speaking := x.relay.Speaking()
		defer context.AfterFunc(speaking, func() { cancel(context.Cause(speaking)) })()
	}
	err := ended(x.from.Context(), x.answer(ctx, cancel))
	over = true
	if ended := x.close(ctx, errors.Join(err, x.unheard)); ended != nil {
		return errors.Join(err, ended)
	}
	if err != nil {
		return err
	}
	x.finish()
	return nil
}

// open begins the exchange. A log that cannot be kept is no reason not to answer a call that is only recorded.
func (x *exchange) open(ctx context.Context) error {
	err := x.begin(ctx)
	if err == nil && x.recorded {
		if _, err = x.settle(ctx); err == nil {
			x.relay.Untouched()
		}
	}
	if err == nil {
		x.to.header(SessionHeader, x.place.session.ID())
		if x.place.lost && !x.recorded {
			x.to.header(WarningHeader, lostContext)
			x.front.log.Warn(lostContext, "session", x.place.session.ID())
		}
		return nil
	}
	if !x.recorded {
		return err
	}
	x.unrecorded(err)
	x.relay, x.settled = nil, true
	return nil
}

// lostContext is told who goes on from what is not known here. Where the session is named, that is where it goes on.
const lostContext = "the context is not known here, of another server or of a session that is gone: a new session begins"

// maxMoves is how often the place of a call is looked for because the session went on meanwhile.
const maxMoves = 4

// begin finds the place of the call and makes its input durable.
func (x *exchange) begin(ctx context.Context) error {
	m := &matching{front: x.front, engine: x.engine, call: x.call, header: x.from.Header, recorded: x.recorded}
	for try := 1; ; try++ {
		p, err := m.find(ctx)
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
		waited := x.front.endings.wait(ctx, x.key(p))
		if !waited && m.named != nil && !m.rested && (p.again || p.unanswered) {
			// It would be waited for in any case. The same words are said once, if nobody has replied to them by then.
			if err := p.session.Rest(ctx); err != nil {
				return err
			}
			m.rested, waited = true, true
		}
		if !waited {
			m.apart, m.busy = m.moved, m.busy || p.again || p.unanswered
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
		Model: x.call.model, Context: x.call.context(), Settings: x.call.settings(p.system), After: p.after, Again: p.again, Unanswered: p.unanswered,
		New: p.made, Untouched: x.recorded, Recall: x.front.config.Recall, Input: p.hash,
	})
	return x.relay.Begin(ctx, p.input...)
}

// answer has the upstream server answer. It may be asked while the input is being made durable; nothing of its answer is used
// before.
func (x *exchange) answer(ctx context.Context, cancel context.CancelCauseFunc) error {
	silence := x.front.upstream.impatient(cancel)
	defer silence.Stop()
	for {
		response, err := x.ask(ctx)
		again, unsettled := x.settle(ctx)
		if err == nil && (unsettled != nil || again) {
			x.logged(response.Body.Close())
		}
		switch {
		case unsettled != nil:
			err = unsettled
		case err == nil && again:
			x.asking.end()
			x.asking = asking{} // should the next prompt not be compiled, nobody was asked
			continue
		case err == nil:
			err = x.hear(ctx, response, silence)
		}
		x.observed(err)
		return err
	}
}

// ask sends the compiled prompt, or the call itself where it is only recorded.
func (x *exchange) ask(ctx context.Context) (*http.Response, error) {
	u := x.front.upstream
	if x.recorded {
		request, err := x.front.onward(ctx, x.from, x.call.body)
		if err != nil {
			return nil, err
		}
		return u.do(request.WithContext(x.observe(ctx, llm.Request{})))
	}
	request, err := x.relay.Compile(ctx, agent.Offer{})
	if err != nil {
		return nil, err
	}
	return u.ask(x.observe(ctx, request), x.from.Header, x.call.ask(x.kind, &request))
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

// hear takes an answer, as a stream or as a whole. Only what is recorded has another status than 200.
func (x *exchange) hear(ctx context.Context, response *http.Response, silence *time.Timer) (err error) {
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if x.call.stream && response.StatusCode == http.StatusOK {
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
		return interrupted(httpstream.ErrTooLong)
	}
	if x.verbatim {
		x.held = body
	}
	if x.recorded {
		x.whole, x.unheard = response, x.judge(response.StatusCode, body)
		return nil
	}
	return x.judge(response.StatusCode, body)
}

// judge reads an answer that came as a whole.
func (x *exchange) judge(status int, body []byte) error {
	if status != http.StatusOK {
		return &refusal{status: status, body: body}
	}
	if _, err := x.heard.hear(x.kind, body); err != nil {
		return err
	}
	if x.heard.stop == "" {
		return interrupted(httpstream.ErrCut)
	}
	return nil
}
