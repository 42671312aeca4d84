package front_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
)

// A client that names its session sends only the end of its history, and no reply as it was. It goes on in the session all the same.
func TestNamedSessionWhoseRepliesAreRewritten(t *testing.T) {
	for name, rewrite := range map[string]func(string) string{
		"without marks": func(s string) string { return strings.NewReplacer("*", "", "\n\n", " ", "#", "").Replace(s) },
		"a piece of it": func(s string) string { return s[strings.Index(s, "answer"):] },
		"cut short":     func(s string) string { return s[:strings.Index(s, "is")] + "…" },
	} {
		for _, window := range []int{2, 4, 100} {
			t.Run(fmt.Sprintf("%s, %d", name, window), func(t *testing.T) {
				upstream := newScripted(t, front.Ollama)
				n := 0
				upstream.oblige = func(*asked) answer {
					n++
					return says(fmt.Sprintf("# Well\n\nThe *answer* to %d is known.", n))
				}
				w := newWorld(t, upstream)
				chat := w.talk(front.Ollama, true)
				chat.header.Set(front.SessionHeader, "mine")
				var want []string
				for i := range 6 {
					text := chat.say(fmt.Sprint("ask ", i)).text
					want = append(want, fmt.Sprint("user: ask ", i), "agent: "+text)
					chat.history[len(chat.history)-1] = assistant(rewrite(text))
					chat.history = slices.Clone(chat.history[max(0, len(chat.history)-window):])
				}
				if diff := cmp.Diff([][]string{want}, w.logs()); diff != "" {
					t.Errorf("it does not go on in the session: %s", diff)
				}
			})
		}
	}
}

// What the session knows and the client has changed goes on apart, and the model sees it as the client has it.
func TestNamedSessionWhoseReplyIsEdited(t *testing.T) {
	held := []string{"a", "a: The cat sat on the mat.", "c", "a: The dog ran to the door."}
	for name, test := range map[string]struct {
		sent  []m
		asked []string
	}{
		"other words":       {[]m{user("c"), assistant("The cow ran to the door."), user("e")}, []string{"user: c", "assistant: The cow ran to the door.", "user: e"}},
		"words from within": {[]m{user("c"), assistant("The dog to the door."), user("e")}, []string{"user: c", "assistant: The dog to the door.", "user: e"}},
		"half a word":       {[]m{user("c"), assistant("The dog ran to the do"), user("e")}, []string{"user: c", "assistant: The dog ran to the do", "user: e"}},
		"something else was asked": {[]m{user("b"), assistant("the dog ran to the door"), user("e")}, []string{
			"user: b", "assistant: the dog ran to the door", "user: e",
		}},
		"a message behind an earlier one": {[]m{user("a"), assistant("the cat sat on the mat"), user("C")}, []string{
			"user: a", "assistant: The cat sat on the mat.", "user: C",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama, says("one")))
			w.append("mine", held...)
			chat := w.talk(front.Ollama, true)
			chat.header.Set(front.SessionHeader, "mine")
			if r := chat.send(test.sent...); r.status != http.StatusOK || r.header.Get(front.SessionHeader) == "mine" {
				t.Errorf("status %d in session %s: %s", r.status, r.header.Get(front.SessionHeader), r.body)
			}
			if diff := cmp.Diff(test.asked, w.upstream.last().said()); diff != "" {
				t.Errorf("the model is asked with something else: %s", diff)
			}
		})
	}
}
