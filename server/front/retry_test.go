package front_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/server/front"
)

// A call that got no reply and comes once more goes on where it was, and is said once: no session and no fork is left behind.
func TestRetry(t *testing.T) {
	away := answer{status: 503, body: `{"error":"loading"}`}
	dies := answer{text: "one", dies: 0}
	for name, test := range map[string]struct {
		before         []m // what was said elsewhere
		replies, fails []answer
		last           []m
		want           []string
		asks           []string
	}{
		"the first call": {
			fails: []answer{away}, last: []m{user("hi")},
			want: []string{"user: hi", "agent: fine", "user: more", "agent: good"}, asks: []string{"user: hi"},
		},
		"that fails in mid-stream": {
			fails: []answer{dies}, last: []m{user("hi")},
			want: []string{"user: hi", "agent: fine", "user: more", "agent: good"}, asks: []string{"user: hi"},
		},
		"three times": {
			fails: []answer{away, dies, away}, last: []m{user("hi")},
			want: []string{"user: hi", "agent: fine", "user: more", "agent: good"}, asks: []string{"user: hi"},
		},
		"a later call": {
			replies: []answer{says("first")}, fails: []answer{away, away}, last: []m{user("hi"), user("there")},
			want: []string{"user: one", "agent: first", "user: hi", "user: there", "agent: fine", "user: more", "agent: good"},
			asks: []string{"user: one", "assistant: first", "user: hi", "user: there"},
		},
		"behind what others said": {
			before: []m{user("a"), assistant("b")}, fails: []answer{away}, last: []m{user("hi")},
			want: []string{"user: a", "agent: b", "user: hi", "agent: fine", "user: more", "agent: good"}, asks: []string{"user: a", "assistant: b", "user: hi"},
		},
		"with results": {
			replies: []answer{{dies: -1, calls: []called{{"c", "look", "{}"}}}}, fails: []answer{away}, last: []m{{"role": "tool", "tool_call_id": "c", "tool_name": "look", "content": "seen"}},
			want: []string{"user: one", "agent:  look{}", `system: look ok "seen"`, "agent: fine", "user: more", "agent: good"},
		},
		"with one result of two": {
			replies: []answer{{dies: -1, calls: []called{{"c", "look", "{}"}, {"d", "look", "{}"}}}}, fails: []answer{away, away}, last: []m{{"role": "tool", "tool_call_id": "c", "tool_name": "look", "content": "seen"}},
			want: []string{"user: one", "agent:  look{} look{}", `system: look ok "seen"`, "system: look cancelled ", "agent: fine", "user: more", "agent: good"},
		},
	} {
		for _, named := range []string{"", "mine"} {
			for _, replica := range []bool{false, true} { // what one knows, and what stands in the store
				t.Run(name+" "+named, func(t *testing.T) {
					script := append(append(append([]answer(nil), test.replies...), test.fails...), says("fine"), says("good"))
					w := newWorld(t, newScripted(t, front.Ollama, script...))
					chat := w.talk(front.Ollama, true)
					if named != "" {
						chat.header.Set(front.SessionHeader, named)
					}
					chat.history = test.before
					for range test.replies {
						chat.say("one")
					}
					failed := chat.send(test.last...)
					for range test.fails[1:] {
						failed = chat.send()
					}
					if failed.failure == "" {
						t.Fatalf("it is answered: %s", failed.body)
					}
					if replica {
						chat.url = serve(t, w.engine, w.upstream)
					}
					if r := chat.send(); r.text != "fine" {
						t.Fatalf("status %d: %s", r.status, r.body)
					}
					if said := w.upstream.last().said(); test.asks != nil && cmp.Diff(test.asks, said) != "" {
						t.Errorf("asked %q", said)
					}
					chat.say("more")
					if diff := cmp.Diff([][]string{test.want}, w.logs()); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// Who says more after a call that got no reply goes on where it was, also when that fails and is tried again.
func TestMoreThanARetry(t *testing.T) {
	away := answer{status: 503, body: `{"error":"loading"}`}
	result := m{"role": "tool", "tool_call_id": "c", "tool_name": "look", "content": "seen"}
	for name, test := range map[string]struct {
		before  []m // what was said elsewhere
		replies []answer
		last    m
		want    []string // before "there"
	}{
		"the first call":          {last: user("hi"), want: []string{"user: hi"}},
		"behind what others said": {before: []m{user("a"), assistant("b")}, last: user("hi"), want: []string{"user: a", "agent: b", "user: hi"}},
		"a later call":            {replies: []answer{says("first")}, last: user("hi"), want: []string{"user: one", "agent: first", "user: hi"}},
		"with one result of two": {
			replies: []answer{{dies: -1, calls: []called{{"c", "look", "{}"}, {"d", "look", "{}"}}}}, last: result,
			want: []string{"user: one", "agent:  look{} look{}", `system: look ok "seen"`, "system: look cancelled "},
		},
	} {
		for _, named := range []string{"", "mine"} {
			for _, fails := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s %s %d", name, named, fails), func(t *testing.T) {
					script := append(append([]answer(nil), test.replies...), []answer{away, away}[:fails]...)
					w := newWorld(t, newScripted(t, front.Ollama, append(script, says("fine"), says("good"))...))
					chat := w.talk(front.Ollama, true)
					if named != "" {
						chat.header.Set(front.SessionHeader, named)
					}
					chat.history = test.before
					for range test.replies {
						chat.say("one")
					}
					chat.send(test.last)
					if fails == 2 {
						chat.send(user("there"))
					} else {
						chat.history = append(chat.history, user("there"))
					}
					if r := chat.send(); r.text != "fine" {
						t.Fatalf("status %d: %s", r.status, r.body)
					}
					chat.say("more")
					want := append(test.want[:len(test.want):len(test.want)], "user: there", "agent: fine", "user: more", "agent: good")
					if diff := cmp.Diff([][]string{want}, w.logs()); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// Who got a reply and has another conversation that begins alike goes on in a session of its own.
func TestMoreThanWhatWasAnswered(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("one"), says("two")))
	w.talk(front.Ollama, true).send(user("hi"))
	w.talk(front.Ollama, true).send(user("hi"), user("there"))
	if got := len(w.sessions()); got != 2 {
		t.Errorf("%d sessions", got)
	}
}

// What came of a call that was tried again is told of the turn that it began with.
func TestRetryIsExported(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, answer{status: 500, body: "oops"}, says("fine")))
	chat := w.talk(front.Ollama, true)
	chat.send(user("hi"))
	session := chat.send().header.Get(front.SessionHeader)
	for _, want := range []commit.State{commit.Failed, commit.Complete} {
		if state := w.ended(); state != want {
			t.Errorf("it ended as %s, not %s", state, want)
		}
	}
	s, err := w.engine.Find(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := s.Since(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	export, err := w.engine.Export(t.Context(), turns[0].ID)
	if err != nil || export.Turn.UserInput != "hi" || export.Turn.AssistantResponse != "fine" {
		t.Errorf("%+v, %v", export.Turn, err)
	}
}

// A client that hung up before anything came asks again.
func TestRetryOfWhoHungUp(t *testing.T) {
	gate := make(chan struct{})
	w := newWorld(t, newScripted(t, front.Ollama, answer{text: "never", dies: -1, gate: gate}, says("fine")))
	chat := w.talk(front.Ollama, true)
	chat.history = []m{user("hi")}
	ctx, hangUp := context.WithCancel(t.Context())
	response := chat.open(ctx)
	hangUp()
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	w.ended()
	chat.send()
	if diff := cmp.Diff([][]string{{"user: hi", "agent: fine"}}, w.logs()); diff != "" {
		t.Error(diff)
	}
}

// Who says the same words while another waits for the reply to them, or more, does not wait, and neither sees the other: here,
// and in another process.
func TestSameWordsWhileAnotherWaits(t *testing.T) {
	for i := range 4 {
		beside, more := i%2 == 1, []m{user("hi"), user("there")}[:1+i/2]
		gate := make(chan struct{})
		slow := says("slow")
		slow.gate = gate
		upstream := newScripted(t, front.Ollama, slow, says("quick"))
		path := filepath.Join(t.TempDir(), "shared.db")
		first := newEngine(t, openStore(t, path), nil)
		second := first
		if beside {
			second = newEngine(t, openStore(t, path), nil)
			t.Cleanup(func() {
				if err := second.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		t.Cleanup(func() {
			if err := first.Close(); err != nil {
				t.Error(err)
			}
		})
		w := &world{T: t, upstream: upstream, engine: first, url: serve(t, first, upstream)}
		a, b := w.talk(front.Ollama, true), w.talk(front.Ollama, true)
		b.url = serve(t, second, upstream)
		a.history = []m{user("hi")}
		waits := a.open(t.Context())
		if r := b.send(more...); r.status != http.StatusOK || r.text != "quick" || r.header.Get(front.SessionHeader) == waits.Header.Get(front.SessionHeader) {
			t.Errorf("beside %v: status %d: %s", beside, r.status, r.body)
		}
		close(gate)
		if err := waits.Body.Close(); err != nil {
			t.Error(err)
		}
		ids := w.sessions()
		for _, id := range ids {
			s, err := w.engine.Find(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := s.Info(t.Context()); err != nil || info.Parent != "" {
				t.Errorf("beside %v: %+v, %v", beside, info, err)
			}
		}
		if len(ids) != 2 {
			t.Errorf("beside %v: %d sessions", beside, len(ids))
		}
	}
}

// Who names its session, hangs up and sends the same once more, before the server has seen that it had gone, says it once.
func TestRetryInANamedSessionOvertakes(t *testing.T) {
	for name, more := range map[string][]m{"the same": {user("hi")}, "more": {user("hi"), user("there")}} {
		t.Run(name, func(t *testing.T) {
			st := &looks{Store: openStore(t, filepath.Join(t.TempDir(), "looks.db"))}
			eng := newEngine(t, st, nil)
			t.Cleanup(func() {
				if err := eng.Close(); err != nil {
					t.Error(err)
				}
			})
			upstream := newScripted(t, front.Ollama, answer{text: "never", dies: -1, gate: make(chan struct{})}, says("fine"))
			w := &world{T: t, upstream: upstream, engine: eng, url: serve(t, eng, upstream)}
			first, second := w.talk(front.Ollama, true), w.talk(front.Ollama, true)
			first.header.Set(front.SessionHeader, "mine")
			second.header.Set(front.SessionHeader, "mine")
			first.history = []m{user("hi")}
			ctx, hangUp := context.WithCancel(t.Context())
			response := first.open(ctx)
			before := st.count.Load()
			done := make(chan reply, 1)
			second.history = more
			go func() { done <- second.call(t.Context()) }()
			again := time.NewTicker(10 * time.Millisecond)
			defer again.Stop()
			for st.count.Load() == before { // until it has found that the same was said
				<-again.C
			}
			hangUp()
			if err := response.Body.Close(); err != nil {
				t.Error(err)
			}
			if r := <-done; r.text != "fine" {
				t.Errorf("status %d: %s", r.status, r.body)
			}
			var want []string
			for _, said := range more {
				want = append(want, fmt.Sprint("user: ", said["content"]))
			}
			if diff := cmp.Diff([][]string{append(want, "agent: fine")}, w.logs()); diff != "" {
				t.Errorf("something else stands there: %s", diff)
			}
		})
	}
}
