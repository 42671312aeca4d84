package server

import (
	"slices"

	"github.com/turnstone-dev/turnstone/turn"
)

// activePath are the turns that a session's prompts may show. None of them stands for all.
type activePath []turn.Range

// wholeLog is the path on which all turns are.
var wholeLog = activePath{{From: 1}}

// whole reports whether no turn is off the path.
func (p activePath) whole() bool {
	return len(p) == 0 || len(p) == 1 && p[0].From <= 1 && p[0].To == 0
}

// off reports whether a restore left the turn behind.
func (p activePath) off(seq int64) bool {
	return !p.whole() && !slices.ContainsFunc(p, func(r turn.Range) bool { return seq >= r.From && (r.To == 0 || seq <= r.To) })
}
