package front

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm"
)

// greet sends the header of a stream.
func (x *exchange) greet(response *http.Response) {
	switch {
	case x.recorded:
		x.to.same(response)
	case x.verbatim:
		x.to.begin(response.Header.Get("Content-Type"))
	default:
		x.to.begin(x.speech.contentType())
	}
	x.to.flush()
}

// stream hands an answer on as it comes. From the line on that ends it, it is held back.
func (x *exchange) stream(ctx context.Context, response *http.Response, silence *time.Timer) error {
	limits := &x.front.config.Limits
	lines := httpstream.NewLines(response.Body, httpstream.Limits{Line: limits.Line, Total: unbounded})
	idle := limits.silence(len(x.call.tools) > 0)
	x.greet(response)
	for !x.heard.done {
		come, err := lines.Next()
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, httpstream.ErrSilent) && x.heard.stop != "":
			return nil // the server left out the last event, and the connection open
		case cause != nil:
			return cause
		}
		if errors.Is(err, io.EOF) {
			return x.cut()
		}
		if err != nil {
			return interrupted(err)
		}
		silence.Reset(idle)
		if err := x.handOn(ctx, come); err != nil {
			return err
		}
		if x.heard.stop != "" { // no call is being written any more
			idle = limits.silence(false)
			silence.Reset(idle)
		}
	}
	silence.Reset(httpstream.RestTime)
	if rest := lines.Rest(); x.verbatim {
		x.held = append(x.held, rest...)
	}
	return nil
}

// unbounded is how long a stream may be: what the log keeps of it is bounded there.
const unbounded = 1 << 62

// cut judges a stream whose connection was closed. Some servers leave out the last event.
func (x *exchange) cut() error {
	switch {
	case x.heard.stop != "":
		return nil
	case x.recorded:
		x.unheard = errors.Join(x.unheard, interrupted(httpstream.ErrCut))
		return nil
	}
	return interrupted(httpstream.ErrCut)
}

// handOn hears lines and hands them on, all that came together at once: a server that is faster than the log or the client
// costs no more for it.
func (x *exchange) handOn(ctx context.Context, come []byte) error {
	h := &x.heard
	said, thought := len(h.text), len(h.thinking)
	var out []byte
	var failed error
	if x.verbatim {
		out, failed = x.copied(come)
	} else {
		out, failed = x.translated(come)
	}
	if x.unheard == nil && len(out) > 0 || len(h.text) > said || len(h.thinking) > thought {
		err := x.receive(ctx, llm.Chunk{Text: string(h.text[said:]), Thinking: string(h.thinking[thought:])})
		if err != nil && !x.recorded {
			return err
		}
		x.unheard = errors.Join(x.unheard, err)
	}
	if len(out) > 0 {
		x.to.write(out)
		x.to.flush()
	}
	if failed != nil {
		return failed
	}
	return x.to.err
}

// receive notes what was said.
func (x *exchange) receive(ctx context.Context, c llm.Chunk) error {
	if c.Text != "" || c.Thinking != "" {
		x.spoke(c)
	}
	if x.relay == nil {
		return nil
	}
	return x.relay.Receive(ctx, c)
}

// copied hears lines that the client gets as they are, and returns those that it gets now. They are moved together where
// they are.
func (x *exchange) copied(come []byte) ([]byte, error) {
	n := 0
	for line := range bytes.Lines(come) {
		if x.unheard == nil {
			counted, err := x.heard.read(x.kind, line)
			if err != nil && !x.recorded {
				return come[:n], err
			}
			if x.unheard = err; x.unwanted(counted, line) {
				continue
			}
		}
		if x.heard.done || x.heard.stop != "" && !x.several {
			x.held = append(x.held, line...)
			continue
		}
		if &come[n] != &line[0] {
			copy(come[n:], line)
		}
		n += len(line)
	}
	return come[:n], nil
}

// unwanted reports whether a line is of an event with the usage that the client did not ask for. Counted says that the line
// has nothing else.
func (x *exchange) unwanted(counted bool, line []byte) bool {
	if !counted && !x.dropped {
		return false
	}
	if s, ok := x.speech.(*openaiSpeech); !ok || s.usage {
		return false
	}
	blank := len(bytes.TrimSpace(line)) == 0
	x.dropped = !blank
	return counted || blank
}

// translated hears lines and returns them in the words of the client's API.
func (x *exchange) translated(come []byte) ([]byte, error) {
	x.out = x.out[:0]
	for line := range bytes.Lines(come) {
		p, err := x.heard.hear(x.kind, line)
		if err != nil {
			return x.out, err
		}
		n := len(x.out)
		if x.out = x.speech.piece(x.out, &p); x.heard.stop != "" {
			x.held = append(x.held, x.out[n:]...)
			x.out = x.out[:n]
		}
	}
	return x.out, nil
}
