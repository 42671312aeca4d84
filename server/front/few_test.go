package front_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/server/front"
)

// Lists of nothing take many times the memory of their bytes, and an exchange that begins with thousands of turns is never
// committed: they are refused before anything is made of them.
func TestTooManyItems(t *testing.T) {
	const n = 1 << 18
	many := func(item string) string { return "[" + strings.Repeat(item+",", n) + item + "]" }
	const asked = `[{"role":"user","content":"hi"}]`
	for _, test := range []struct{ path, body, param string }{
		{"/v1/chat/completions", `"messages":[{"role":"user","content":` + many("{}") + `}]`, "messages[0].content"},
		{"/v1/chat/completions", `"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":` + many("{}") + `}]`, "messages[1].tool_calls"},
		{"/v1/chat/completions", `"messages":` + many(`{"role":"user"}`), "messages"},
		{"/v1/chat/completions", `"messages":` + asked + `,"tools":` + many("{}"), "tools"},
		{"/api/chat", `"messages":[{"role":"user","images":` + many(`""`) + `}]`, "messages[0].images"},
		{"/api/generate", `"prompt":"hi","images":` + many(`""`), "images"},
	} {
		t.Run(test.param, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.OpenAI, says("fine")))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, got := ask(t, "POST", w.url+test.path, `{"model":"m",`+test.body+`}`)
			runtime.ReadMemStats(&after)
			if r.StatusCode != http.StatusBadRequest || !strings.Contains(got, "'"+test.param+"'") {
				t.Errorf("status %d: %.200s", r.StatusCode, got)
			}
			if more := (after.TotalAlloc - before.TotalAlloc) / uint64(len(test.body)); more > 64 {
				t.Errorf("it took %d bytes of memory for each of its own", more)
			}
			if ids := w.sessions(); len(ids) > 0 {
				t.Errorf("sessions %v", ids)
			}
		})
	}
}

// Who talked to others for long and comes back brings more than one exchange begins with.
func TestLongAbsence(t *testing.T) {
	w := newWorld(t, newScripted(t, front.OpenAI, says("one"), says("two"), says("three")))
	chat := w.talk(front.OpenAI, false)
	chat.say("hello")
	for i := range 700 {
		chat.history = append(chat.history, user(fmt.Sprint("question ", i)), assistant(fmt.Sprint("answer ", i)))
	}
	chat.say("I am back.")
	chat.say("Still here.")
	ids := w.sessions()
	last, err := w.engine.Find(t.Context(), ids[len(ids)-1]) // a fork of the other
	if err != nil {
		t.Fatal(err)
	}
	turns, err := last.Since(t.Context(), 0, 2000)
	if err != nil || len(ids) != 2 || len(turns) != 2+1400+4 {
		t.Errorf("%d sessions, %d turns in the last: %v", len(ids), len(turns), err)
	}
}
