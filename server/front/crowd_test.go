package front_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/front"
)

// crowd is a model server that fails often, says little else, and remembers what it was asked by the seed of the call.
type crowd struct {
	testing.TB

	mu    sync.Mutex // guards what follows
	fate  *rand.Rand
	seeds int
	asked map[int][]string
}

func (c *crowd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Messages []struct{ Role, Content string }
		Options  struct{ Seed int }
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		return // who called has hung up
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := []string{}
	for _, said := range call.Messages {
		if !strings.HasPrefix(said.Content, "(the call was cancelled") {
			asked = append(asked, said.Role+": "+said.Content)
		}
	}
	c.asked[call.Options.Seed] = asked
	says := `"content":"` + []string{"yes", "no"}[c.fate.IntN(2)] + `"`
	switch c.fate.IntN(3) {
	case 0:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case 1:
		says = `"content":"","tool_calls":[{"function":{"name":"f","arguments":{}}},{"function":{"name":"g","arguments":{}}}]`
	}
	if _, err := fmt.Fprintln(w, `{"model":"m","message":{"role":"assistant",`+says+`},"done":true,"done_reason":"stop"}`); err != nil {
		c.Log(err)
	}
}

func (c *crowd) seed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seeds++
	return c.seeds
}

// member is a client of the crowd.
type member struct {
	*crowd
	urls    []string
	name    string // of its session, empty for none
	fate    *rand.Rand
	history []m
}

// goOn adds what comes next: a result of one call or of both, late or not at all, or something said.
func (c *member) goOn() {
	result := func(name string) {
		c.history = append(c.history, m{"role": "tool", "tool_name": name, "content": "seen"})
	}
	var last m
	if n := len(c.history); n > 0 {
		last = c.history[n-1]
	}
	switch {
	case last["tool_calls"] != nil && c.fate.IntN(4) > 0:
		if result("f"); c.fate.IntN(2) == 0 {
			result("g")
		}
	case last["tool_name"] == "f" && c.fate.IntN(2) == 0:
		result("g")
	default:
		c.history = append(c.history, user([]string{"hi", "there"}[c.fate.IntN(2)]))
	}
}

// call sends the history, or hangs up, and checks that the model is asked with that and nothing else.
func (c *member) call() (replied bool) {
	seed := c.seed()
	body, err := json.Marshal(m{"model": "m", "stream": false, "messages": c.history, "options": m{"seed": seed}})
	if err != nil {
		c.Error(err)
	}
	ctx, cancel := c.Context(), context.CancelFunc(func() {})
	// Who names its session and has seen no reply says what is new alone: that there was one when it hung up is not known of it.
	if c.fate.IntN(8) == 0 && c.name == "" {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.fate.IntN(10))*time.Millisecond)
	}
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.urls[c.fate.IntN(len(c.urls))]+"/api/chat", bytes.NewReader(body))
	if err != nil {
		c.Error(err)
		return false
	}
	if c.name != "" {
		request.Header.Set(front.SessionHeader, c.name)
	}
	var reply struct{ Message m }
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		err = json.NewDecoder(response.Body).Decode(&reply)
		_ = response.Body.Close()
	}
	if ctx.Err() != nil {
		return false
	}
	var said []string
	for _, one := range c.history {
		said = append(said, fmt.Sprint(one["role"], ": ", one["content"]))
	}
	c.mu.Lock()
	asked := c.asked[seed]
	c.mu.Unlock()
	if err != nil || !slices.Equal(asked, said) {
		c.Errorf("the client sends %q, the model is asked %q: %v", said, asked, err)
	}
	if reply.Message == nil {
		return false
	}
	c.history = append(c.history, reply.Message)
	return true
}

// However many say the same, are failed, hang up, try again or say more, in two processes: the model is asked with what the client
// sent and with nothing that another did.
func TestCrowd(t *testing.T) {
	c := &crowd{TB: t, fate: rand.New(rand.NewPCG(1, 1)), asked: map[int][]string{}}
	upstream := httptest.NewServer(c)
	t.Cleanup(upstream.Close)
	path := filepath.Join(t.TempDir(), "front.db")
	var urls []string
	for range 2 {
		eng := newEngine(t, openStore(t, path), nil)
		t.Cleanup(func() {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		})
		f, err := front.New(front.Config{
			Engine:   func(*http.Request) (*turnstone.Engine, error) { return eng, nil },
			Upstream: front.Upstream{URL: upstream.URL, Kind: front.Ollama}, Log: slog.NewTextHandler(io.Discard, nil),
		})
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(f.Handler())
		t.Cleanup(server.Close)
		urls = append(urls, server.URL)
	}
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			fate := rand.New(rand.NewPCG(uint64(i), 2))
			for talk := range 9 {
				one := &member{crowd: c, urls: urls, fate: fate}
				if talk%3 == 2 {
					one.name = fmt.Sprintf("talk-%d-%d", i, talk)
				}
				for range 7 {
					one.goOn()
					for !one.call() && fate.IntN(2) == 0 { // or it says more
					}
				}
			}
		})
	}
	all.Wait()
}
