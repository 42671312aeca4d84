package front_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
)

func TestConversation(t *testing.T) {
	combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
		w := newWorld(t, newScripted(t, upstream, says("Hello to you."), says("You said hello.")))
		chat := w.talk(api, stream)
		chat.history = []m{{"role": "system", "content": "Be brief."}}
		first := chat.say("Hello there!")
		if first.text != "Hello to you." || first.reason != "stop" {
			t.Errorf("got %q for the reason %q", first.text, first.reason)
		}
		if (!stream || api == front.Ollama) && first.usage != [2]int{7, 3} {
			t.Errorf("usage is %v", first.usage)
		}
		second := chat.say("What did I say?")
		if second.text != "You said hello." {
			t.Errorf("got %q", second.text)
		}
		ids := w.sessions()
		if len(ids) != 1 || first.header.Get(front.SessionHeader) != ids[0] || second.header.Get(front.SessionHeader) != ids[0] {
			t.Fatalf("sessions %v, told %v", ids, second.header)
		}
		want := []string{"user: Hello there!", "agent: Hello to you.", "user: What did I say?", "agent: You said hello."}
		if diff := cmp.Diff(want, w.log(ids[0])); diff != "" {
			t.Error(diff)
		}
		asked := w.upstream.last()
		want = []string{"system: Be brief.", "user: Hello there!", "assistant: Hello to you.", "user: What did I say?"}
		if diff := cmp.Diff(want, asked.said()); diff != "" {
			t.Error(diff)
		}
		if asked.body.Model != "m" || asked.body.Stream != stream {
			t.Errorf("asked %s", asked.raw)
		}
	})
}

func TestEmptyBody(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama))
	r := post(t.Context(), t, w.url+"/api/chat", http.Header{}, nil)
	if r.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d", r.StatusCode)
	}
}

// An assistant that refuses says so beside its content, and clients repeat it there.
func TestRefusalIsRepeated(t *testing.T) {
	for name, content := range map[string]string{"without more": "null", "in the middle": `"Well, "`} {
		t.Run(name, func(t *testing.T) {
			said := `{"role":"assistant","content":` + content + `,"refusal":"I cannot."}`
			w := newWorld(t, newScripted(t, front.OpenAI,
				answer{status: 200, body: `{"choices":[{"index":0,"message":` + said + `,"finish_reason":"stop"}]}`}, says("fine")))
			const call, asked = `{"model":"m","messages":[`, `{"role":"user","content":"do it"}`
			ask(t, "POST", w.url+"/v1/chat/completions", call+asked+"]}")
			ask(t, "POST", w.url+"/v1/chat/completions", call+asked+","+said+`,{"role":"user","content":"and now?"}]}`)
			if ids := w.sessions(); len(ids) != 1 || len(w.log(ids[0])) != 4 {
				t.Errorf("sessions %v: %q", ids, w.log(ids[len(ids)-1]))
			}
		})
	}
}

// A reply that reached its bound says so in the words of the client's API.
func TestRepliesThatReachTheirBound(t *testing.T) {
	for _, api := range []front.Kind{front.Ollama, front.OpenAI} {
		for upstream, body := range map[front.Kind]string{
			front.Ollama: `{"model":"m","message":{"role":"assistant","content":"so far"},"done":true,"done_reason":"length"}`,
			front.OpenAI: `{"choices":[{"index":0,"message":{"role":"assistant","content":"so far"},"finish_reason":"length"}]}`,
		} {
			t.Run(fmt.Sprint(api, " before ", upstream), func(t *testing.T) {
				w := newWorld(t, newScripted(t, upstream, answer{status: 200, body: body}))
				if r := w.talk(api, false).say("tell me all"); r.reason != "length" || r.text != "so far" {
					t.Errorf("it ended for %q: %s", r.reason, r.body)
				}
			})
		}
	}
}
