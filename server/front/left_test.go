package front_test

import (
	"bufio"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// A server dies in the middle of a reply. When its lease has ended another one keeps what was written down of the reply,
// and a client that repeats what it saw of it goes on in the same session.
func TestServerDiesInMidReply(t *testing.T) {
	for name, test := range map[string]struct {
		before []string // replies
		later  bool     // the client saw more than was written down
		want   []string
	}{
		"the first reply":               {nil, false, []string{"user: two", "agent: a b  […]", "user: go on", "agent: fine"}},
		"a later one":                   {[]string{"first"}, false, []string{"user: one", "agent: first", "user: two", "agent: a b  […]", "user: go on", "agent: fine"}},
		"the first, of which more came": {nil, true, []string{"user: two", "agent: a b  […]", "user: go on", "agent: fine"}},
	} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{})
			slow := says("a b c d")
			slow.gate = gate
			var script []answer
			for _, text := range test.before {
				script = append(script, says(text))
			}
			upstream := newScripted(t, front.Ollama, append(script, slow, says("fine"))...)
			st := openStore(t, filepath.Join(t.TempDir(), "dies.db"))
			dies := newEngine(t, st, nil)
			w := &world{T: t, upstream: upstream, engine: dies, url: serve(t, dies, upstream)}
			chat := w.talk(front.Ollama, true)
			for range test.before {
				chat.say("one")
			}
			chat.history = append(chat.history, user("two"))
			response := chat.open(t.Context())
			from := bufio.NewReader(response.Body)
			seen := words(t, from, gate, 2)
			session := response.Header.Get(front.SessionHeader)
			left := filepath.Join(t.TempDir(), "left.db")
			leave(t, st, turn.Key{Tenant: turn.DefaultTenant, Session: session}, "a b ", left)
			if test.later {
				seen += words(t, from, gate, 1)
			}
			close(gate)
			if _, err := io.Copy(io.Discard, from); err != nil {
				t.Error(err)
			}
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			if err := dies.Close(); err != nil {
				t.Error(err)
			}

			w.engine = newEngine(t, openStore(t, left), nil)
			t.Cleanup(func() {
				if err := w.engine.Close(); err != nil {
					t.Error(err)
				}
			})
			if swept, err := w.engine.Sweep(t.Context()); err != nil || swept.Exchanges != 1 {
				t.Fatalf("%+v, %v", swept, err)
			}
			chat.url, chat.history = serve(t, w.engine, upstream), append(chat.history, assistant(seen))
			if got := chat.say("go on").header.Get(front.SessionHeader); got != session {
				t.Errorf("it goes on in %s, not in %s", got, session)
			}
			if diff := cmp.Diff(test.want, w.log(session)); diff != "" {
				t.Error(diff)
			}
			if ids := w.sessions(); len(ids) != 1 {
				t.Errorf("sessions %v", ids)
			}
		})
	}
}

// words lets the upstream server say so many words, and returns what the client sees of them.
func words(t *testing.T, from *bufio.Reader, gate chan<- struct{}, n int) (seen string) {
	t.Helper()
	for range n {
		gate <- struct{}{}
		line, err := from.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		seen += read(t, front.Ollama, true, &http.Response{StatusCode: http.StatusOK}, line).text
	}
	return seen
}

// leave waits until so much of a reply is written down, and copies the store as it would be left by a process that died then
// and whose lease has ended.
func leave(t *testing.T, st store.Store, key turn.Key, said, path string) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for kept := ""; !strings.Contains(kept, said); <-again.C {
		err := st.View(t.Context(), func(tx store.Tx) error {
			e, _, err := tx.Log().Exchange(t.Context(), key)
			kept = e.Content
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := st.(*sqlite.Store).Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	left := openStore(t, path)
	err := left.Update(t.Context(), func(tx store.Tx) error {
		return tx.Log().SetLease(t.Context(), key, turn.Lease{Token: "dead", Until: tx.Now().Add(-time.Second)})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
}
