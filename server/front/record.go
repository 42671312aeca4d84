package front

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/turnstone-dev/turnstone/llm"
)

// record passes a call and its answer on untouched, and keeps the log beside it. A log that cannot be kept is no reason
// not to answer.
func (f *Front) record(w http.ResponseWriter, r *http.Request, a api) {
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
	if f.config.Upstream.Kind == OpenAI && a.kind() == Ollama {
		f.refuse(w, a, &badCall{errors.New("the server upstream speaks as OpenAI does: what is only recorded is not translated")})
		return
	}
	c, err := f.decodeCall(a, engine.Tenant(), body)
	if err != nil || c.bare() {
		if err := f.forward(w, r, body); err != nil {
			f.refuse(w, a, err)
		}
		return
	}
	x := &exchange{front: f, engine: engine, call: c, from: r, to: newClientOf(w, f.config.Limits.Idle), kind: a.kind(), verbatim: true}
	x.untouched(r.Context())
}

// untouched runs the exchange of a call that is only recorded.
func (x *exchange) untouched(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	recorded := x.begin(ctx)
	if recorded == nil {
		_, recorded = x.settle(ctx)
	}
	if recorded != nil {
		x.unrecorded(recorded)
		x.relay = nil
	} else {
		x.to.header(SessionHeader, x.place.session.ID())
		x.relay.Untouched()
	}
	over := false
	defer func() {
		if !over && x.relay != nil { // also where it panics
			x.logged(x.end(ctx, errBroken))
		}
	}()
	err := x.pass(ctx, cancel)
	over = true
	if x.relay != nil {
		if ended := x.end(ctx, errors.Join(err, x.unheard)); ended != nil {
			x.unrecorded(ended)
		}
	}
	switch {
	case err == nil:
	case !x.to.begun:
		x.fail(err)
	default:
		x.logged(err)
		panic(http.ErrAbortHandler) // the client must see that there is more
	}
	x.to.write(x.held)
	x.to.flush()
	x.logged(x.to.err)
}

func (x *exchange) unrecorded(err error) {
	x.front.log.Warn("call not recorded", "path", x.from.URL.Path, "error", err)
}

// pass sends the call on and hands its answer back, byte for byte. The end of it is held back until it is recorded.
func (x *exchange) pass(ctx context.Context, cancel context.CancelCauseFunc) (err error) {
	limits := &x.front.config.Limits
	silence := x.front.upstream.impatient(cancel)
	defer silence.Stop()
	request, err := x.front.onward(ctx, x.from, x.call.body)
	if err != nil {
		return err
	}
	response, err := x.front.upstream.do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	copyHeader(x.to.w.Header(), response)
	x.to.begun = true
	x.to.w.WriteHeader(response.StatusCode)
	if x.call.stream {
		x.to.flush()
	}
	from := lines{from: bufio.NewReaderSize(response.Body, 16<<10), most: limits.Line}
	var whole []byte
	for x.to.err == nil {
		line, err := from.next()
		silence.Reset(limits.Idle)
		end := errors.Is(err, io.EOF)
		switch {
		case x.unheard != nil || response.StatusCode != http.StatusOK:
		case x.call.stream:
			x.unheard = x.listen(ctx, line)
		default:
			whole = append(whole, line...)
		}
		if x.heard.stop != "" || !x.call.stream {
			x.held = append(x.held, line...)
		} else if x.to.write(line); !from.more() {
			x.to.flush()
		}
		if end {
			break
		}
		if err != nil {
			return interrupted(err)
		}
	}
	if x.to.err != nil {
		return x.to.err
	}
	if len(whole) > 0 {
		x.unheard = x.listen(ctx, whole)
	}
	if x.heard.stop == "" && x.unheard == nil {
		x.unheard = fmt.Errorf("status %d: %w", response.StatusCode, errCut)
	}
	return nil
}

// listen notes what a line says.
func (x *exchange) listen(ctx context.Context, line []byte) error {
	p, err := x.heard.hear(x.kind, line)
	if err != nil || x.relay == nil || p.text == "" && p.thinking == "" {
		return err
	}
	return x.relay.Receive(ctx, llm.Chunk{Text: p.text, Thinking: p.thinking})
}
