package front_test

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
)

// Each case has a conversation of two exchanges, "one" and "two", behind it, and goes on from it.
func TestMatching(t *testing.T) {
	begun := []string{"user: one", "agent: first", "user: two", "agent: second"}
	for name, test := range map[string]struct {
		// then is what the client sends after its two exchanges, whose history is given.
		then func(chat *talk, h []m)
		// want are the sessions in the end, as they were made.
		want [][]string
		// asked is what the model is shown last.
		asked []string
	}{
		"the conversation goes on": {
			then: func(chat *talk, _ []m) { chat.say("three") },
			want: [][]string{append(begun[:4:4], "user: three", "agent: third")},
		},
		"a message is edited": {
			then: func(chat *talk, h []m) {
				chat.history = h[:2]
				chat.say("TWO")
			},
			want:  [][]string{begun, {"user: one", "agent: first", "user: TWO", "agent: third"}},
			asked: []string{"user: one", "assistant: first", "user: TWO"},
		},
		"the last reply is made anew": {
			then: func(chat *talk, h []m) {
				chat.history = h[:2]
				chat.say("two")
			},
			want: [][]string{begun, {"user: one", "agent: first", "user: two", "agent: third"}},
		},
		"a fork goes on": {
			then: func(chat *talk, h []m) {
				chat.history = h[:2]
				chat.say("TWO")
				chat.say("THREE")
			},
			want: [][]string{begun, {"user: one", "agent: first", "user: TWO", "agent: third", "user: THREE", "agent: fourth"}},
		},
		"both go on, by turns": {
			then: func(chat *talk, h []m) {
				chat.history = h[:2:2]
				chat.say("TWO")
				other := *chat
				other.history = h
				other.say("three")
				chat.say("THREE")
			},
			want: [][]string{
				append(begun[:4:4], "user: three", "agent: fourth"),
				{"user: one", "agent: first", "user: TWO", "agent: third", "user: THREE", "agent: fifth"},
			},
		},
		"the first message is edited": {
			then: func(chat *talk, _ []m) {
				chat.history = nil
				chat.say("ONE")
			},
			want: [][]string{begun, {"user: ONE", "agent: third"}},
		},
		"another conversation begins the same way": {
			then: func(chat *talk, _ []m) {
				chat.history = nil
				chat.say("one")
			},
			want: [][]string{begun, {"user: one", "agent: third"}},
		},
		"a reply is edited": {
			then: func(chat *talk, h []m) {
				h[3] = assistant("SECOND")
				chat.say("three")
			},
			want: [][]string{begun, {"user: one", "agent: first", "user: two", "agent: SECOND", "user: three", "agent: third"}},
		},
		"a reply comes back trimmed": {
			then: func(chat *talk, h []m) {
				h[3] = assistant(" second\n")
				chat.say("three")
			},
			want: [][]string{append(begun[:4:4], "user: three", "agent: third")},
		},
		"the system says something else each time": {
			then: func(chat *talk, h []m) {
				chat.history = append([]m{{"role": "system", "content": "It is noon."}}, h...)
				chat.say("three")
			},
			want:  [][]string{append(begun[:4:4], "user: three", "agent: third")},
			asked: []string{"system: It is noon.", "user: one", "assistant: first", "user: two", "assistant: second", "user: three"},
		},
		"the system speaks in the middle": {
			then: func(chat *talk, _ []m) {
				chat.send(m{"role": "system", "content": "Hurry."}, user("three"))
				chat.say("four")
			},
			want:  [][]string{append(begun[:4:4], "user: three", "agent: third", "user: four", "agent: fourth")},
			asked: []string{"system: Hurry.", "user: one", "assistant: first", "user: two", "assistant: second", "user: three", "assistant: third", "user: four"},
		},
		"several messages are new": {
			then: func(chat *talk, _ []m) { chat.send(user("three"), user("and four")) },
			want: [][]string{append(begun[:4:4], "user: three", "user: and four", "agent: third")},
		},
		"another server's conversation moves in": {
			then: func(chat *talk, _ []m) {
				chat.history = []m{user("a"), assistant("b"), user("c"), assistant("d")}
				chat.say("e")
				chat.say("f")
			},
			want: [][]string{begun, {"user: a", "agent: b", "user: c", "agent: d", "user: e", "agent: third", "user: f", "agent: fourth"}},
		},
		"the last message is to be continued": {
			then: func(chat *talk, h []m) {
				chat.history = h[:2:2]
				chat.send(user("two"), assistant("sec"))
			},
			want: [][]string{begun, {"user: one", "agent: first", "user: two", "agent: sec", "agent: third"}},
		},
		"nothing is said": {
			then: func(chat *talk, _ []m) { chat.send(user("")) },
			want: [][]string{append(begun[:4:4], "user: (empty)", "agent: third")},
		},
		"a session is named": {
			then: func(chat *talk, _ []m) {
				chat.header.Set(front.SessionHeader, "mine")
				chat.history = nil
				chat.say("one")
				chat.history = nil // a client that sends what is new alone
				chat.say("more")
			},
			want: [][]string{begun, {"user: one", "agent: third", "user: more", "agent: fourth"}},
		},
		"a named session repeats its history": {
			then: func(chat *talk, _ []m) {
				chat.header.Set(front.SessionHeader, "mine")
				chat.history = nil
				chat.say("one")
				chat.say("two")
			},
			want: [][]string{begun, {"user: one", "agent: third", "user: two", "agent: fourth"}},
		},
		"a named session is changed": {
			then: func(chat *talk, h []m) {
				chat.header.Set(front.SessionHeader, chat.world.sessions()[0])
				chat.history = h[:2]
				chat.say("TWO")
			},
			want: [][]string{begun, {"user: one", "agent: first", "user: TWO", "agent: third"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			script := []answer{says("first"), says("second"), says("third"), says("fourth"), says("fifth")}
			w := newWorld(t, newScripted(t, front.Ollama, script...))
			chat := w.talk(front.Ollama, true)
			chat.say("one")
			chat.say("two")
			test.then(chat, chat.history)
			var got [][]string
			for _, id := range w.sessions() {
				got = append(got, w.log(id))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if test.asked == nil {
				return
			}
			if diff := cmp.Diff(test.asked, w.upstream.last().said()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Two clients have the same conversation, word for word. Each goes on with its own.
func TestTwinsGoApart(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("hi"), says("hi"), says("A"), says("B")))
	a, b := w.talk(front.Ollama, true), w.talk(front.Ollama, false)
	a.say("hello")
	b.say("hello")
	a.say("I am A")
	b.say("I am B")
	ids := w.sessions()
	if len(ids) != 2 {
		t.Fatalf("sessions %v", ids)
	}
	logs := [][]string{w.log(ids[0]), w.log(ids[1])}
	want := [][]string{
		{"user: hello", "agent: hi", "user: I am B", "agent: B"},
		{"user: hello", "agent: hi", "user: I am A", "agent: A"},
	}
	if diff := cmp.Diff(want, logs); diff != "" {
		t.Error(diff)
	}
}

// What one engine knows, another finds in the store: after a restart, and beside it.
func TestOtherReplica(t *testing.T) {
	for name, restart := range map[string]bool{"restart": true, "beside": false} {
		t.Run(name, func(t *testing.T) {
			upstream := newScripted(t, front.Ollama, says("first"), says("second"), says("third"), says("fourth"))
			path := filepath.Join(t.TempDir(), "shared.db")
			st := openStore(t, path)
			eng := newEngine(t, st, nil)
			w := &world{T: t, upstream: upstream, engine: eng, url: serve(t, eng, upstream)}
			chat := w.talk(front.Ollama, true)
			chat.say("one")
			chat.say("two")
			if restart {
				if err := eng.Close(); err != nil {
					t.Fatal(err)
				}
				w.engine = newEngine(t, openStore(t, path), nil)
			}
			chat.url = serve(t, w.engine, upstream)
			chat.say("three")
			chat.history = chat.history[:4]
			chat.say("THREE")
			ids := w.sessions()
			if len(ids) != 2 {
				t.Fatalf("sessions %v", ids)
			}
			want := []string{"user: one", "agent: first", "user: two", "agent: second", "user: three", "agent: third"}
			if diff := cmp.Diff(want, w.log(ids[0])); diff != "" {
				t.Error(diff)
			}
			want = append(want[:4:4], "user: THREE", "agent: fourth")
			if diff := cmp.Diff(want, w.log(ids[1])); diff != "" {
				t.Error(diff)
			}
			if err := w.engine.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// While a reply comes, the same history comes once more: it does not wait, and neither sees the other.
func TestTwoAtOnce(t *testing.T) {
	gate := make(chan struct{})
	slow := says("slow words")
	slow.gate = gate
	w := newWorld(t, newScripted(t, front.Ollama, says("first"), slow, says("quick")))
	a := w.talk(front.Ollama, true)
	a.say("one")
	b := *a
	a.history = append(a.history[:2:2], user("two"))
	first := a.open(t.Context())
	if r := b.say("two"); r.text != "quick" {
		t.Errorf("got %q", r.text)
	}
	close(gate)
	if err := first.Body.Close(); err != nil {
		t.Error(err)
	}
	if ids := w.sessions(); len(ids) != 2 {
		t.Errorf("sessions %v", ids)
	} else if diff := cmp.Diff([]string{"user: one", "agent: first", "user: two", "agent: quick"}, w.log(ids[1])); diff != "" {
		t.Error(diff)
	}
}

// A session of the same name is somebody else's in another tenant.
func TestTenants(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("first"), says("second")))
	other, err := w.engine.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	url := serve(t, other, w.upstream)
	chat := w.talk(front.Ollama, true)
	chat.header = http.Header{front.SessionHeader: {"mine"}}
	chat.say("one")
	chat.url = url
	chat.header = http.Header{}
	chat.say("two")
	if diff := cmp.Diff([]string{"user: one", "agent: first"}, w.log("mine")); diff != "" {
		t.Error(diff)
	}
}

// A client that always names the same session goes on in the fork that a change of its made, and makes no more of them.
func TestNamedSessionIsForkedOnce(t *testing.T) {
	w := newWorld(t, newScripted(t, front.OpenAI, says("first"), says("second"), says("other"), says("third"), says("again"), says("fourth")))
	chat := w.talk(front.OpenAI, true)
	chat.header.Set(front.SessionHeader, "mine")
	chat.say("one")
	chat.say("two")
	chat.history = chat.history[:2]
	fork := chat.say("two").header.Get(front.SessionHeader)
	if got := chat.say("three").header.Get(front.SessionHeader); got != fork || fork == "mine" {
		t.Errorf("forked into %s, gone on in %s", fork, got)
	}
	chat.history = chat.history[:4]
	second := chat.say("three").header.Get(front.SessionHeader)
	if got := chat.say("four").header.Get(front.SessionHeader); got != second || second == fork {
		t.Errorf("forked into %s, gone on in %s", second, got)
	}
	if got := w.sessions(); len(got) != 3 {
		t.Errorf("sessions %v", got)
	}
	want := []string{"user: one", "agent: first", "user: two", "agent: other", "user: three", "agent: again", "user: four", "agent: fourth"}
	if diff := cmp.Diff(want, w.log(second)); diff != "" {
		t.Error(diff)
	}
}

// Whatever a history ends with, there is something to answer, and every call in it has its result.
func TestOddEnds(t *testing.T) {
	call := m{"role": "assistant", "tool_calls": []m{{"id": "c", "type": "function", "function": m{"name": "look", "arguments": m{}}}}}
	const done = "system: look cancelled "
	for name, test := range map[string]struct {
		first, then []m // where there is none, they come in one call
		want        []string
	}{
		"nothing of an assistant":        {[]m{assistant("")}, nil, []string{"user: (empty)"}},
		"nothing of an assistant, later": {[]m{user("hi")}, []m{assistant("")}, []string{"user: hi", "agent: one", "user: (empty)"}},
		"a call":                         {[]m{user("hi"), call}, nil, []string{"user: hi", "agent:  look{}", done}},
		"a call alone":                   {[]m{call}, nil, []string{"agent:  look{}", done}},
		"a call, later":                  {[]m{user("hi")}, []m{user("go on"), call}, []string{"user: hi", "agent: one", "user: go on", "agent:  look{}", done}},
		"something for it to go on with": {[]m{user("hi"), assistant("Sure, ")}, nil, []string{"user: hi", "agent: Sure, "}},
		"something to go on with, later": {[]m{user("hi")}, []m{user("go on"), assistant("Sure, ")}, []string{"user: hi", "agent: one", "user: go on", "agent: Sure, "}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, named := range []string{"", "mine"} {
				w := newWorld(t, newScripted(t, front.Ollama, says("one"), says("two")))
				chat := w.talk(front.Ollama, false)
				chat.header.Set(front.SessionHeader, named)
				answer := "agent: one"
				if r := chat.send(test.first...); r.status != 200 {
					t.Fatalf("status %d: %s", r.status, r.body)
				}
				if test.then != nil {
					answer = "agent: two"
					if r := chat.send(test.then...); r.status != 200 {
						t.Fatalf("status %d: %s", r.status, r.body)
					}
				}
				ids := w.sessions()
				if diff := cmp.Diff(append(test.want[:len(test.want):len(test.want)], answer), w.log(ids[0])); diff != "" || len(ids) != 1 {
					t.Errorf("%q: %d sessions: %s", named, len(ids), diff)
				}
			}
		})
	}
}
