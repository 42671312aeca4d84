package simulate

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

func words(text string) int { return len(strings.Fields(text)) }

func prompted(texts ...string) []piece {
	pieces := make([]piece, len(texts))
	for i, text := range texts {
		pieces[i] = piece{text, words(text)}
	}
	return pieces
}

func TestMeter(t *testing.T) {
	for _, test := range []struct {
		name    string
		prompts [][]piece
		want    Usage
	}{
		{"none", nil, Usage{}},
		{"one", [][]piece{prompted("a b", "c")}, Usage{Calls: 1, Tokens: 3, Largest: 3}},
		{"grows", [][]piece{prompted("a b"), prompted("a b", "c")}, Usage{Calls: 2, Tokens: 5, Reused: 2, Largest: 3}},
		{"the same", [][]piece{prompted("a b"), prompted("a b")}, Usage{Calls: 2, Tokens: 4, Reused: 2, Largest: 2}},
		{"another end", [][]piece{prompted("a", "b c"), prompted("a", "b d e")}, Usage{Calls: 2, Tokens: 7, Reused: 2, Largest: 4, Breaks: 1}},
		{"another begin", [][]piece{prompted("a b", "c"), prompted("x", "c")}, Usage{Calls: 2, Tokens: 5, Largest: 3, Breaks: 1}},
		{"shorter", [][]piece{prompted("a b", "c"), prompted("a b")}, Usage{Calls: 2, Tokens: 5, Reused: 2, Largest: 3, Breaks: 1}},
		{"against the one before", [][]piece{prompted("a"), prompted("x"), prompted("a")}, Usage{Calls: 3, Tokens: 3, Largest: 1, Breaks: 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := meter{count: words}
			for _, p := range test.prompts {
				m.add(p)
			}
			if m.used != test.want {
				t.Errorf("got %+v, want %+v", m.used, test.want)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	u := Usage{Calls: 4, Tokens: 100, Reused: 80}
	if u.Reuse() != 0.8 || u.Billed() != 28 || u.Mean() != 25 {
		t.Errorf("reuse %g, billed %g, mean %g", u.Reuse(), u.Billed(), u.Mean())
	}
	if none := (Usage{}); none.Reuse() != 0 || none.Mean() != 0 {
		t.Errorf("of no calls: reuse %g, mean %g", none.Reuse(), none.Mean())
	}
}

// A character that two texts share the first byte of is not a part of what they share.
func TestCommonBegin(t *testing.T) {
	for _, test := range [][3]string{{"grün", "grün!", "grün"}, {"grün", "gr\u00e4n", "gr"}, {"a", "b", ""}, {"", "b", ""}, {"ab", "ab", "ab"}} {
		if got := commonBegin(test[0], test[1]); got != test[2] {
			t.Errorf("%q and %q begin with %q, want %q", test[0], test[1], got, test[2])
		}
	}
}

func TestCountedOnce(t *testing.T) {
	times := 0
	c := &counted{count: func(text string) int { times++; return words(text) }, known: map[string]int{}}
	if a, b := c.tokens("x y"), c.piece("x y"); a != 2 || b != (piece{"x y", 2}) || times != 1 {
		t.Errorf("%d, %v, counted %d times", a, b, times)
	}
}

func TestWritten(t *testing.T) {
	messages := []prompt.Message{
		{Role: prompt.User, Parts: []prompt.Part{{Text: "look"}, {Image: &prompt.Image{Alt: "a cat"}}}},
		{Role: prompt.Agent, Calls: []prompt.ToolCall{{ID: "c1", Name: "find", Arguments: `{"q":1}`}}},
		{Role: prompt.Tool, Name: "find", CallID: "c1", Parts: []prompt.Part{{Text: "none"}}},
	}
	const want = "[user]\nlook\n(image: a cat)\n\n[assistant]\nCALL c1 find {\"q\":1}\n\n[tool find c1]\nnone\n\n"
	if got := written(messages); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHandles(t *testing.T) {
	for _, test := range []struct {
		note string
		any  []int64 // turns that are named, whoever said them
		said []int64 // those that are if the user did
	}{
		{"All is well.\nMore: turns 3, 17-19\n", []int64{3, 17, 18, 19}, nil},
		{"More: turns 354", []int64{354}, nil},
		{"- turns 1 to 3: 2 messages, 150 tokens\n- turn 6, 66 tokens: \"the plan\"", nil, []int64{1, 2, 3, 6}},
		{"Turns 1 to 40 of this conversation are not shown.", nil, nil},
		{"More: turns 5-3, 9", []int64{9}, nil},
		{"More: turns 1-99999999999, 2", []int64{2}, nil},
		{"More: turns 99999999999999999999", nil, nil},
		{"agent: Take turns 5, and more: turn 7.", nil, nil},
	} {
		h := handlesIn([]prompt.Message{
			{Role: prompt.Note, Parts: []prompt.Part{{Text: test.note}}},
			{Role: prompt.User, Parts: []prompt.Part{{Text: "More: turns 77\n- turn 78, 2 tokens"}}},
		})
		for seq := int64(1); seq < 500; seq++ {
			named := slices.Contains(test.any, seq)
			if got := h.name(&turn.Turn{Seq: seq, Role: turn.Agent}); got != named {
				t.Errorf("%q: turn %d of the agent is named: %v", test.note, seq, got)
			}
			if got := h.name(&turn.Turn{Seq: seq, Role: turn.User}); got != (named || slices.Contains(test.said, seq)) {
				t.Errorf("%q: turn %d of the user is named: %v", test.note, seq, got)
			}
		}
	}
}
