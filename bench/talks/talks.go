// Package talks makes up conversations of a given length, always the same ones for the same seed: two people who
// chat, and an agent that works with tools.
package talks

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// message is a line of the conversation, as chat completions have it.
type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Calls   []toolCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// talk is a conversation in the making.
type talk struct {
	*words
	count  func(string) int
	lines  []byte
	tokens int
	calls  int
}

func newTalk(seed uint64, count func(string) int) *talk {
	return &talk{words: &words{rand.New(rand.NewPCG(seed, 7))}, count: count}
}

// Chat returns messages, one a line, of a user and an assistant who talk until they have said that many tokens.
func Chat(seed uint64, tokens int, count func(string) int) []byte {
	t := newTalk(seed, count)
	for t.tokens < tokens {
		t.say(message{Role: "user", Content: t.sentences(1, 3)})
		t.say(message{Role: "assistant", Content: t.sentences(1, 3)})
	}
	return t.lines
}

// Tools returns messages, one a line, of a user and an assistant that looks things up and changes them with
// tools, until they and the tools have said that many tokens.
func Tools(seed uint64, tokens int, count func(string) int) []byte {
	t := newTalk(seed, count)
	t.say(message{Role: "system", Content: "You keep the orders of a shop and the program behind it in order. Use the tools; ask before you delete."})
	for t.tokens < tokens {
		t.say(message{Role: "user", Content: t.request()})
		for range 2 + t.IntN(6) {
			t.work()
		}
		t.say(message{Role: "assistant", Content: t.sentences(1, 3)})
	}
	return t.lines
}

// work is a call of a tool and what it returned.
func (t *talk) work() {
	t.calls++
	id := fmt.Sprintf("call_%d", t.calls)
	var name, arguments, result string
	switch t.IntN(4) {
	case 0:
		path := t.path()
		name, arguments, result = "read_file", fmt.Sprintf(`{"path":%q}`, path), t.source(path)
	case 1:
		name, arguments, result = "run_tests", fmt.Sprintf(`{"package":%q}`, "./"+t.pick(folders)+"/..."), t.log()
	case 2:
		order := t.order()
		name, arguments, result = "get_order", fmt.Sprintf(`{"order_id":%q}`, order), t.record(order)
	default:
		word := t.pick(things)
		name, arguments, result = "search", fmt.Sprintf(`{"query":%q,"limit":%d}`, word, 5+t.IntN(10)), t.found(word)
	}
	say := ""
	if t.IntN(3) == 0 {
		say = t.sentences(1, 1)
	}
	t.say(message{Role: "assistant", Content: say, Calls: []toolCall{{id, "function", function{name, arguments}}}})
	t.say(message{Role: "tool", CallID: id, Content: result})
}

func (t *talk) say(m message) {
	line, err := json.Marshal(m)
	if err != nil {
		panic(err) // texts and numbers always have a JSON
	}
	t.lines = append(append(t.lines, line...), '\n')
	t.tokens += t.count(m.Content)
	for _, c := range m.Calls {
		t.tokens += t.count(c.Function.Name) + t.count(c.Function.Arguments)
	}
}

// request is what a user wants done.
func (t *talk) request() string {
	switch t.IntN(3) {
	case 0:
		return fmt.Sprintf("Please look at %s: %s", t.path(), t.sentence())
	case 1:
		return fmt.Sprintf("%s asked about order %s. %s", t.pick(names), t.order(), t.sentence())
	}
	return fmt.Sprintf("The tests of %s fail since %s. %s", t.pick(folders), t.date(), t.sentence())
}
