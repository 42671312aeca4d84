package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/sse"
	"github.com/turnstone-dev/turnstone/turn"
)

func acceptsEvents(accept string) bool {
	return strings.Contains(strings.ToLower(accept), sse.ContentType)
}

// saying streams a reply as events. What goes wrong before the first piece is a problem with its status, unless the model
// has kept the client waiting for so long that the stream had to begin.
func (s *Server) saying(c huma.Context, session *turnstone.Session, what *utterance) {
	ctx, hangUp := context.WithCancel(c.Context())
	defer hangUp()
	r, w := humago.Unwrap(c)
	out := newTeller(w, s.config.Limits.Write, hangUp)
	defer out.end()
	for piece, err := range session.Stream(ctx, what.text, what.options...) {
		if err != nil {
			err = what.asSent(err)
			if lost := out.end(); lost != nil {
				RecordOf(ctx).Err = lost
				return
			}
			if !out.begun() {
				s.refused(c, err)
				return
			}
		}
		event, data := "problem", any(nil)
		if err != nil {
			data = s.problem(c.Context(), r.URL.Path, err)
		} else {
			event, data = pieceEvent(session.ID(), piece)
		}
		if err := out.tell(func(to *sse.Writer) error { return sendEvent(to, event, data) }); err != nil {
			RecordOf(ctx).Err = err
			return // nobody listens: the exchange is cut short
		}
	}
}

// teller is a stream that begins with the first thing that is told, or after a while without one, and shows from time to time
// that it is alive: proxies cut off who says nothing for a minute, and a model may think for longer.
type teller struct {
	w       http.ResponseWriter
	timeout time.Duration
	hangUp  func() // called where the client is lost

	mu    sync.Mutex // guards w, and all below
	out   *sse.Writer
	alive *time.Timer
	over  bool
	lost  error // why the client is
}

func newTeller(w http.ResponseWriter, timeout time.Duration, hangUp func()) *teller {
	t := &teller{w: w, timeout: timeout, hangUp: hangUp}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.alive = time.AfterFunc(heartbeat, t.beat)
	return t
}

// beat shows that the stream is alive.
func (t *teller) beat() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return
	}
	if err := t.send(func(to *sse.Writer) error { return to.Comment("alive") }); err != nil {
		t.hangUp()
	}
}

// tell writes something to the client.
func (t *teller) tell(what func(*sse.Writer) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.send(what)
}

// send is tell of who holds mu.
func (t *teller) send(what func(*sse.Writer) error) error {
	if t.lost == nil && t.out == nil {
		t.out, t.lost = sse.Begin(t.w, t.timeout)
	}
	if t.lost == nil {
		t.lost = what(t.out)
	}
	if !t.over {
		t.alive.Reset(heartbeat)
	}
	return t.lost
}

// end has it show no longer that it is alive, and says why the client is lost, if it is.
func (t *teller) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	t.alive.Stop()
	return t.lost
}

// begun reports whether anything was sent.
func (t *teller) begun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out != nil
}

func sendEvent(out *sse.Writer, event string, data any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("event %s: %w", event, err)
	}
	return out.Send(sse.Event{Name: event, Data: string(text)})
}

// pieceEvent is a piece of a reply as an event: its name and what is said in it.
func pieceEvent(session string, p turnstone.Piece) (string, any) {
	switch {
	case p.Reply != nil:
		return "reply", newSpoken(session, p.Reply)
	case p.Call != nil:
		return "call", map[string]string{"id": p.Call.ID, "name": p.Call.Name, "arguments": p.Call.Arguments}
	case p.Result != nil:
		return "result", json.RawMessage(turn.AppendContent(nil, *p.Result))
	case p.Warning != "":
		return "warning", map[string]string{"warning": p.Warning}
	case p.Thinking != "":
		return "thinking", map[string]string{"text": p.Thinking}
	}
	return "text", map[string]string{"text": p.Text}
}
