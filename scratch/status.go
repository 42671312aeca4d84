package scratch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Status is how far an observation has come.
type Status string

// The states of an observation, in their order. Archived never comes back.
const (
	Active        Status = "active"
	PendingReview Status = "pending_review"
	Resolved      Status = "resolved"
	Archived      Status = "archived"
)

// course is the way of an observation: forwards, not necessarily stopping everywhere.
var course = []Status{Active, PendingReview, Resolved, Archived}

// Next returns the statuses that may follow. It is empty for one that is archived.
func (s Status) Next() []Status {
	i := slices.Index(course, s)
	if i < 0 {
		return nil
	}
	return slices.Clone(course[i+1:])
}

func (s Status) live() bool { return s != Archived }

func (s Status) known() bool { return slices.Contains(course, s) }

// move refuses a step that does not lead forwards.
func move(from, to Status) error {
	next := from.Next()
	if slices.Contains(next, to) || !to.known() {
		// What is no status at all is refused by the observation's own check.
		return nil
	}
	words := make([]string, len(next))
	for i, status := range next {
		words[i] = string(status)
	}
	return invalid.New("status", fmt.Sprintf("an observation that is %s cannot become %s", from, to), "legal: "+strings.Join(words, " or "))
}
