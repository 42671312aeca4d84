package front_test

import (
	"bufio"
	"context"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/turn"
)

// A client hangs up after a letter of the reply. What it sends in place of it later is not taken for it because it begins so, and the
// model sees it.
func TestReplyThatWasCutOffIsEdited(t *testing.T) {
	for _, named := range []string{"", "mine"} {
		for _, test := range []struct {
			reply string
			want  []string // the model is asked with
			all   int
		}{
			{"I", []string{"user: hi", "assistant: I ", "user: more"}, 1},
			{"I mean Go.", []string{"user: hi", "assistant: I mean Go.", "user: more"}, 2},
		} {
			t.Run(named+" "+test.reply, func(t *testing.T) {
				gate := make(chan struct{})
				slow := says("I think so.")
				slow.gate = gate
				w := newWorld(t, newScripted(t, front.Ollama, slow, says("fine")))
				chat := w.talk(front.Ollama, true)
				if named != "" {
					chat.header.Set(front.SessionHeader, named)
				}
				chat.history = []m{user("hi")}
				ctx, hangUp := context.WithCancel(t.Context())
				response := chat.open(ctx)
				words(t, bufio.NewReader(response.Body), gate, 1)
				hangUp()
				if err := response.Body.Close(); err != nil {
					t.Error(err)
				}
				w.ended()
				chat.history = append(chat.history, assistant(test.reply))
				chat.say("more")
				if diff := cmp.Diff(test.want, w.upstream.last().said()); diff != "" {
					t.Errorf("the model is asked with something else: %s", diff)
				}
				if ids := w.sessions(); len(ids) != test.all {
					t.Errorf("%d sessions, not %d", len(ids), test.all)
				}
			})
		}
	}
}

// Processes died in the middle of replies to the same words. Who repeats what it saw goes on in the session that has it, and not in one
// that has a letter of it; where none has all of it, in the only one that may be it.
func TestRepliesThatWereCutOffAlike(t *testing.T) {
	for name, test := range map[string]struct {
		kept []string // of the sessions, the oldest first
		seen string
		want int // which of them it goes on in, -1 for a new one
	}{
		"one has it":             {[]string{"I am", "I"}, "I am", 0},
		"one has more":           {[]string{"I am", "I"}, "I a", 0},
		"both have more":         {[]string{"I am", "I am"}, "I", 1},
		"both have less":         {[]string{"I am", "I"}, "I am here", -1},
		"the only one has less":  {[]string{"I"}, "I am", 0},
		"the only one that fits": {[]string{"I", "You"}, "I am", 0},
	} {
		t.Run(name, func(t *testing.T) {
			var script []answer
			for range test.kept {
				script = append(script, answer{status: http.StatusServiceUnavailable, body: `{"error":"loading"}`})
			}
			w := newWorld(t, newScripted(t, front.Ollama, append(script, says("fine"))...))
			for _, kept := range test.kept {
				w.talk(front.Ollama, true).send(user("hi"))
				ids := w.sessions()
				session, err := w.engine.Find(t.Context(), ids[len(ids)-1])
				if err != nil {
					t.Fatal(err)
				}
				// As what a process left that died is kept by the next.
				if _, err := session.Append(t.Context(), turn.Draft{Role: turn.Agent, Content: turn.Text{Text: kept}, Meta: turn.Meta{Interrupted: true}}); err != nil {
					t.Fatal(err)
				}
			}
			ids := w.sessions()
			chat := w.talk(front.Ollama, true)
			chat.history = []m{user("hi"), assistant(test.seen)}
			got := -1
			session := chat.say("more").header.Get(front.SessionHeader)
			for i, id := range ids {
				if id == session {
					got = i
				}
			}
			if got != test.want || len(ids) != len(test.kept) {
				t.Errorf("it goes on in session %d, not in %d of %d", got, test.want, len(ids))
			}
		})
	}
}
