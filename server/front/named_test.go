package front_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/turn"
)

// append makes a session and has others speak in it, with "a: " before what the agent says.
func (w *world) append(id string, said ...string) {
	w.Helper()
	session, err := w.engine.Create(w.Context(), turn.SessionInfo{Key: turn.Key{Session: id}})
	if err != nil {
		w.Fatal(err)
	}
	for _, text := range said {
		d := turn.Draft{Role: turn.User, Content: turn.Text{Text: text}}
		if reply, ok := strings.CutPrefix(text, "a: "); ok {
			d = turn.Draft{Role: turn.Agent, Content: turn.Text{Text: reply}}
		}
		if name, ok := strings.CutPrefix(text, "calls "); ok {
			d = turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c", Name: name, Arguments: "{}"}}}}
		}
		if text == "seen" {
			d = turn.Draft{Role: turn.System, Content: turn.Result{Name: "look", CallID: "c", Status: turn.CallOK, Result: `"seen"`}}
		}
		if _, err := session.Append(w.Context(), d); err != nil {
			w.Fatal(err)
		}
	}
}

// The session that a client names was filled by others. Of a history only what is new is taken; where it is another one, it is
// held apart.
func TestNamedSessionOfOthers(t *testing.T) {
	mine := []string{"user: a", "agent: b", "user: c", "agent: d"}
	for name, test := range map[string]struct {
		held []string
		sent []m
		want [][]string
	}{
		"it goes on":       {sent: []m{user("a"), assistant("b"), user("c"), assistant("d"), user("e")}, want: [][]string{append(mine[:4:4], "user: e", "agent: one", "user: more", "agent: two")}},
		"the end of it":    {sent: []m{user("c"), assistant("d"), user("e")}, want: [][]string{append(mine[:4:4], "user: e", "agent: one", "user: more", "agent: two")}},
		"its last reply":   {sent: []m{assistant("d"), user("e")}, want: [][]string{append(mine[:4:4], "user: e", "agent: one", "user: more", "agent: two")}},
		"a summary of it":  {sent: []m{user("before: a, b"), user("c"), assistant("d"), user("e")}, want: [][]string{append(mine[:4:4], "user: e", "agent: one", "user: more", "agent: two")}},
		"what is new":      {sent: []m{user("e")}, want: [][]string{append(mine[:4:4], "user: e", "agent: one", "user: more", "agent: two")}},
		"others said more": {sent: []m{user("a"), assistant("b"), user("c"), assistant("d"), user("e"), assistant("f"), user("g")}, want: [][]string{append(mine[:4:4], "user: e", "agent: f", "user: g", "agent: one", "user: more", "agent: two")}},
		"the last reply is made anew": {sent: []m{user("a"), assistant("b"), user("c")}, want: [][]string{
			mine, append(mine[:3:3], "agent: one", "user: more", "agent: two"),
		}},
		"a message is edited": {sent: []m{user("a"), assistant("b"), user("C")}, want: [][]string{
			mine, append(mine[:2:2], "user: C", "agent: one", "user: more", "agent: two"),
		}},
		"a reply is edited": {sent: []m{user("a"), assistant("b"), user("c"), assistant("D"), user("e")}, want: [][]string{
			mine, append(mine[:3:3], "agent: D", "user: e", "agent: one", "user: more", "agent: two"),
		}},
		"another conversation": {sent: []m{user("x"), assistant("y"), user("z")}, want: [][]string{
			mine, {"user: x", "agent: y", "user: z", "agent: one", "user: more", "agent: two"},
		}},
		"a reply like others": {
			held: []string{"a", "a: ok", "c", "a: ok"}, sent: []m{user("a"), assistant("ok"), user("C")},
			want: [][]string{{"user: a", "agent: ok", "user: c", "agent: ok"}, {"user: a", "agent: ok", "user: C", "agent: one", "user: more", "agent: two"}},
		},
		"no reply yet": {
			held: []string{"a"}, sent: []m{user("a"), user("b")},
			want: [][]string{{"user: a", "user: b", "agent: one", "user: more", "agent: two"}},
		},
		"no reply yet, and nothing new": {
			held: []string{"a", "a: b", "c"}, sent: []m{user("a"), assistant("b"), user("c")},
			want: [][]string{{"user: a", "agent: b", "user: c", "agent: one", "user: more", "agent: two"}},
		},
		"a greeting": {
			held: []string{"a: Hello!"}, sent: []m{user("a")},
			want: [][]string{{"agent: Hello!", "user: a", "agent: one", "user: more", "agent: two"}},
		},
		"thought aloud": {
			held: []string{"a", "a: <think>b?</think>\n\nb"}, sent: []m{user("a"), assistant("b"), user("c")},
			want: [][]string{{"user: a", "agent: <think>b?</think>\n\nb", "user: c", "agent: one", "user: more", "agent: two"}},
		},
		"tools that the client did not see": {
			held: []string{"a", "calls look", "seen", "a: b"}, sent: []m{user("a"), assistant("b"), user("c")},
			want: [][]string{{"user: a", "agent:  look{}", `system: look ok "seen"`, "agent: b", "user: c", "agent: one", "user: more", "agent: two"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama, says("one"), says("two")))
			if test.held == nil {
				test.held = []string{"a", "a: b", "c", "a: d"}
			}
			w.append("mine", test.held...)
			chat := w.talk(front.Ollama, true)
			chat.header.Set(front.SessionHeader, "mine")
			chat.send(test.sent...)
			chat.say("more")
			if diff := cmp.Diff(test.want, w.logs()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A history of others that comes with the first call to a named session, and comes again, is not taken in again.
func TestNamedSessionTakesAHistoryOnce(t *testing.T) {
	w := newWorld(t, newScripted(t, front.OpenAI, says("one"), says("two")))
	chat := w.talk(front.OpenAI, true)
	chat.header.Set(front.SessionHeader, "mine")
	chat.send(user("a"), assistant("b"), user("c"))
	chat.history = chat.history[:3]
	chat.send()
	want := [][]string{{"user: a", "agent: b", "user: c", "agent: one"}, {"user: a", "agent: b", "user: c", "agent: two"}}
	if diff := cmp.Diff(want, w.logs()); diff != "" {
		t.Error(diff)
	}
}

// Clients send nothing back of what a model thought aloud. It is the same reply, named or not.
func TestThoughtAloud(t *testing.T) {
	for _, named := range []string{"", "mine"} {
		w := newWorld(t, newScripted(t, front.Ollama, says("<think>Who?</think>Hi."), says("<think>What?</think>Fine."), says("Good.")))
		chat := w.talk(front.Ollama, true)
		if named != "" {
			chat.header.Set(front.SessionHeader, named)
		}
		chat.say("one")
		chat.history[1] = assistant("Hi.")
		chat.say("two")
		chat.history[3] = assistant("Fine.")
		chat.say("three")
		want := [][]string{{"user: one", "agent: <think>Who?</think>Hi.", "user: two", "agent: <think>What?</think>Fine.", "user: three", "agent: Good."}}
		if diff := cmp.Diff(want, w.logs()); diff != "" {
			t.Errorf("%q: %s", named, diff)
		}
	}
}

// Of a long session it is the end that a history is held against.
func TestNamedSessionIsLong(t *testing.T) {
	var held []string
	for i := range 150 {
		held = append(held, fmt.Sprint("asked ", i), fmt.Sprint("a: told ", i))
	}
	for name, test := range map[string]struct {
		sent []m
		want []string // the end of the last session
		all  int
	}{
		"it goes on":          {[]m{user("asked 149"), assistant("told 149"), user("more")}, []string{"agent: told 149", "user: more", "agent: one"}, 1},
		"a message is edited": {[]m{user("asked 148"), assistant("told 148"), user("more")}, []string{"agent: told 148", "user: more", "agent: one"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, front.Ollama, says("one")))
			w.append("mine", held...)
			chat := w.talk(front.Ollama, true)
			chat.header.Set(front.SessionHeader, "mine")
			chat.send(test.sent...)
			logs := w.logs()
			last := logs[len(logs)-1]
			if diff := cmp.Diff(test.want, last[len(last)-3:]); diff != "" || len(logs) != test.all || last[0] != "user: asked 0" {
				t.Errorf("%d sessions, the last of which begins with %q: %s", len(logs), last[0], diff)
			}
		})
	}
}
