package compress

import "github.com/turnstone-dev/turnstone/budget"

// Level says how much of its range a checkpoint tells, from 3 for the newest down to 0.
type Level int

// The levels. A checkpoint begins as detailed, and what several were merged into is ultra.
const (
	Ultra Level = iota
	Compact
	Moderate
	Detailed
)

// levels is what each level may take: tokens at a context of 8,192, and how much of its size a
// checkpoint keeps when it comes down to the level.
var levels = [...]struct {
	name    string
	tokens  int
	percent int
}{
	Ultra:    {"ultra", 400, 40},
	Compact:  {"compact", 800, 50},
	Moderate: {"moderate", 1200, 60},
	Detailed: {"detailed", 2000, 100},
}

const referenceContext = 8192

func (l Level) String() string {
	if !l.valid() {
		return "no level"
	}
	return levels[l].name
}

func (l Level) valid() bool { return l >= Ultra && l <= Detailed }

// Cap is how many tokens a summary of a level may have: its share of the window, at most what the
// window's tier allows, and at most summaryMax where that is more than 0. What is no level has the cap
// of the nearest.
func Cap(l Level, w budget.Window, summaryMax int) int {
	l = min(max(l, Ultra), Detailed)
	limit := min(levels[l].tokens*w.Context/referenceContext, w.Tier().SummaryCap())
	if summaryMax > 0 {
		limit = min(limit, summaryMax)
	}
	return limit
}
