package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/porttest"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/server/observe"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

// line leads to another server, and is cut and mended.
type line struct {
	t       *testing.T
	to      string
	addr    string
	running sync.WaitGroup
	flow    sync.RWMutex // whoever holds it keeps every byte back

	mu       sync.Mutex // guards what follows
	listener net.Listener
	open     map[net.Conn]bool
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := porttest.Listen()
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, to: to, addr: listener.Addr().String()}
	l.through(listener)
	t.Cleanup(func() {
		l.cut()
		l.running.Wait()
	})
	return l
}

// mend lets connections through, at the same address as ever.
func (l *line) mend() {
	l.t.Helper()
	listener, err := net.Listen("tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.through(listener)
}

func (l *line) through(listener net.Listener) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listener, l.open = listener, make(map[net.Conn]bool)
	l.running.Go(func() { l.accept(listener) })
}

// cut breaks all connections and refuses others.
func (l *line) cut() {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		l.t.Error(err)
	}
	for conn := range l.open {
		if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			l.t.Error(err)
		}
	}
	l.open = nil
}

func (l *line) accept(listener net.Listener) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", l.to)
		if err != nil {
			l.t.Error(err)
			return
		}
		l.mu.Lock()
		if l.open == nil {
			l.open = make(map[net.Conn]bool) // cut in this moment; the next cut closes it
		}
		l.open[near], l.open[far] = true, true
		l.mu.Unlock()
		for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
			l.running.Go(func() {
				// It ends when one side does, in whichever way.
				_, failed := io.Copy(flowing{way[0], l}, way[1])
				if err := errors.Join(way[0].Close(), way[1].Close()); err != nil && failed == nil && !errors.Is(err, net.ErrClosed) {
					l.t.Error(err)
				}
			})
		}
	}
}

// flowing is one end of a line.
type flowing struct {
	io.Writer
	line *line
}

func (f flowing) Write(p []byte) (int, error) {
	f.line.flow.RLock()
	defer f.line.flow.RUnlock()
	return f.Writer.Write(p)
}

// unending ends its replies when it is told to.
type unending struct {
	llm.Model
	told chan struct{}
}

func (u unending) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for chunk, err := range u.Model.Stream(ctx, r) {
			if chunk.Stop != "" {
				select {
				case <-u.told:
				case <-ctx.Done():
				}
			}
			if !yield(chunk, err) {
				return
			}
		}
	}
}

// The database goes away and comes back, in the middle of a reply and of appending. What cannot be done meanwhile is
// refused with a problem that tells nobody where the database is; a reply under way is finished; who looks on is not
// sent away; nothing that was acknowledged is lost, and nothing is there twice.
func TestTheDatabaseGoneAndBack(t *testing.T) {
	address, err := url.Parse(pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	way := newLine(t, address.Host)
	secret, _ := address.User.Password()
	address.Host = way.addr
	opened, err := postgres.Open(t.Context(), address.String(), postgres.Config{RetryFor: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	st := observe.NewStore(opened)
	ready := func(want error) {
		t.Helper()
		if err := observe.NewStore(opened).Ready(t.Context()); !errors.Is(err, want) {
			t.Errorf("ready: %v, want %v", err, want)
		}
	}
	model := unending{told: make(chan struct{}), Model: llmtest.Respond(func(r llm.Request) llmtest.Reply {
		if strings.Contains(r.Messages[len(r.Messages)-1].Text, "Count") {
			return llmtest.Reply{Text: strings.Repeat("and one more ", 40), Delay: 20 * time.Millisecond}
		}
		return llmtest.Reply{Text: "Yes."}
	})}
	eng := openedOn(t, st, turnstone.Config{ModelName: "llama3.2", Model: model})
	c, _ := exposed(t, eng, server.Limits{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"s"}`)
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"a"}`)
	looking := c.watch("/sessions/a/events")
	snap(t, eng, "a", "1")
	answer, events := c.hear(t.Context(), "s", "Count.")
	if e, err := events.Next(); err != nil || e.Name != "text" {
		t.Fatalf("%+v, %v", e, err)
	}
	var acknowledged []string
	write := func(n int) int {
		key := fmt.Sprint("turn ", n)
		got := c.do("POST", "/sessions/log/turns?create=true", fmt.Sprintf(`{"turns":[{"role":"user","text":%q}]}`, key), "Idempotency-Key", key)
		switch got.status {
		case http.StatusCreated:
			acknowledged = append(acknowledged, key)
		case http.StatusServiceUnavailable:
			if !strings.Contains(got.body, "#unavailable") || !strings.Contains(got.body, `"detail":"store cannot be reached; try again in a moment`) || strings.Contains(got.body, way.addr) || strings.Contains(got.body, secret) {
				t.Error(got.body)
			}
		default:
			t.Errorf("%d %s", got.status, got.body)
		}
		return got.status
	}
	if status := write(0); status != http.StatusCreated {
		t.Errorf("%d", status)
	}
	ready(nil)
	way.cut()
	ready(store.ErrUnavailable)
	for n := 1; n < 4; n++ {
		if status := write(n); status != http.StatusServiceUnavailable {
			t.Errorf("%d without a database", status)
		}
	}
	way.mend()
	ready(nil)
	for n := range 4 {
		for write(n) != http.StatusCreated {
			continue
		}
	}
	close(model.told)
	last := ""
	for {
		e, err := events.Next()
		if err != nil {
			break
		}
		last = e.Name + " " + e.Data
	}
	if !strings.HasPrefix(last, "reply ") || !strings.Contains(last, `"status":"complete"`) {
		t.Error(last)
	}
	if err := answer.Body.Close(); err != nil {
		t.Error(err)
	}
	snap(t, eng, "a", "2")
	if got := looking.names(2); got[0] != "snapshot-created a/1" || got[1] != "snapshot-created a/2" {
		t.Errorf("%q", got)
	}
	var shown turnsShown
	c.want(http.StatusOK, &shown, "GET", "/sessions/log/turns", nil)
	if len(shown.Items) != 4 || len(acknowledged) != 5 {
		t.Errorf("%d turns, acknowledged %q", len(shown.Items), acknowledged)
	}
}
