package front_test

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// The results of calls that were closed while the client ran them are seen as what they are.
func TestResultsOfClosedCalls(t *testing.T) {
	result := func(id string) m {
		return m{"role": "tool", "tool_call_id": id, "tool_name": "look", "content": "seen " + id}
	}
	for name, test := range map[string]struct {
		fails  []answer
		closed func(*testing.T, *world, *talk)
	}{
		"by who held the lease": {closed: func(t *testing.T, w *world, _ *talk) {
			s, err := w.engine.Find(t.Context(), w.sessions()[0])
			if err != nil {
				t.Fatal(err)
			}
			l, err := s.Acquire(t.Context())
			if err == nil {
				err = l.Release(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
		"by a call with one of them": {fails: []answer{{status: 503, body: `{"error":"loading"}`}}, closed: func(_ *testing.T, _ *world, chat *talk) {
			chat.send(result("c"))
			chat.history = chat.history[:len(chat.history)-1]
		}},
	} {
		t.Run(name, func(t *testing.T) {
			script := append([]answer{{dies: -1, calls: []called{{"c", "look", "{}"}, {"d", "look", "{}"}}}}, test.fails...)
			w := newWorld(t, newScripted(t, front.Ollama, append(script, says("fine"), says("good"))...))
			chat := w.talk(front.Ollama, true)
			chat.say("one")
			test.closed(t, w, chat)
			if r := chat.send(result("c"), result("d")); r.status != http.StatusOK || r.text != "fine" {
				t.Fatalf("status %d: %s", r.status, r.body)
			}
			chat.say("more")
			want := []string{"user: one", "agent:  look{} look{}", `system: look ok "seen c"`, `system: look ok "seen d"`, "agent: fine", "user: more", "agent: good"}
			if all := w.logs(); !slices.ContainsFunc(all, func(log []string) bool { return slices.Equal(log, want) }) {
				t.Errorf("%q", all)
			}
		})
	}
}

// meanwhile has something happen before the next update.
type meanwhile struct {
	store.Store
	happens func()
}

func (s *meanwhile) Update(ctx context.Context, fn func(store.Tx) error) error {
	if happens := s.happens; happens != nil {
		s.happens = nil
		happens()
	}
	return s.Store.Update(ctx, fn)
}

// Who says more than a call that had no reply goes on elsewhere where the reply came in that moment: whose it is nobody knows.
func TestMoreThanWhatIsAnsweredMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "front.db")
	st := &meanwhile{Store: openStore(t, path)}
	eng, other := newEngine(t, st, nil), newEngine(t, openStore(t, path), nil)
	for _, e := range []*turnstone.Engine{eng, other} {
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	upstream := newScripted(t, front.Ollama, answer{status: 503, body: `{"error":"loading"}`}, says("fine"))
	w := &world{T: t, upstream: upstream, engine: eng, url: serve(t, eng, upstream)}
	w.talk(front.Ollama, true).send(user("hi"))
	s, err := other.Find(t.Context(), w.sessions()[0])
	if err != nil {
		t.Fatal(err)
	}
	st.happens = func() {
		if _, err := s.Append(t.Context(), turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "hello"}}); err != nil {
			t.Error(err)
		}
	}
	w.talk(front.Ollama, true).send(user("hi"), user("there"))
	if diff := cmp.Diff([][]string{{"user: hi", "agent: hello"}, {"user: hi", "user: there", "agent: fine"}}, w.logs()); diff != "" {
		t.Error(diff)
	}
}
