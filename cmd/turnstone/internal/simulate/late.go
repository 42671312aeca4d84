package simulate

import (
	"strings"
)

// Items of the late block: how many turns lie between two of them, and how many are offered of how many
// characters. They are more than fit, so that the block is full.
const (
	lateStride  = 101
	lateOffered = 40
	lateLength  = 120
)

// recalled are turns that were said earlier, others at each call: what a search would find changes too. The
// last ones are left out, since every prompt shows them.
func (p *player) recalled() []string {
	const shown = 8
	n := len(p.turns) - shown
	var items []string
	for i := range min(lateOffered, n) {
		t := &p.turns[(len(p.report.Calls)*7+i*lateStride)%n]
		text := strings.Join(strings.Fields(t.Content.Searchable()), " ")
		if runes := []rune(text); len(runes) > lateLength {
			text = string(runes[:lateLength]) + "..."
		}
		if text != "" {
			items = append(items, "Recalled: "+text)
		}
	}
	return items
}
