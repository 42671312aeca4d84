package front_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/server/front"
)

func recording(c *front.Config) { c.RecordOnly = true }

// odd is a call as no encoder of ours would write it.
func odd(stream bool) string {
	return `{ "messages" : [{"content":"h\u0069","role":"user", "x":1}],"stream":` + map[bool]string{true: "true", false: "false"}[stream] + `, "model":"m" ,"options":{"num_ctx":17}}`
}

func bytesOf(t *testing.T, url, body string) (*http.Response, string) {
	t.Helper()
	response := post(t.Context(), t, url, http.Header{"X-Mine": {"a"}}, []byte(body))
	got, err := io.ReadAll(response.Body)
	if err != nil {
		got = append(got, "(broken)"...)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	return response, string(got)
}

// The bytes are the same in both directions, whatever is answered.
func TestRecordOnlyBytes(t *testing.T) {
	calling := says("See. ")
	calling.calls = []called{{"a", "weather", `{"city":"Oslo"}`}}
	for name, test := range map[string]struct {
		answer answer
		log    []string
		state  commit.State
	}{
		"a reply":    {says("one two three"), []string{"user: hi", "agent: one two three"}, commit.Complete},
		"calls":      {calling, []string{"user: hi", `agent: See.  weather{"city":"Oslo"}`}, commit.Complete},
		"a refusal":  {answer{status: 404, body: "{\"error\" : \"no\"}\n\n"}, []string{"user: hi"}, commit.Failed},
		"nonsense":   {answer{text: "one two", dies: -1, garbage: "{nonsense"}, []string{"user: hi", "agent: one  […]"}, commit.Interrupted},
		"broken off": {answer{text: "one two", dies: 1}, []string{"user: hi", "agent: one  […]"}, commit.Interrupted},
	} {
		t.Run(name, func(t *testing.T) {
			combinations(t, func(t *testing.T, api, upstream front.Kind, stream bool) {
				if api == front.Ollama && upstream == front.OpenAI || !stream && (test.answer.dies > 0 || test.answer.garbage != "") {
					t.Skip("nothing passes there")
				}
				w := newWorld(t, newScripted(t, upstream, test.answer, test.answer), recording)
				path := w.talk(api, stream).path()
				bare, want := bytesOf(t, w.upstream.URL+path, odd(stream))
				through, got := bytesOf(t, w.url+path, odd(stream))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
				if through.StatusCode != bare.StatusCode || through.Header.Get("Content-Type") != bare.Header.Get("Content-Type") {
					t.Errorf("status %d, header %v", through.StatusCode, through.Header)
				}
				asked := w.upstream.requests()
				if asked[0].raw != asked[1].raw || asked[0].path != asked[1].path || asked[1].header.Get("X-Mine") != "a" {
					t.Errorf("asked %v", asked)
				}
				if state := w.ended(); state != test.state {
					t.Errorf("it ended as %s", state)
				}
				if diff := cmp.Diff(test.log, w.log(w.sessions()[0])); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestRecordOnlyConversation(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("first"), says("second"), says("third")), recording)
	chat := w.talk(front.Ollama, true)
	chat.say("one")
	chat.say("two")
	chat.history = chat.history[:2]
	chat.say("TWO")
	ids := w.sessions()
	if len(ids) != 2 {
		t.Fatalf("sessions %v", ids)
	}
	if diff := cmp.Diff([]string{"user: one", "agent: first", "user: two", "agent: second"}, w.log(ids[0])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"user: one", "agent: first", "user: TWO", "agent: third"}, w.log(ids[1])); diff != "" {
		t.Error(diff)
	}
}

// A call that is not understood, or a log that cannot be kept, is no reason not to answer.
func TestRecordOnlyWithoutLog(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("a"), says("b")), recording)
	if r, got := bytesOf(t, w.url+"/api/chat", `{"model":"m","messages":[{"role":"user","images":["%"]}]}`); r.StatusCode != 200 || !strings.Contains(got, `"a"`) {
		t.Errorf("status %d: %s", r.StatusCode, got)
	}
	if err := w.engine.Close(); err != nil {
		t.Fatal(err)
	}
	if r, got := bytesOf(t, w.url+"/api/chat", odd(false)); r.StatusCode != 200 || !strings.Contains(got, `"b"`) {
		t.Errorf("status %d: %s", r.StatusCode, got)
	}
}

func TestRecordOnlyDoesNotTranslate(t *testing.T) {
	w := newWorld(t, newScripted(t, front.OpenAI), recording)
	if r, got := bytesOf(t, w.url+"/api/chat", odd(false)); r.StatusCode != 400 || !strings.Contains(got, "not translated") {
		t.Errorf("status %d: %s", r.StatusCode, got)
	}
}
