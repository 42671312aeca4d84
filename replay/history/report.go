package history

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Report says what was moved and what could not be carried.
type Report struct {
	// Turns is how many turns were written, or handed out.
	Turns int
	// Losses has one entry per kind of loss, in the order in which they were first met.
	Losses []Loss
}

// Loss is one kind of thing that could not be carried as it was.
type Loss struct {
	Kind  string // what could not be carried: "calls without a result"
	Count int    // how often
	First string // where it was met first: "line 7", "message 12", "turn 3"; empty for the conversation as a whole
	Done  string // what was done instead: "closed as cancelled"
}

// String is the loss on one line, for people.
func (l Loss) String() string {
	text := fmt.Sprintf("%s: %d", l.Kind, l.Count)
	if l.First != "" {
		text += ", first at " + l.First
	}
	return text + "; " + l.Done
}

// lose counts a loss.
func (r *Report) lose(kind string, first fmt.Stringer, done string) {
	for i := range r.Losses {
		if r.Losses[i].Kind == kind {
			r.Losses[i].Count++
			return
		}
	}
	l := Loss{Kind: kind, Count: 1, Done: done}
	if first != nil {
		l.First = first.String()
	}
	r.Losses = append(r.Losses, l)
}

// place is where something stands in an input or a log.
type place struct {
	unit   string // "line", "message", "turn"
	number int64
	line   int64 // of a message in a document
}

func (p place) String() string {
	text := fmt.Sprintf("%s %d", p.unit, p.number)
	if p.line > 0 {
		text += fmt.Sprintf(" (line %d)", p.line)
	}
	return text
}

// otherOfDocument reports a member beside the messages that has no place, if it says anything.
func (r *Report) otherOfDocument(at place, name string, v strictjson.Raw) {
	switch v {
	case "null", `""`, "[]", "{}":
	default:
		r.lose("members beside the messages", at, fmt.Sprintf("left out, the first was %.60q", name))
	}
}
