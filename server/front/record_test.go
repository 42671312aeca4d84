package front_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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

// Of several answers the first is kept. The others are not held up when it ends.
func TestSeveralAnswersComeAsTheyAre(t *testing.T) {
	piece := func(index int, text, reason string) string {
		return fmt.Sprintf("data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":%q},\"finish_reason\":%s}]}\n\n", index, text, reason)
	}
	first, second, end := piece(0, "one", "null")+piece(0, "", `"stop"`), piece(1, "two", "null"), piece(1, "", `"stop"`)+"data: [DONE]\n\n"
	seen := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		if _, err := io.WriteString(w, first+second); err != nil || control.Flush() != nil {
			t.Error("the front has gone")
		}
		select {
		case <-seen:
		case <-time.After(10 * time.Second):
			t.Error("the other answer is held up")
		}
		if _, err := io.WriteString(w, end); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(upstream.Close)
	w := newWorld(t, newScripted(t, front.OpenAI), recording, func(c *front.Config) { c.Upstream.URL = upstream.URL + "/v1" })
	chat := w.talk(front.OpenAI, true)
	chat.more, chat.history = m{"n": 2}, []m{user("hi")}
	response := chat.open(t.Context())
	got := make([]byte, len(first+second))
	if _, err := io.ReadFull(response.Body, got); err != nil {
		t.Fatal(err)
	}
	close(seen)
	rest, err := io.ReadAll(response.Body)
	if err != nil || string(got)+string(rest) != first+second+end {
		t.Errorf("%v: %s%s", err, got, rest)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"user: hi", "agent: one"}, w.log(w.sessions()[0])); diff != "" {
		t.Error(diff)
	}
}
