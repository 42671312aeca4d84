package front

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

func spokenBy(role turn.Role, said, id string) turn.Turn {
	return turn.Turn{Role: role, Content: turn.Text{Text: said}, MessageID: id}
}

// shown is a unit in a line: who, its parts and calls, and up to which turn.
func (u *unit) shown() string {
	line := fmt.Sprintf("%d %s", u.last, u.message.role)
	for _, p := range u.message.parts {
		if p.image != nil {
			line += fmt.Sprintf(" image %x", p.sum[:1])
		} else {
			line += " " + p.text
		}
	}
	for _, c := range u.message.calls {
		line += " " + c.Name + c.Arguments
	}
	if u.message.callID != "" {
		line += fmt.Sprintf(" of %s, skips %d", u.message.callID, u.message.skips)
	}
	if u.cut {
		line += " […]"
	}
	return line
}

// Turns of a log are the messages that a client sent and was sent.
func TestUnits(t *testing.T) {
	sum := hex.EncodeToString(append([]byte{7}, make([]byte, 31)...))
	image := func(sha256, id string) turn.Turn {
		return turn.Turn{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{SHA256: sha256}}, MessageID: id}
	}
	result := func(id, said string, synthetic bool) turn.Turn {
		return turn.Turn{Role: turn.System, Content: turn.Result{Name: "look", CallID: id, Result: said, Synthetic: synthetic}}
	}
	calls := turn.Turn{Role: turn.Agent, Content: turn.Text{Text: "Wait.", ToolCalls: []turn.ToolCall{{ID: "x", Name: "look", Arguments: "{}"}, {ID: "y", Name: "hear", Arguments: "[]"}}}}
	cut := spokenBy(turn.Agent, "So", "")
	cut.Meta.Interrupted = true
	for name, test := range map[string]struct {
		turns []turn.Turn
		want  []string
	}{
		"nothing":                    {nil, nil},
		"a reply":                    {[]turn.Turn{spokenBy(turn.User, "a", ""), spokenBy(turn.Agent, "b", "")}, []string{"1 user a", "2 assistant b"}},
		"one that was cut off":       {[]turn.Turn{cut}, []string{"1 assistant So […]"}},
		"two messages":               {[]turn.Turn{spokenBy(turn.User, "a", ""), spokenBy(turn.User, "b", "")}, []string{"1 user a", "2 user b"}},
		"two parts":                  {[]turn.Turn{spokenBy(turn.User, "a", "m"), image(sum, "m")}, []string{"2 user a image 07"}},
		"of two messages":            {[]turn.Turn{spokenBy(turn.User, "a", "m"), spokenBy(turn.User, "b", "n")}, []string{"1 user a", "2 user b"}},
		"one has a part":             {[]turn.Turn{spokenBy(turn.User, "a", ""), spokenBy(turn.User, "b", "m")}, []string{"1 user a", "2 user b"}},
		"a part that is damaged":     {[]turn.Turn{image("?", "m"), spokenBy(turn.User, "a", "m")}, []string{"2 user a"}},
		"one behind another message": {[]turn.Turn{spokenBy(turn.User, "a", "m"), image("?", "n"), spokenBy(turn.User, "b", "n")}, []string{"1 user a", "3 user b"}},
		"one in the middle":          {[]turn.Turn{spokenBy(turn.User, "a", "m"), image("?", "m"), spokenBy(turn.User, "b", "m")}, []string{"3 user a b"}},
		"no words":                   {[]turn.Turn{spokenBy(turn.User, nothing, "")}, []string{"1 user"}},
		"speech":                     {[]turn.Turn{{Role: turn.User, Content: turn.Speech{Transcript: "a"}}}, []string{"1 user"}},
		"a call without words": {
			[]turn.Turn{{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "x", Name: "look", Arguments: "{}"}}}}},
			[]string{"1 assistant look{}"},
		},
		"results": {
			[]turn.Turn{calls, result("y", `"heard"`, false), result("x", `"seen"`, false)},
			[]string{"1 assistant Wait. look{} hear[]", "2 tool heard of y, skips 1", "3 tool seen of x, skips 0"},
		},
		"a result that nobody brought": {[]turn.Turn{calls, result("x", `"late"`, true)}, []string{"1 assistant Wait. look{} hear[]"}},
		"a result without words":       {[]turn.Turn{calls, result("x", `{"a":1}`, false), result("y", `""`, false)}, []string{"1 assistant Wait. look{} hear[]", "2 tool of x, skips 0", "3 tool of y, skips 0"}},
	} {
		var got []string
		for i := range test.turns {
			test.turns[i].Seq = int64(i + 1)
		}
		for _, u := range units(test.turns) {
			got = append(got, u.shown())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A client means a message of the log where it says the same, and where it says what it could see of it.
func TestSame(t *testing.T) {
	long := strings.Repeat("x", maxUnkept)
	for _, test := range []struct {
		name       string
		kept       string
		cut, asked bool // it was cut off; it is the user's
		all        bool // it is all that anybody was told
		seen       message
		want       bool
	}{
		{name: "the same", kept: "one two", seen: message{parts: []part{{text: "one two"}}}, want: true},
		{name: "with blanks", kept: "one two\n", seen: message{parts: []part{{text: " one two"}}}, want: true},
		{name: "something else", kept: "one two", seen: message{parts: []part{{text: "one"}}}},
		{name: "somebody else", kept: "one two", asked: true, seen: message{parts: []part{{text: "one two"}}}},
		{name: "less", kept: "one two", cut: true, seen: message{parts: []part{{text: "one "}}}, want: true},
		{name: "less, of the user's", kept: "one two", cut: true, seen: message{role: llm.User, parts: []part{{text: "one"}}}},
		{name: "nothing of it", kept: "one two", cut: true},
		{name: "another beginning", kept: "one two", cut: true, seen: message{parts: []part{{text: "two"}}}},
		{name: "less, with a call", kept: "one two", cut: true, seen: message{parts: []part{{text: "one"}}, calls: []llm.Call{{Name: "look"}}}},
		{name: "more", kept: "one ", cut: true, seen: message{parts: []part{{text: "one two"}}}, want: true},
		{name: "more than anybody was told", kept: "one ", cut: true, all: true, seen: message{parts: []part{{text: "one two"}}}},
		{name: "less than all", kept: "one two", cut: true, all: true, seen: message{parts: []part{{text: "one"}}}, want: true},
		{name: "as much more as may be", kept: "one", cut: true, seen: message{parts: []part{{text: "one" + long}}}, want: true},
		{name: "too much more", kept: "one", cut: true, seen: message{parts: []part{{text: "one" + long + "x"}}}},
		{name: "more than nothing", kept: " ", cut: true, seen: message{parts: []part{{text: "one"}}}},
		{name: "without its thoughts", kept: "\n<think>Hm.</think>\n\none", seen: message{parts: []part{{text: "one"}}}, want: true},
		{name: "other than its thoughts", kept: "<think>Hm.</think>one", seen: message{parts: []part{{text: "two"}}}},
		{name: "thoughts without an end", kept: "<think>Hm. one", seen: message{parts: []part{{text: "one"}}}},
		{name: "thoughts without a beginning", kept: "Hm.</think>one", seen: message{parts: []part{{text: "one"}}}},
		{name: "of a text about thoughts", kept: "Say <think>Hm.</think>one", seen: message{parts: []part{{text: "one"}}}},
		{name: "the user's thoughts", kept: "<think>Hm.</think>one", asked: true, seen: message{role: llm.User, parts: []part{{text: "one"}}}},
	} {
		u := unit{message: message{role: llm.Assistant, parts: []part{{text: test.kept}}}, cut: test.cut, all: test.all}
		if test.asked {
			u.message.role = llm.User
		}
		if test.seen.role == "" {
			test.seen.role = llm.Assistant
		}
		if got := u.same(&test.seen) != other; got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if diff := cmp.Diff(test.kept, u.message.text()); diff != "" {
			t.Errorf("%s: what is kept was changed: %s", test.name, diff)
		}
	}
}

// A history that is nowhere in a session is held against all of it. The more of both there is, the longer that takes, but not
// as long as reading all of one for each message of the other.
func TestAHistoryIsReadOnce(t *testing.T) {
	const n = 100
	var all []unit
	var history []message
	for i := range n {
		all = append(all, unit{message: message{role: llm.Assistant, parts: []part{{text: fmt.Sprint("kept ", i)}}}})
		history = append(history, message{role: llm.Assistant, parts: []part{{text: fmt.Sprint("seen ", i)}}})
	}
	got := testing.AllocsPerRun(1, func() {
		for i := range all {
			all[i].sums = nil
		}
		for i := range history {
			if at := lastReply(all, history[:i+1]); at >= 0 {
				t.Errorf("message %d is %d", i, at)
			}
		}
	})
	if got > 40*n {
		t.Errorf("%.0f allocations for %d messages in %d", got, n, n)
	}
}
