package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

// Client is a client of model servers as the suite needs it.
type Client struct {
	// New returns a model of the server.
	New func(s *Server, l llm.Limits, b llm.Backoff) llm.Model
	// Piece is the lines that a server of this kind streams for a text, End those of an answer's end after two tokens
	// for a prompt of five.
	Piece func(text string) []string
	End   []string
}

var hello = llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Hello?"}}}

// Suite has the client talk to servers that fail in every way, in a bubble of testing/synctest: time costs
// nothing, and a goroutine or a connection that is left open fails the test.
func Suite(t *testing.T, c Client) {
	for name, test := range map[string]func(*testing.T, Client){
		"answers":                           answers,
		"uses a connection again":           reuses,
		"refused while the server starts":   refused,
		"nobody there":                      nobody,
		"500 then 200":                      failsThenAnswers,
		"500 for ever":                      fails,
		"429 with a time":                   limited,
		"dies before the answer":            diesBefore,
		"dies before each answer":           diesEachTime,
		"dies in the middle":                dies,
		"garbage":                           garbage,
		"hangs before the answer":           hangsBefore,
		"hangs in the middle":               hangs,
		"is silent while it writes a call":  writesACall,
		"never stops":                       neverStops,
		"never stops a line":                neverStopsALine,
		"a slow reader is no silent server": slowReader,
		"cancelled before":                  cancelledBefore,
		"cancelled while it waits":          cancelledWaiting,
		"cancelled while it tries again":    cancelledRetrying,
		"no time to try again":              noTimeToRetry,
		"cancelled in the middle":           cancelled,
		"the caller stops":                  stops,
		"the caller stops at the end":       stopsAtTheEnd,
		"stays after the end":               lingers,
		"cannot be closed":                  closes,
		"many at once":                      many,
		"a request that is wrong":           wrong,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, c) })
		})
	}
}

// talk is a server that answers the n-th request, from 0, with the n-th lines and the last ones ever after. A
// line that is a status in digits comes first.
type talk struct {
	*Server
	requests atomic.Int32
	gone     chan struct{} // closed when a client went before the server had ended
}

func newTalk(t *testing.T, answers ...[]string) *talk {
	k := &talk{gone: make(chan struct{})}
	k.Server = Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Only a server that has read all of a request sees that its client is gone.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		n := min(int(k.requests.Add(1)), len(answers)) - 1
		lines := answers[n]
		switch lines[0] {
		case "429":
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusTooManyRequests)
		case "500":
			w.WriteHeader(http.StatusInternalServerError)
		}
		Speak(w, r, lines...)
		if r.Context().Err() != nil {
			close(k.gone)
		}
	}))
	return k
}

func (c Client) say(texts ...string) []string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, c.Piece(text)...)
	}
	return lines
}

func (c Client) whole() []string { return append(c.say("It ", "rains."), c.End...) }

// ask has the model answer and checks what came and how it ended.
func (c Client) ask(t *testing.T, m llm.Model, text string, kind error) *llm.Error {
	t.Helper()
	got, err := llm.Complete(t.Context(), m, hello)
	if got.Text != text || !errors.Is(err, kind) {
		t.Errorf("got %q, %v, want %q, %v", got.Text, err, text, kind)
	}
	if (got.Stop == "") != (kind != nil) {
		t.Errorf("stop %q with %v", got.Stop, err)
	}
	var e *llm.Error
	if errors.As(err, &e) && e.Fix == "" {
		t.Errorf("%v does not say what to do", err)
	}
	return e
}

func (c Client) model(s *talk) llm.Model { return c.New(s.Server, llm.Limits{}, llm.Backoff{}) }

func (s *talk) asked(t *testing.T, want int32) {
	t.Helper()
	if n := s.requests.Load(); n != want {
		t.Errorf("%d requests, want %d", n, want)
	}
}

func answers(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	got, err := llm.Complete(t.Context(), c.model(s), hello)
	if err != nil || got.Text != "It rains." || got.Stop != llm.StopEnd || got.Usage.Prompt != 5 || got.Usage.Answer != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

func reuses(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	m := c.model(s)
	for range 3 {
		c.ask(t, m, "It rains.", nil)
		synctest.Wait()
	}
	if s.Dialed() != 1 {
		t.Errorf("%d connections for three requests", s.Dialed())
	}
}

func refused(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	s.Refuse(2)
	c.ask(t, c.model(s), "It rains.", nil)
}

func nobody(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	s.Refuse(1000)
	begin := time.Now()
	e := c.ask(t, c.New(s.Server, llm.Limits{}, llm.Backoff{Attempts: 5, First: time.Second, Most: 3 * time.Second}), "", llm.ErrUnreachable)
	if waited := time.Since(begin); s.Dialed() != 5 || waited < 4500*time.Millisecond || waited > 9*time.Second || !e.Temporary {
		t.Errorf("%d attempts in %s", s.Dialed(), waited)
	}
}

func failsThenAnswers(t *testing.T, c Client) {
	s := newTalk(t, []string{"500"}, c.whole())
	c.ask(t, c.model(s), "It rains.", nil)
	s.asked(t, 2)
}

func fails(t *testing.T, c Client) {
	s := newTalk(t, []string{"500"})
	if e := c.ask(t, c.model(s), "", llm.ErrFailed); e.Status != http.StatusInternalServerError {
		t.Errorf("status %d", e.Status)
	}
	s.asked(t, 4)
}

func limited(t *testing.T, c Client) {
	s := newTalk(t, []string{"429"}, c.whole())
	begin := time.Now()
	c.ask(t, c.model(s), "It rains.", nil)
	if waited := time.Since(begin); waited < 5*time.Second {
		t.Errorf("waited %s", waited)
	}
	s = newTalk(t, []string{"429"})
	e := c.ask(t, c.New(s.Server, llm.Limits{}, llm.Backoff{Most: 4 * time.Second}), "", llm.ErrRateLimited)
	if e.RetryAfter != 5*time.Second {
		t.Errorf("retry after %s", e.RetryAfter)
	}
	s.asked(t, 1)
}

func diesBefore(t *testing.T, c Client) {
	s := newTalk(t, []string{"!die"}, c.whole())
	c.ask(t, c.model(s), "It rains.", nil)
	s.asked(t, 2)
}

// diesEachTime is a server that runs: nobody is told to start it.
func diesEachTime(t *testing.T, c Client) {
	s := newTalk(t, []string{"!die"})
	e := c.ask(t, c.model(s), "", llm.ErrInterrupted)
	if said := e.Error(); !e.Temporary || !strings.Contains(said, "the server at model.test closed the connection before it answered; ask again") {
		t.Errorf("%v", e)
	}
	s.asked(t, 4)
}

func dies(t *testing.T, c Client) {
	s := newTalk(t, append(c.say("It "), "!die"))
	c.ask(t, c.model(s), "It ", llm.ErrInterrupted)
	s.asked(t, 1)
	s = newTalk(t, append(append(c.say("It "), c.say("rains")[0][:20]), "!die"))
	c.ask(t, c.model(s), "It ", llm.ErrInterrupted)
	s = newTalk(t, c.say("It "))
	c.ask(t, c.model(s), "It ", llm.ErrInterrupted)
}

func garbage(t *testing.T, c Client) {
	s := newTalk(t, append(c.say("It "), "\x00\xff\xfe garbage", "more"))
	c.ask(t, c.model(s), "It ", llm.ErrFailed)
	s.asked(t, 1)
}

func hangsBefore(t *testing.T, c Client) {
	s := newTalk(t, []string{"!hang"})
	begin := time.Now()
	c.ask(t, c.New(s.Server, llm.Limits{First: 7 * time.Second, Idle: time.Hour}, llm.Backoff{}), "", llm.ErrInterrupted)
	if waited := time.Since(begin); waited != 7*time.Second {
		t.Errorf("waited %s", waited)
	}
	<-s.gone
	s.asked(t, 1)
}

func hangs(t *testing.T, c Client) {
	s := newTalk(t, append(c.say("It "), "!hang"))
	begin := time.Now()
	c.ask(t, c.New(s.Server, llm.Limits{First: time.Hour, Idle: 7 * time.Second}, llm.Backoff{}), "It ", llm.ErrInterrupted)
	if waited := time.Since(begin); waited != 7*time.Second {
		t.Errorf("waited %s", waited)
	}
	<-s.gone
}

func writesACall(t *testing.T, c Client) {
	offered := hello
	offered.Tools = []llm.Tool{{Name: "search"}}
	for waits, r := range map[time.Duration]llm.Request{2 * time.Minute: hello, 15 * time.Minute: offered} {
		s := newTalk(t, append(c.say("It "), "!hang"))
		begin := time.Now()
		if got, err := llm.Complete(t.Context(), c.model(s), r); got.Text != "It " || !errors.Is(err, llm.ErrInterrupted) {
			t.Errorf("got %q, %v", got.Text, err)
		}
		if waited := time.Since(begin); waited != waits {
			t.Errorf("waited %s, want %s", waited, waits)
		}
		<-s.gone
	}
}

func neverStops(t *testing.T, c Client) {
	lines := c.say(strings.Split(strings.Repeat("x", 2000), "")...)
	s := newTalk(t, append(lines, "!hang"))
	m := c.New(s.Server, llm.Limits{Total: 10_000}, llm.Backoff{})
	got, err := llm.Complete(t.Context(), m, hello)
	if !errors.Is(err, llm.ErrFailed) || got.Text == "" || len(got.Text) > 10_000 {
		t.Errorf("%d bytes, %v", len(got.Text), err)
	}
	<-s.gone
}

func neverStopsALine(t *testing.T, c Client) {
	s := newTalk(t, c.say(strings.Repeat("x", 100_000)))
	c.ask(t, c.New(s.Server, llm.Limits{Line: 50_000}, llm.Backoff{}), "", llm.ErrFailed)
	s = newTalk(t, append(c.say(strings.Repeat("x", 100_000)), c.End...))
	c.ask(t, c.New(s.Server, llm.Limits{Line: 101_000}, llm.Backoff{}), strings.Repeat("x", 100_000), nil)
}

func slowReader(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	for _, err := range c.model(s).Stream(t.Context(), hello) {
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
	}
}

func cancelledBefore(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("changed my mind")
	cancel(reason)
	_, err := llm.Complete(ctx, c.model(s), hello)
	if !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
		t.Error(err)
	}
	s.asked(t, 0)
}

func cancelledWaiting(t *testing.T, c Client) {
	s := newTalk(t, []string{"!hang"})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	begin := time.Now()
	_, err := llm.Complete(ctx, c.model(s), hello)
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 3*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	<-s.gone
}

func cancelledRetrying(t *testing.T, c Client) {
	s := newTalk(t, []string{"429"})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begin := time.Now()
	time.AfterFunc(3*time.Second, cancel)
	_, err := llm.Complete(ctx, c.model(s), hello)
	if !errors.Is(err, context.Canceled) || time.Since(begin) != 3*time.Second {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	s.asked(t, 1)
}

func noTimeToRetry(t *testing.T, c Client) {
	s := newTalk(t, []string{"429"})
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	begin := time.Now()
	_, err := llm.Complete(ctx, c.model(s), hello)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, llm.ErrRateLimited) || time.Since(begin) != 0 {
		t.Errorf("%v after %s", err, time.Since(begin))
	}
	s.asked(t, 1)
}

func cancelled(t *testing.T, c Client) {
	s := newTalk(t, append(c.say("It "), "!hang"))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	text, failure := "", error(nil)
	for chunk, err := range c.model(s).Stream(ctx, hello) {
		text, failure = text+chunk.Text, err
		cancel()
	}
	if text != "It " || !errors.Is(failure, context.Canceled) {
		t.Errorf("%q, %v", text, failure)
	}
	<-s.gone
}

func stops(t *testing.T, c Client) {
	s := newTalk(t, append(c.say("It ", "rains"), "!hang"))
	for chunk, err := range c.model(s).Stream(t.Context(), hello) {
		if chunk.Text != "It " || err != nil {
			t.Errorf("%+v, %v", chunk, err)
		}
		break
	}
	<-s.gone
}

// Whoever has the last chunk wants no more, and yet the connection can be used again.
func stopsAtTheEnd(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	m := c.model(s)
	for range 2 {
		for chunk, err := range m.Stream(t.Context(), hello) {
			if err != nil {
				t.Fatal(err)
			}
			if chunk.Stop != "" {
				break
			}
		}
		synctest.Wait()
	}
	if s.Dialed() != 1 {
		t.Errorf("%d connections for two requests", s.Dialed())
	}
}

// A server that stays after the end of its answer keeps nobody waiting who could notice.
func lingers(t *testing.T, c Client) {
	s := newTalk(t, append(c.whole(), "!hang"))
	begin := time.Now()
	c.ask(t, c.model(s), "It rains.", nil)
	if took := time.Since(begin); took > 100*time.Millisecond {
		t.Errorf("%s for an answer that came at once", took)
	}
	<-s.gone
}

// stuck is a transport whose bodies have an error when they are closed.
type stuck struct{ http.RoundTripper }

func (s stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = stuckBody{response.Body}
	}
	return response, err
}

type stuckBody struct{ io.ReadCloser }

func (b stuckBody) Close() error { return errors.Join(errors.New("stuck"), b.ReadCloser.Close()) }

// After the last chunk nothing is told, neither to who wants more nor to who does not.
func closes(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	s.HTTP.Transport = stuck{s.HTTP.Transport}
	m := c.model(s)
	c.ask(t, m, "It rains.", nil)
	for chunk, err := range m.Stream(t.Context(), hello) {
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Stop != "" {
			break
		}
	}
}

func many(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	m := c.model(s)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { c.ask(t, m, "It rains.", nil) })
	}
	all.Wait()
	s.asked(t, 20)
}

func wrong(t *testing.T, c Client) {
	s := newTalk(t, c.whole())
	_, err := llm.Complete(t.Context(), c.model(s), llm.Request{})
	var field *llm.FieldError
	if !errors.As(err, &field) || field.Name != "messages" {
		t.Error(err)
	}
	s.asked(t, 0)
}
