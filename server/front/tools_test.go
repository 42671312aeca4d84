package front_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/server/front"
)

var weather = []m{{"type": "function", "function": m{
	"name": "weather", "description": "Tells the weather.", "parameters": m{"type": "object", "properties": m{"city": m{"type": "string"}}},
}}}

// results are what the client's tools say to calls, in the words of its API.
func (t *talk) results(calls []m, texts ...string) []m {
	var list []m
	for i, text := range texts {
		result := m{"role": "tool", "content": text}
		if t.api == front.OpenAI {
			result["tool_call_id"] = calls[i]["id"]
		} else {
			result["tool_name"] = calls[i]["function"].(m)["name"]
		}
		list = append(list, result)
	}
	return list
}

func TestTools(t *testing.T) {
	combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
		calling := answer{text: "Let me see. ", dies: -1, calls: []called{
			{"call_a", "weather", `{"city":"Oslo"}`}, {"call_b", "weather", `{"city":"Rome"}`},
		}}
		w := newWorld(t, newScripted(t, upstream, calling, says("Cold and warm."), says("Yes.")))
		chat := w.talk(api, stream)
		chat.more = m{"tools": weather}
		r := chat.say("How is the weather in Oslo and Rome?")
		if len(r.calls) != 2 {
			t.Fatalf("calls %v in %s", r.calls, r.body)
		}
		if reason := map[front.Kind]string{front.Ollama: "stop", front.OpenAI: "tool_calls"}[api]; r.reason != reason {
			t.Errorf("reason %q", r.reason)
		}
		for i, city := range []string{"Oslo", "Rome"} {
			arguments := r.calls[i]["function"].(m)["arguments"]
			if text, ok := arguments.(string); ok != (api == front.OpenAI) {
				t.Errorf("arguments are %T", arguments)
			} else if ok {
				var object any
				if err := json.Unmarshal([]byte(text), &object); err != nil {
					t.Errorf("%v: %s", err, text)
				}
				arguments = object
			}
			if diff := cmp.Diff(m{"city": city}, arguments); diff != "" {
				t.Error(diff)
			}
			if api == front.OpenAI && stream && r.calls[i]["index"] != float64(i) {
				t.Errorf("call %v has no index", r.calls[i])
			}
		}
		chat.send(chat.results(r.calls, "2 degrees", "30 degrees")...)
		chat.say("Sure?")
		ids := w.sessions()
		if len(ids) != 1 {
			t.Fatalf("sessions %v", ids)
		}
		want := []string{
			"user: How is the weather in Oslo and Rome?",
			`agent: Let me see.  weather{"city":"Oslo"} weather{"city":"Rome"}`,
			`system: weather ok "2 degrees"`, `system: weather ok "30 degrees"`,
			"agent: Cold and warm.", "user: Sure?", "agent: Yes.",
		}
		if diff := cmp.Diff(want, w.log(ids[0])); diff != "" {
			t.Error(diff)
		}
		asked := w.upstream.requests()[1]
		if len(asked.body.Tools) != 1 || len(asked.body.Messages) != 4 || len(asked.body.Messages[1].ToolCalls) != 2 {
			t.Fatalf("asked %s", asked.raw)
		}
		for i, text := range []string{"2 degrees", "30 degrees"} {
			got := asked.body.Messages[2+i]
			if got.Role != "tool" || got.Content != text {
				t.Errorf("result %d is %v", i, got)
			}
			if upstream == front.OpenAI && got.ToolCallID == "" || upstream == front.Ollama && got.ToolName != "weather" {
				t.Errorf("result %d names no call: %v", i, got)
			}
		}
	})
}

func TestToolResults(t *testing.T) {
	call := `agent:  weather{"city":"Oslo"} clock{}`
	for name, test := range map[string]struct {
		then func(chat *talk, calls []m)
		want []string
	}{
		"the other way round": {
			func(chat *talk, calls []m) {
				chat.send(chat.results([]m{calls[1], calls[0]}, "noon", "cold")...)
			},
			[]string{"user: go", call, `system: clock ok "noon"`, `system: weather ok "cold"`, "agent: done"},
		},
		"one is missing": {
			func(chat *talk, calls []m) { chat.send(append(chat.results(calls, "cold"), user("never mind"))...) },
			[]string{"user: go", call, `system: weather ok "cold"`, "system: clock cancelled ", "user: never mind", "agent: done"},
		},
		"both are missing": {
			func(chat *talk, _ []m) { chat.say("never mind") },
			[]string{"user: go", call, "system: weather cancelled ", "system: clock cancelled ", "user: never mind", "agent: done"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			calling := answer{dies: -1, calls: []called{{"a", "weather", `{"city":"Oslo"}`}, {"b", "clock", `{}`}}}
			w := newWorld(t, newScripted(t, front.OpenAI, calling, says("done")))
			chat := w.talk(front.OpenAI, false)
			r := chat.send(user("go"))
			test.then(chat, r.calls)
			if diff := cmp.Diff(test.want, w.log(w.sessions()[0])); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The results of a call are changed after the conversation went on: the fork has the call, with the results as they are now.
func TestToolResultsAreEdited(t *testing.T) {
	calling := answer{dies: -1, calls: []called{{"a", "weather", `{"city":"Oslo"}`}}}
	w := newWorld(t, newScripted(t, front.OpenAI, calling, says("cold then"), says("warm then")))
	chat := w.talk(front.OpenAI, true)
	r := chat.send(user("go"))
	before := chat.history
	chat.send(chat.results(r.calls, "cold")...)
	chat.history = before[:2:2]
	chat.send(chat.results(r.calls, "warm")...)
	ids := w.sessions()
	if len(ids) != 2 {
		t.Fatalf("sessions %v", ids)
	}
	want := []string{"user: go", `agent:  weather{"city":"Oslo"}`, `system: weather ok "warm"`, "agent: warm then"}
	if diff := cmp.Diff(want, w.log(ids[1])); diff != "" {
		t.Error(diff)
	}
}

// A call that was made otherwise is another history, though all that was said is the same.
func TestCallsAreEdited(t *testing.T) {
	for name, edited := range map[string]m{
		"its arguments": {"name": "weather", "arguments": `{"city":"Rome"}`},
		"its name":      {"name": "climate", "arguments": `{"city":"Oslo"}`},
	} {
		t.Run(name, func(t *testing.T) {
			calling := answer{dies: -1, calls: []called{{"a", "weather", `{"city":"Oslo"}`}}}
			w := newWorld(t, newScripted(t, front.OpenAI, calling, says("cold then"), says("still")))
			chat := w.talk(front.OpenAI, false)
			r := chat.send(user("go"))
			chat.send(chat.results(r.calls, "cold")...)
			call := maps.Clone(r.calls[0])
			call["function"] = edited
			chat.history[1] = m{"role": "assistant", "content": nil, "tool_calls": []m{call}}
			chat.say("and now?")
			ids := w.sessions()
			if len(ids) != 2 {
				t.Fatalf("sessions %v", ids)
			}
			if log := w.log(ids[1]); !strings.Contains(log[1], edited["name"].(string)) || !strings.Contains(log[1], edited["arguments"].(string)) {
				t.Errorf("the log says %q", log)
			}
		})
	}
}

// The results of two calls change places after the conversation went on: that is another history, though every word stands
// where it was. Results that come in another order than the calls are no change.
func TestToolResultsAreSwapped(t *testing.T) {
	const call = `agent:  weather{"city":"Oslo"} clock{}`
	calling := answer{dies: -1, calls: []called{{"a", "weather", `{"city":"Oslo"}`}, {"b", "clock", `{}`}}}
	for name, test := range map[string]struct {
		order [2]int // of the calls that the results answer
		then  func(first, second m)
		want  [][]string
	}{
		"swapped": {
			[2]int{0, 1}, func(first, second m) {
				first["tool_call_id"], second["tool_call_id"] = second["tool_call_id"], first["tool_call_id"]
			},
			[][]string{
				{"user: go", call, `system: weather ok "one"`, `system: clock ok "two"`, "agent: done"},
				{"user: go", call, `system: clock ok "one"`, `system: weather ok "two"`, "agent: done", "user: and?", "agent: next"},
			},
		},
		"swapped back": {
			[2]int{1, 0}, func(first, second m) {
				first["tool_call_id"], second["tool_call_id"] = second["tool_call_id"], first["tool_call_id"]
			},
			[][]string{
				{"user: go", call, `system: clock ok "one"`, `system: weather ok "two"`, "agent: done"},
				{"user: go", call, `system: weather ok "one"`, `system: clock ok "two"`, "agent: done", "user: and?", "agent: next"},
			},
		},
		"in another order": {
			[2]int{1, 0}, func(m, m) {},
			[][]string{{"user: go", call, `system: clock ok "one"`, `system: weather ok "two"`, "agent: done", "user: and?", "agent: next"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.OpenAI, calling, says("done"), says("next")))
			chat := w.talk(front.OpenAI, false)
			r := chat.send(user("go"))
			chat.send(chat.results([]m{r.calls[test.order[0]], r.calls[test.order[1]]}, "one", "two")...)
			test.then(chat.history[2], chat.history[3])
			chat.url = serve(t, w.engine, w.upstream) // which remembers nothing
			chat.say("and?")
			var got [][]string
			for _, id := range w.sessions() {
				got = append(got, w.log(id))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Results came in another order than their calls, and the answer to them never came: the client goes on in the session.
func TestToolResultsInAnotherOrderUnanswered(t *testing.T) {
	calling := answer{dies: -1, calls: []called{{"a", "weather", `{}`}, {"b", "clock", `{}`}}}
	w := newWorld(t, newScripted(t, front.OpenAI, calling, answer{status: 500, body: `{"error":"oops"}`}, says("done")))
	chat := w.talk(front.OpenAI, false)
	r := chat.send(user("go"))
	chat.send(chat.results([]m{r.calls[1], r.calls[0]}, "noon", "cold")...)
	chat.say("well?")
	want := []string{"user: go", "agent:  weather{} clock{}", `system: clock ok "noon"`, `system: weather ok "cold"`, "user: well?", "agent: done"}
	if ids := w.sessions(); len(ids) != 1 {
		t.Errorf("sessions %v", ids)
	} else if diff := cmp.Diff(want, w.log(ids[0])); diff != "" {
		t.Error(diff)
	}
}

// What the client says of a call that was forgotten is refused by name: the log has no place for a result without its call. Without
// them the conversation goes on.
func TestResultOfAForgottenCall(t *testing.T) {
	calling := answer{dies: -1, calls: []called{{"a", "weather", `{"city":"Oslo"}`}}}
	w := newWorld(t, newScripted(t, front.OpenAI, calling, says("done"), says("then")))
	chat := w.talk(front.OpenAI, false)
	r := chat.send(user("go"))
	session, err := w.engine.Find(t.Context(), w.sessions()[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Forget(t.Context(), turnstone.Target{Seqs: []int64{2}}); err != nil {
		t.Fatal(err)
	}
	before := w.rows()
	history := chat.history
	for range 2 {
		chat.history = history
		if r := chat.send(chat.results(r.calls, "cold")...); r.status != http.StatusBadRequest || !strings.Contains(r.failure, "Leave out the call and its results") {
			t.Fatalf("status %d: %s", r.status, r.body)
		}
	}
	if diff := cmp.Diff(before, w.rows()); diff != "" {
		t.Errorf("something of it is kept: %s", diff)
	}
	chat.history = history[:1]
	if r := chat.send(user("go on")); r.status != http.StatusOK {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

// OpenAI refuses ids of calls that are longer than 40 characters; other servers make such. None goes on to it: calls have the
// ids of the prompt.
func TestLongIDsOfCalls(t *testing.T) {
	const long = "chatcmpl-tool-0123456789abcdef0123456789abcdef"
	w := newWorld(t, newScripted(t, front.OpenAI, says("done")))
	chat := w.talk(front.OpenAI, false)
	call := func(id string) m {
		return m{"id": id, "type": "function", "function": m{"name": "clock", "arguments": "{}"}}
	}
	chat.history = []m{user("go"), {"role": "assistant", "content": nil, "tool_calls": []m{call(long), call("short")}}}
	chat.send(m{"role": "tool", "tool_call_id": long, "content": "noon"}, m{"role": "tool", "tool_call_id": "short", "content": "one"})
	asked := w.upstream.last().body.Messages
	for i, c := range asked[1].ToolCalls {
		id, _ := c.(m)["id"].(string)
		if id == "" || len(id) > 40 || asked[2+i].ToolCallID != id {
			t.Errorf("call %q, result of %q", id, asked[2+i].ToolCallID)
		}
	}
}

// A conversation with calls moves in from another server.
func TestToolsMoveIn(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("done")))
	chat := w.talk(front.OpenAI, false)
	made := func(ids ...string) m {
		var calls []m
		for _, id := range ids {
			calls = append(calls, m{"id": id, "type": "function", "function": m{"name": "weather", "arguments": `{"broken`}})
		}
		return m{"role": "assistant", "content": nil, "tool_calls": calls}
	}
	chat.history = []m{user("go"), made("x", "y"), {"role": "tool", "tool_call_id": "y", "content": "cold"}, assistant("hm"), made("x")}
	r := chat.send(m{"role": "tool", "tool_call_id": "x", "content": []m{{"type": "text", "text": "warm"}}})
	if r.text != "done" {
		t.Fatal(r.body)
	}
	broken := ` weather"{\"broken"`
	want := []string{
		"user: go", "agent: " + broken + broken, `system: weather ok "cold"`, "system: weather cancelled ", "agent: hm",
		"agent: " + broken, `system: weather ok "warm"`, "agent: done",
	}
	if diff := cmp.Diff(want, w.log(w.sessions()[0])); diff != "" {
		t.Error(diff)
	}
}

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestPictures(t *testing.T) {
	combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
		w := newWorld(t, newScripted(t, upstream, says("A dot."), says("Still."), says("Another.")))
		chat := w.talk(api, stream)
		shown := func(picture string) m {
			if api == front.OpenAI {
				return m{"role": "user", "content": []m{{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": m{"url": "data:image/png;base64," + picture}}}}
			}
			return m{"role": "user", "content": "What is it?", "images": []string{picture}}
		}
		chat.send(shown(pixel))
		if asked := w.upstream.last(); !strings.Contains(asked.raw, pixel) {
			t.Errorf("no picture in %s", asked.raw)
		}
		chat.say("And now?")
		const other = "iVBORw0KGgo=" // which no store has yet
		if r := chat.send(shown(other)); r.status != 200 || r.failure != "" {
			t.Errorf("a picture later on: status %d: %s", r.status, r.body)
		}
		ids := w.sessions()
		if len(ids) != 1 {
			t.Fatalf("sessions %v", ids)
		}
		want := []string{"user: What is it?", "user: image image/png", "agent: A dot.", "user: And now?", "agent: Still.", "user: What is it?", "user: image image/png", "agent: Another."}
		if diff := cmp.Diff(want, w.log(ids[0])); diff != "" {
			t.Error(diff)
		}
	})
}

// A message of OpenAI's that is not streamed has a content, null where there are only calls: clients look for it.
func TestContentOfCalls(t *testing.T) {
	for name, test := range map[string]struct {
		text, want string
	}{"only calls": {"", `"content":null`}, "and words": {"See. ", `"content":"See. "`}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama, answer{text: test.text, dies: -1, calls: []called{{"a", "weather", `{}`}}}))
			if r := w.talk(front.OpenAI, false).say("How is the weather?"); !strings.Contains(r.body, `"message":{"role":"assistant",`+test.want+`,"tool_calls":[`) {
				t.Errorf("got %s", r.body)
			}
		})
	}
}

// A picture that its bytes do not tell the type of is what the client says that it is, if that is the type of a picture.
func TestTypesOfPictures(t *testing.T) {
	avif := base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x20ftypavif0000"))
	w := newWorld(t, newScripted(t, front.OpenAI, says("A dot."), says("Another.")))
	chat := w.talk(front.OpenAI, false)
	chat.send(m{"role": "user", "content": []m{{"type": "image_url", "image_url": m{"url": "data:image/avif;base64," + avif}}}})
	if asked := w.upstream.last().raw; !strings.Contains(asked, `"data:image/avif;base64,`+avif) {
		t.Errorf("asked %s", asked)
	}
	odd := `image/png","detail":"low`
	r := chat.send(m{"role": "user", "content": []m{{"type": "image_url", "image_url": m{"url": "data:" + odd + ";base64,AAEC"}}}})
	if r.status != 400 || !strings.Contains(r.body, "messages[2].content[0].image_url.url") || strings.Contains(w.upstream.last().raw, "detail") {
		t.Errorf("%d %s", r.status, r.body)
	}
	r = w.talk(front.Ollama, false).send(m{"role": "user", "content": "What is it?", "images": []string{avif}})
	if r.status != 400 || !strings.Contains(r.body, "images[0]") || len(w.sessions()) != 1 {
		t.Errorf("%d %s, %d sessions", r.status, r.body, len(w.sessions()))
	}
}

// A tool may show pictures, which the model is to see with what it says.
func TestToolsShowPictures(t *testing.T) {
	for _, api := range []front.Kind{front.Ollama, front.OpenAI} {
		t.Run(string(api), func(t *testing.T) {
			calling := answer{dies: -1, calls: []called{{"call_a", "look", `{}`}, {"call_b", "look", `{}`}}}
			w := newWorld(t, newScripted(t, api, calling, says("A dot."), says("Yes.")))
			chat := w.talk(api, false)
			chat.more = m{"tools": weather}
			r := chat.say("Look.")
			results := chat.results(r.calls, "a picture", "nothing")
			if api == front.Ollama {
				results[0]["images"] = []string{pixel}
			} else {
				results[0]["content"] = []m{{"type": "text", "text": "a picture"}, {"type": "image_url", "image_url": m{"url": "data:image/png;base64," + pixel}}}
			}
			chat.send(results...)
			if asked := w.upstream.last(); !strings.Contains(asked.raw, pixel) {
				t.Errorf("no picture in %s", asked.raw)
			}
			chat.say("Sure?")
			want := []string{
				"user: Look.", "agent:  look{} look{}", `system: look ok "a picture"`, `system: look ok "nothing"`, "user: image image/png",
				"agent: A dot.", "user: Sure?", "agent: Yes.",
			}
			if ids := w.sessions(); len(ids) != 1 || cmp.Diff(want, w.log(ids[0])) != "" {
				t.Errorf("%d sessions: %s", len(ids), cmp.Diff(want, w.log(ids[0])))
			}
		})
	}
}
