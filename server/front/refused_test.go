package front_test

import (
	"cmp"
	"net/http"
	"slices"
	"sort"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/server/front"
)

// A call whose system, tools or last message no prompt has room for keeps nothing, wherever it would have gone on: no session, no fork, no turn.
func TestRefusedKeepsNothing(t *testing.T) {
	long := strings.Repeat("far too much to say ", 4000)
	tool := func(name, description string) m {
		return m{"type": "function", "function": m{"name": name, "description": description, "parameters": m{"type": "object"}}}
	}
	var many []m
	for range 513 {
		many = append(many, tool("look", ""))
	}
	begun := []m{user("one"), assistant("first")}
	for how, refused := range map[string]struct {
		system []m // before the others
		middle []m // before the last
		tools  []m
		last   string
		said   string
	}{
		"its system":                {system: []m{{"role": "system", "content": long}}, said: "over budget"},
		"its system, in the middle": {middle: []m{{"role": "system", "content": long}}, said: "over budget"},
		"its tools":                 {tools: []m{tool("look", long)}, said: "over budget"},
		"what is said last":         {last: long, said: "over budget"},
		"all of it together":        {tools: []m{tool("look", strings.Repeat("look ", 1000))}, last: strings.Repeat("say ", 2200), said: "over budget"},
		"how many tools":            {tools: many, said: "tools"},
		"a tool without a name":     {tools: []m{tool("", "x")}, said: "tools[0].name"},
	} {
		for where, test := range map[string]struct {
			session string
			history []m
		}{
			"a new session":                {"", nil},
			"a new session that is named":  {"mine", nil},
			"a history of others":          {"", []m{user("a"), assistant("b")}},
			"a history of others, named":   {"mine", []m{user("a"), assistant("b")}},
			"a conversation":               {"", append(begun[:2:2], user("two"), assistant("second"))},
			"a conversation, and its fork": {"", begun},
		} {
			t.Run(how+" in "+where, func(t *testing.T) {
				w := newWorld(t, newScripted(t, front.OpenAI, says("first"), says("second")))
				chat := w.talk(front.OpenAI, true)
				chat.say("one")
				chat.say("two")
				before := w.logs()
				if test.session != "" {
					chat.header.Set(front.SessionHeader, test.session)
				}
				if refused.tools != nil {
					chat.more = m{"tools": refused.tools}
				}
				chat.history = append(append(append(append([]m(nil), refused.system...), test.history...), refused.middle...), user(cmp.Or(refused.last, "last")))
				for range 2 {
					if r := chat.send(); r.status != http.StatusBadRequest || !strings.Contains(r.failure, refused.said) {
						t.Fatalf("status %d: %s", r.status, r.body)
					}
				}
				if diff := gocmp.Diff(before, w.logs()); diff != "" {
					t.Error(diff)
				}
				if n := len(w.upstream.requests()); n != 2 {
					t.Errorf("asked %d times", n)
				}
			})
		}
	}
}

// A message of several parts is counted as it is shown, and not refused for what it would be as one text.
func TestPartsThatFitAreNotRefused(t *testing.T) {
	w := newWorld(t, newScripted(t, front.OpenAI, says("fine")))
	parts := func(size int) []string {
		return []string{strings.Repeat("word ", size), strings.Repeat("東京は日本の首都です。", size/6)}
	}
	size := sort.Search(5000, func(size int) bool {
		_, err := w.engine.Fits(t.Context(), "m", 0, prompt.Settings{}, parts(size)...)
		return err != nil
	}) - 1
	var content []m
	for _, text := range parts(size) {
		content = append(content, m{"type": "text", "text": text})
	}
	if r := w.talk(front.OpenAI, true).send(m{"role": "user", "content": content}); r.text != "fine" {
		t.Errorf("%d: status %d: %.200s", size, r.status, r.body)
	}
}

// Neither does one that ends with results that no prompt has room for, with the call that they answer. The client goes on in the same
// session with less of them.
func TestRefusedResultsKeepNothing(t *testing.T) {
	much := strings.Repeat("far too much to say ", 300)
	calls := []called{{"a", "look", "{}"}, {"b", "look", "{}"}}
	written := []called{{"a", "write", `{"text":"` + strings.Repeat("far too much to say ", 250) + `"}`}}
	for name, test := range map[string]struct {
		calls   []called
		results []string
		named   string
		asked   string // before the call
		steps   int    // how many calls came before, with short results
	}{
		"one":                   {calls: calls[:1], results: []string{much + much}},
		"one, in a named one":   {calls: calls[:1], results: []string{much + much}, named: "mine"},
		"two together":          {calls: calls, results: []string{much, much}},
		"with the call's words": {calls: written, results: []string{much}},
		// They fit, and what they are for does, but not both.
		"with the question":              {calls: calls[:1], results: []string{much}, asked: much},
		"with the question, in a named":  {calls: calls[:1], results: []string{much}, asked: much, named: "mine"},
		"with the question before steps": {calls: calls[:1], results: []string{much}, asked: much, steps: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var answers []answer
			for range test.steps + 1 {
				answers = append(answers, answer{dies: -1, calls: test.calls})
			}
			w := newWorld(t, newScripted(t, front.OpenAI, append(answers, says("fine"))...))
			chat := w.talk(front.OpenAI, true)
			if test.named != "" {
				chat.header.Set(front.SessionHeader, test.named)
			}
			asked := chat.say(cmp.Or(test.asked, "go")).calls
			for range test.steps {
				asked = chat.send(chat.results(asked, "short")...).calls
			}
			before, history := w.logs(), slices.Clip(chat.history)
			results := chat.results(asked, test.results...)
			for range 2 {
				chat.history = history
				if r := chat.send(results...); r.status != http.StatusBadRequest || !strings.Contains(r.failure, "over budget") {
					t.Fatalf("status %d: %s", r.status, r.body)
				}
			}
			if diff := gocmp.Diff(before, w.logs()); diff != "" {
				t.Errorf("something of it is kept: %s", diff)
			}
			chat.history = history
			short := make([]string, len(asked))
			for i := range short {
				short[i] = "less"
			}
			if r := chat.send(chat.results(asked, short...)...); r.text != "fine" {
				t.Fatalf("status %d: %s", r.status, r.body)
			}
			if ids := w.sessions(); len(ids) != 1 {
				t.Errorf("it goes on in another session: %v", ids)
			}
		})
	}
}

// A question may leave the prompt once something else stands there as the user's: a picture that a tool gave. Results that have room
// without it are not refused for it.
func TestResultsThatFitAreNotRefused(t *testing.T) {
	much := strings.Repeat("far too much to say ", 300)
	dot := m{"type": "image_url", "image_url": m{"url": "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"}}
	look := answer{dies: -1, calls: []called{{"a", "look", "{}"}}}
	w := newWorld(t, newScripted(t, front.OpenAI, look, look, says("fine")))
	chat := w.talk(front.OpenAI, true)
	first := chat.results(chat.say(much).calls, "short")
	first[0]["content"] = []m{{"type": "text", "text": "see"}, dot}
	if r := chat.send(chat.results(chat.send(first...).calls, much)...); r.text != "fine" {
		t.Errorf("status %d: %.200s", r.status, r.body)
	}
}
