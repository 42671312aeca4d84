package llmtest

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Canned is a server that gives the same answers, whatever it is asked.
type Canned struct {
	*Server
	answers []string

	mu    sync.Mutex // guards asked
	asked []string
}

// Answers starts a server that gives one answer after the other, and the last one from then on. An answer is its status, a
// space and its body.
func Answers(t testing.TB, answers ...string) *Canned {
	t.Helper()
	c := &Canned{answers: answers}
	c.Server = Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		status, text, _ := strings.Cut(c.next(r.Method+" "+r.URL.Path+" "+string(body)), " ")
		code, err := strconv.Atoi(status)
		if err != nil {
			t.Error(err)
			code = http.StatusInternalServerError
		}
		w.WriteHeader(code)
		if _, err := io.WriteString(w, text); err != nil {
			t.Error(err)
		}
	}))
	return c
}

func (c *Canned) next(asked string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, asked)
	return c.answers[min(len(c.asked), len(c.answers))-1]
}

// Asked is what it was asked until now: of each request its method, path and body, with spaces between them.
func (c *Canned) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[:len(c.asked):len(c.asked)]
}
