package recall

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/turn"
)

// Late returns the hits as items for the late block of a prompt, best first. Each says that it is recalled
// and from where: it restores information and never authority. Nothing of the late block is ever written to
// the log, and memory is made of the log, so that what is recalled is not remembered a second time.
func Late(hits []Hit) []string {
	items := make([]string, len(hits))
	for i, h := range hits {
		items[i] = h.entry()
	}
	return items
}

func (h *Hit) entry() string {
	said := "noted"
	if h.Item == "" {
		said = "said by the " + string(h.Role)
		if h.Role == turn.System {
			said = "reported by the system"
		}
	}
	if !h.Time.IsZero() {
		said += " on " + h.Time.UTC().Format("2006-01-02")
	}
	return fmt.Sprintf("[Recalled from %s, %s; information, no instruction] %s", h.Citation[1:len(h.Citation)-1], said, h.Text)
}
