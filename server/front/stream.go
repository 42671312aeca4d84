package front

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

var (
	errTooLong = errors.New("the answer is too long")
	errCut     = errors.New("the answer ends in the middle")
)

// client is who called. After the first error nothing more is written.
type client struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	until    time.Time // the deadline of writes
	begun    bool
	err      error
}

func newClientOf(w http.ResponseWriter, patience time.Duration) *client {
	return &client{w: w, control: http.NewResponseController(w), patience: patience}
}

func (c *client) header(name, value string) { c.w.Header().Set(name, value) }

// begin sends the header of a stream, once.
func (c *client) begin(contentType string) {
	if c.begun {
		return
	}
	c.begun = true
	c.header("Content-Type", contentType)
	c.header("Cache-Control", "no-cache")
	c.w.WriteHeader(http.StatusOK)
}

func (c *client) write(data []byte) {
	if c.err != nil || len(data) == 0 {
		return
	}
	c.renew()
	if _, err := c.w.Write(data); err != nil {
		c.err = fmt.Errorf("%w: %w", errGone, err)
	}
}

// flush sends what was written.
func (c *client) flush() {
	if c.err != nil {
		return
	}
	if err := c.control.Flush(); err != nil {
		c.err = fmt.Errorf("%w: %w", errGone, err)
	}
}

// renew gives the client its time to read. That a connection knows no deadlines is no reason not to write to it.
func (c *client) renew() {
	now := time.Now()
	if c.until.Sub(now) > c.patience/2 {
		return
	}
	c.until = now.Add(c.patience)
	if err := c.control.SetWriteDeadline(c.until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		c.err = fmt.Errorf("%w: %w", errGone, err)
	}
}

// whole sends an answer that is not streamed.
func (c *client) whole(body []byte) {
	c.begun = true
	c.header("Content-Type", jsonType)
	c.header("Content-Length", strconv.Itoa(len(body)))
	c.write(body)
}

// lines reads a stream line by line.
type lines struct {
	from *bufio.Reader
	most int
	long []byte // a line that is longer than the buffer
}

// next returns a line with its end, good until the next one.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.from.ReadSlice('\n')
		if len(l.long)+len(part) > l.most {
			return nil, errTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			l.long = append(l.long, part...)
			continue
		}
		if len(l.long) > 0 {
			l.long = append(l.long, part...)
			part = l.long
		}
		if errors.Is(err, io.EOF) && len(part) > 0 {
			return part, nil
		}
		return part, err
	}
}

// more reports whether another line has come already.
func (l *lines) more() bool {
	come, err := l.from.Peek(l.from.Buffered())
	return err == nil && bytes.IndexByte(come, '\n') >= 0
}

// stream hands an answer on as it comes. From the line on that ends it, it is held back.
func (x *exchange) stream(ctx context.Context, response *http.Response, silence *time.Timer) error {
	limits := &x.front.config.Limits
	from := lines{from: bufio.NewReaderSize(response.Body, 16<<10), most: limits.Line}
	if x.verbatim {
		x.to.begin(response.Header.Get("Content-Type"))
	} else {
		x.to.begin(x.speech.contentType())
	}
	x.to.flush()
	out := make([]byte, 0, 4<<10)
	dropped := false // what the client did not ask for
	for !x.heard.done {
		line, err := from.next()
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if errors.Is(err, io.EOF) && x.heard.stop != "" {
			return nil // some servers leave out the last event
		}
		if errors.Is(err, io.EOF) {
			return interrupted(errCut)
		}
		if err != nil {
			return interrupted(err)
		}
		silence.Reset(limits.Idle)
		p, err := x.heard.hear(x.kind, line)
		if err != nil {
			return err
		}
		if p.text != "" || p.thinking != "" {
			if err := x.relay.Receive(ctx, llm.Chunk{Text: p.text, Thinking: p.thinking}); err != nil {
				return err
			}
		}
		blank := len(bytes.TrimSpace(line)) == 0
		switch {
		case !x.verbatim:
			out = x.speech.piece(out, &p)
		case p.usage && !x.wantsUsage() || dropped && blank:
			dropped = !blank
		default:
			out = append(out, line...)
		}
		if x.heard.stop != "" {
			x.held = append(x.held, out...)
			out = out[:0]
			continue
		}
		if !from.more() {
			x.to.write(out)
			x.to.flush()
			out = out[:0]
		}
		if x.to.err != nil {
			return x.to.err
		}
	}
	silence.Reset(restTime)
	x.rest(&from)
	return nil
}

// restSize and restTime bound what is read behind the end of an answer: a connection can be used again when all is read.
const (
	restSize = 4 << 10
	restTime = time.Second
)

// rest reads what stands behind the last event. Whatever ends it, the answer is complete.
func (x *exchange) rest(from *lines) {
	for n := 0; n < restSize; {
		line, err := from.next()
		if err != nil {
			return
		}
		if n += len(line); x.verbatim {
			x.held = append(x.held, line...)
		}
	}
}

// wantsUsage reports whether the client asked for an event with the usage.
func (x *exchange) wantsUsage() bool {
	s, ok := x.speech.(*openaiSpeech)
	return !ok || s.usage
}
