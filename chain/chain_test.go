package chain_test

import (
	"encoding/hex"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/chain"
)

func text(role, s string) chain.Message { return chain.Message{Role: role, Text: s} }

func calling(arguments string) chain.Message {
	return chain.Message{Role: "assistant", Calls: []chain.Call{{ID: "c1", Name: "weather", Arguments: arguments}}}
}

func hash(messages ...chain.Message) chain.Hash {
	var h chain.Hash
	for _, m := range messages {
		h = chain.Next(h, m)
	}
	return h
}

// Links are kept for as long as their sessions: a hash that comes out different from one day to the next loses them all.
func TestNextIsTheSameForEver(t *testing.T) {
	got := hash(
		text("system", "You are terse."),
		chain.Message{Role: "user", Parts: []chain.Part{{Text: "What is this?"}, {Blob: chain.Hash{1, 2, 3}}}},
		chain.Message{Role: "assistant", Calls: []chain.Call{{ID: "c1", Name: "look", Arguments: `{"b": 1.0, "a": "é"}`}}},
		chain.Message{Role: "tool", Text: "a cat", CallID: "c1", Name: "look"},
	)
	const want = "faccda2f37a273492a18c5adb621a034c022d56d38633062692a452eb4da1122"
	if hex.EncodeToString(got[:]) != want {
		t.Errorf("got %x", got)
	}
}

func TestSame(t *testing.T) {
	for name, pair := range map[string][2]chain.Message{
		"a text and a part of it":  {text("user", "hello"), {Role: "user", Parts: []chain.Part{{Text: "hello"}}}},
		"an empty part":            {text("user", "hello"), {Role: "user", Parts: []chain.Part{{Text: "hello"}, {}}}},
		"an empty text":            {{Role: "user", Text: "", Parts: []chain.Part{{Blob: chain.Hash{1}}}}, {Role: "user", Parts: []chain.Part{{Text: ""}, {Blob: chain.Hash{1}}}}},
		"no arguments":             {calling(""), calling(" {} ")},
		"blanks in arguments":      {calling(`{"a":[1,2]}`), calling("{ \"a\": [1,\n2] }")},
		"the order of names":       {calling(`{"a":1,"b":{"d":2,"c":3}}`), calling(`{"b":{"c":3,"d":2},"a":1}`)},
		"escapes":                  {calling(`{"a":"é<"}`), calling(`{"a":"\u00e9\u003c"}`)},
		"an integer":               {calling(`{"a":[1, -0, 100]}`), calling(`{"a":[1.0, 0, 1e2]}`)},
		"a fraction":               {calling(`{"a":0.5}`), calling(`{"a":5e-1}`)},
		"a large double":           {calling(`{"a":1e300}`), calling(`{"a":10e299}`)},
		"the largest exact number": {calling(`{"a":9007199254740991}`), calling(`{"a":9007199254740991.0}`)},
	} {
		if hash(pair[0]) != hash(pair[1]) {
			t.Errorf("%s: differ", name)
		}
	}
}

func TestDifferent(t *testing.T) {
	one, two := text("user", "a"), text("user", "b")
	for name, pair := range map[string][2][]chain.Message{
		"nothing":             {{}, {text("", "")}},
		"role":                {{text("user", "hello")}, {text("assistant", "hello")}},
		"text":                {{text("user", "hello")}, {text("user", "hello ")}},
		"a line's end":        {{text("user", "a\nb")}, {text("user", "a\r\nb")}},
		"order":               {{one, two}, {two, one}},
		"one message or two":  {{text("user", "ab")}, {one, two}},
		"one part or two":     {{text("user", "ab")}, {{Role: "user", Parts: []chain.Part{{Text: "a"}, {Text: "b"}}}}},
		"picture":             {{{Parts: []chain.Part{{Blob: chain.Hash{1}}}}}, {{Parts: []chain.Part{{Blob: chain.Hash{2}}}}}},
		"arguments":           {{calling(`{"a":1}`)}, {calling(`{"a":2}`)}},
		"kind of argument":    {{calling(`{"a":1}`)}, {calling(`{"a":"1"}`)}},
		"integers too large":  {{calling(`{"a":9007199254740993}`)}, {calling(`{"a":9007199254740992}`)}},
		"numbers too large":   {{calling(`{"a":1e400}`)}, {calling(`{"a":2e400}`)}},
		"no JSON":             {{calling(`{"a":`)}, {calling(`{"a": `)}},
		"something after it":  {{calling(`{} {}`)}, {calling(`{}`)}},
		"call id":             {{{Calls: []chain.Call{{ID: "a"}}}}, {{Calls: []chain.Call{{ID: "b"}}}}},
		"call name":           {{{Calls: []chain.Call{{Name: "a"}}}}, {{Calls: []chain.Call{{Name: "b"}}}}},
		"id or name":          {{{Calls: []chain.Call{{ID: "a"}}}}, {{Calls: []chain.Call{{Name: "a"}}}}},
		"which call":          {{{CallID: "a"}}, {{CallID: "b"}}},
		"name":                {{{Name: "a"}}, {{Name: "b"}}},
		"call and answer":     {{{Calls: []chain.Call{{ID: "a"}}}}, {{CallID: "a"}}},
		"text moved to names": {{{Role: "user", Text: "ab"}}, {{Role: "usera", Text: "b"}}},
	} {
		if hash(pair[0]...) == hash(pair[1]...) {
			t.Errorf("%s: the same", name)
		}
	}
}

// What a client does to arguments when it reads them and writes them again does not matter.
func TestArgumentsReadAndWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := arguments(3).Draw(t, "value")
		plain, indented := marshal(t, value, ""), marshal(t, value, "  ")
		if hash(calling(plain)) != hash(calling(indented)) {
			t.Errorf("%s and %s differ", plain, indented)
		}
	})
}

// What is kept apart has other hashes than all else, and the same ones every day.
func TestApart(t *testing.T) {
	before := hash(text("user", "hello"))
	seen := map[chain.Hash]string{{}: "the beginning", before: "what was said"}
	for name, h := range map[string]chain.Hash{
		"a session":          chain.Apart(chain.Hash{}, "session", "a"),
		"another":            chain.Apart(chain.Hash{}, "session", "b"),
		"a user":             chain.Apart(chain.Hash{}, "user", "a"),
		"names put together": chain.Apart(chain.Hash{}, "sessiona"),
		"what goes on":       chain.Apart(before, "session", "a"),
		"a message":          chain.Next(chain.Hash{}, chain.Message{Role: "session", Text: "a"}),
		"nothing":            chain.Apart(chain.Hash{}),
	} {
		if other, twice := seen[h]; twice {
			t.Errorf("%s and %s are the same", name, other)
		}
		seen[h] = name
	}
	h := chain.Apart(chain.Hash{}, "session", "a")
	if got := hex.EncodeToString(h[:]); got != "dfe431a1588598ee57cc32a80ffcf0402dfe7a258d955be95c6c507413daa539" {
		t.Errorf("it is %s now", got)
	}
}
