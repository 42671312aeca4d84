package front_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
)

// together is an answer whose lines come all at once.
func together(lines ...string) answer {
	return answer{status: 200, body: strings.Join(lines, "")}
}

func word(text string) string {
	return `{"model":"m","message":{"role":"assistant","content":` + quote(text) + `},"done":false}` + "\n"
}

func event(delta, reason string) string {
	return `data: {"id":"c","choices":[{"index":0,"delta":{` + delta + `},"finish_reason":` + reason + "}]}\n\n"
}

// Lines that come together are told together, and each for itself: up to what cannot be told.
func TestLinesThatComeTogether(t *testing.T) {
	const end = `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n"
	counted := `data: {"id":"c","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}` + "\n\n"
	for name, test := range map[string]struct {
		kind    front.Kind
		answer  answer
		body    string // as it comes, where it is handed on as it is
		failure string
		log     string
	}{
		"a reply":     {front.Ollama, together(word("one "), word("two"), end), word("one ") + word("two") + end, "", "agent: one two"},
		"nonsense":    {front.Ollama, together(word("one "), word("two"), "nonsense\n", end), "", "makes no sense", "agent: one two […]"},
		"a complaint": {front.Ollama, together(word("one "), `{"error":"enough"}`+"\n", word("two")), "", "enough", "agent: one  […]"},
		"no end":      {front.Ollama, together(word("one "), word("two")), "", "interrupted", "agent: one two […]"},
		"usage that nobody asked for": {
			front.OpenAI, together(event(`"content":"one"`, "null"), event("", `"stop"`), counted, "data: [DONE]\n\n"),
			event(`"content":"one"`, "null") + event("", `"stop"`) + "data: [DONE]\n\n", "", "agent: one",
		},
		"usage with every event": {
			front.OpenAI, together(event(`"content":"one "`, "null"), counted, event(`"content":"two"`, "null"), event("", `"stop"`), "data: [DONE]\n\n"),
			event(`"content":"one "`, "null") + event(`"content":"two"`, "null") + event("", `"stop"`) + "data: [DONE]\n\n", "", "agent: one two",
		},
		"an end without a reason": {front.OpenAI, together(event(`"content":"one"`, "null"), "data: [DONE]\n\n"), event(`"content":"one"`, "null") + "data: [DONE]\n\n", "", "agent: one"},
		"no last event":           {front.OpenAI, together(event(`"content":"one"`, "null"), event("", `"stop"`)), "", "", "agent: one"},
	} {
		for _, api := range []front.Kind{front.Ollama, front.OpenAI} {
			t.Run(name+" to "+string(api), func(t *testing.T) {
				w := newWorld(t, newScripted(t, test.kind, test.answer))
				chat := w.talk(api, true)
				if name == "no last event" && api == front.OpenAI {
					t.Skip("the client is told no more than the server says")
				}
				r := chat.send(user("hi"))
				if r.failure == "" && test.failure != "" || !strings.Contains(r.failure, test.failure) {
					t.Errorf("failure %q in %s", r.failure, r.body)
				}
				if said := strings.TrimSuffix(strings.TrimPrefix(test.log, "agent: "), " […]"); r.text != said {
					t.Errorf("said %q", r.text)
				}
				if test.body != "" && api == test.kind && r.body != test.body {
					t.Error(cmp.Diff(test.body, r.body))
				}
				if diff := cmp.Diff([]string{"user: hi", test.log}, w.log(w.sessions()[0])); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestTimeOfAWholeAnswer holds an answer that did not come in pieces to a time that programs can divide its tokens by.
func TestTimeOfAWholeAnswer(t *testing.T) {
	call := answer{calls: []called{{"c1", "find", `{}`}}, dies: -1}
	for _, test := range []struct {
		name, path, body string
		answer           answer
	}{
		{"chat", "/api/chat", `{"model":"m","stream":false,"messages":[{"role":"user","content":"Hello"}]}`, says("Hi.")},
		{"generate", "/api/generate", `{"model":"m","stream":false,"prompt":"Hello"}`, says("Hi.")},
		{"calls at the end", "/api/chat", `{"model":"m","messages":[{"role":"user","content":"Hello"}]}`, call},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.OpenAI, test.answer))
			_, got := ask(t, "POST", w.url+test.path, test.body)
			lines := strings.Split(strings.TrimSpace(got), "\n")
			var end struct {
				Total  int64 `json:"total_duration"`
				Prompt int64 `json:"prompt_eval_duration"`
				Eval   int64 `json:"eval_duration"`
			}
			if err := json.Unmarshal([]byte(lines[len(lines)-1]), &end); err != nil {
				t.Fatalf("%v in %s", err, got)
			}
			if end.Eval <= 0 || end.Prompt+end.Eval != end.Total {
				t.Errorf("the answer took %d, the prompt %d, both %d", end.Eval, end.Prompt, end.Total)
			}
		})
	}
}

// A stream that ends with usage says in each piece before that there is none yet: clients read the field of every piece. One that
// was not asked for it has no such field.
func TestUsageOfPieces(t *testing.T) {
	for _, asks := range []bool{true, false} {
		w := newWorld(t, newScripted(t, front.Ollama, answer{text: "one two", thinking: "hm", dies: -1, calls: []called{{"a", "look", "{}"}}}))
		chat := w.talk(front.OpenAI, true)
		chat.more = m{"stream_options": m{"include_usage": asks}}
		r := chat.say("hi")
		pieces := strings.Split(strings.TrimSuffix(r.body, "data: [DONE]\n\n"), "\n\n")
		pieces = pieces[:len(pieces)-1]
		for i, piece := range pieces {
			want := `"usage":null`
			if last := i == len(pieces)-1; last && asks {
				want = `"choices":[],"usage":{"prompt_tokens":7,`
			}
			if strings.Contains(piece, want) != asks {
				t.Errorf("%t: piece %d of %d: %s", asks, i+1, len(pieces), piece)
			}
		}
		if !asks && strings.Contains(r.body, "usage") {
			t.Errorf("got %s", r.body)
		}
	}
}
