package llm

import "crypto/rand"

// CallPiece is a piece of a tool call, as servers stream them that speak as OpenAI's do. What it does not have is empty.
type CallPiece struct {
	Index               *int
	ID, Name, Arguments string
}

// Assembly puts tool calls together that come in pieces. Pieces belong to the call of their index. Some servers give every
// call the index 0, or none: there an id that is new begins a new call. The zero value is ready; it is for one goroutine.
type Assembly struct {
	calls []Call
	at    map[int]int // the call that has an index now
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
	if !known || p.ID != "" && a.calls[at].ID != "" && a.calls[at].ID != p.ID {
		at = len(a.calls)
		a.calls = append(a.calls, Call{})
		a.at[index] = at
	}
	c := &a.calls[at]
	if c.ID == "" {
		c.ID = p.ID
	}
	if c.Name == "" {
		c.Name = p.Name
	}
	c.Arguments += p.Arguments
}

// Calls returns the calls as far as they have come, each with an id of its own. It is asked when no more pieces come.
func (a *Assembly) Calls() []Call {
	ids := make(map[string]bool, len(a.calls))
	for i := range a.calls {
		if id := a.calls[i].ID; id == "" || ids[id] {
			a.calls[i].ID = "call_" + rand.Text()
		}
		ids[a.calls[i].ID] = true
	}
	return a.calls
}
