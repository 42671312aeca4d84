package front_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/turn"
)

// Many calls in a row got no reply, and then somebody else spoke in the session. Who has more to say goes on in a fork behind the
// last reply, however many they were.
func TestManyFailuresWhileAnotherSpeaks(t *testing.T) {
	for _, fails := range []int{1, 8, 20} {
		t.Run(fmt.Sprint(fails), func(t *testing.T) {
			script := []answer{says("first")}
			for range fails {
				script = append(script, answer{status: http.StatusServiceUnavailable, body: `{"error":"loading"}`})
			}
			w := newWorld(t, newScripted(t, front.Ollama, append(script, says("fine"))...))
			chat := w.talk(front.Ollama, true)
			id := chat.say("one").header.Get(front.SessionHeader)
			want := []string{"user: one", "agent: first"}
			for i := range fails {
				chat.send(user(fmt.Sprint(i)))
				want = append(want, fmt.Sprint("user: ", i))
			}
			session, err := w.engine.Find(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := session.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "somebody else"}}); err != nil {
				t.Fatal(err)
			}
			fork := chat.say("more").header.Get(front.SessionHeader)
			want = append(want, "user: more", "agent: fine")
			if diff := cmp.Diff(want, w.log(fork)); diff != "" {
				t.Error(diff)
			}
			made, err := w.engine.Find(t.Context(), fork)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := made.Info(t.Context()); err != nil || info.Parent != id {
				t.Errorf("it goes on in a session whose parent is %q, not %q: %v", info.Parent, id, err)
			}
		})
	}
}
