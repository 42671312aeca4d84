package llm

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
)

// CallPiece is a piece of a tool call, as servers stream them that speak as OpenAI's do. What it does not have is empty.
type CallPiece struct {
	Index               *int
	ID, Name, Arguments string
}

// Assembly puts tool calls together that come in pieces. Pieces belong to the call of their index. Some servers give every
// call the index 0, or none: there an id that is new begins a new call. Some give no ids either: there a name does, if it
// is another, or if nothing can follow the arguments before it. The zero value is ready; it is for one goroutine.
type Assembly struct {
	calls []assembled
	at    map[int]int // the call that has an index now
}

type assembled struct {
	id, name  string
	arguments []byte
}

// Add adds a piece to its call.
func (a *Assembly) Add(p CallPiece) {
	if a.at == nil {
		a.at = map[int]int{}
	}
	index := 0
	if p.Index != nil {
		index = *p.Index
	}
	at, known := a.at[index]
	if !known || a.calls[at].before(p) {
		at = len(a.calls)
		a.calls = append(a.calls, assembled{})
		a.at[index] = at
	}
	c := &a.calls[at]
	if c.id == "" {
		c.id = p.ID
	}
	if c.name == "" {
		c.name = p.Name
	}
	c.arguments = append(c.arguments, p.Arguments...)
}

// before reports whether the piece begins another call.
func (c *assembled) before(p CallPiece) bool {
	if p.ID != "" {
		return c.id != "" && c.id != p.ID
	}
	if p.Name == "" || c.name == "" {
		return false
	}
	// Only what ends as an object is looked through: the name may come with every piece.
	return p.Name != c.name || bytes.HasSuffix(c.arguments, []byte("}")) && json.Valid(c.arguments)
}

// Calls returns the calls as far as they have come, each with an id of its own. It is asked when no more pieces come.
func (a *Assembly) Calls() []Call {
	var calls []Call
	ids := make(map[string]bool, len(a.calls))
	for i := range a.calls {
		c := &a.calls[i]
		if c.id == "" || ids[c.id] {
			c.id = "call_" + rand.Text()
		}
		ids[c.id] = true
		calls = append(calls, Call{ID: c.id, Name: c.name, Arguments: string(c.arguments)})
	}
	return calls
}
