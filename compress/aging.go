package compress

import (
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/turn"
)

// When a checkpoint comes down, in compressions since it was made.
const (
	moderateAge = 3
	compactAge  = 6
	mergeAge    = 10
)

// Share is how many tokens of a window the checkpoints may take together, with what is quoted beside them.
func Share(w budget.Window) int { return w.Usable * 30 / 100 }

// Frame is how many tokens the note around a checkpoint's summary takes in the prompt, more or less. They
// count to what the checkpoints take together.
const Frame = 32

// Aging says what becomes of the checkpoints when a pass is made. They are given oldest first. At three
// compressions of age a detailed one becomes moderate, at six that becomes compact, and at ten it is
// merged with what was merged before; sooner if there would be more checkpoints than the window's tier
// has, or if they would take more than 30 % of the usable window with the [Frame] of each and what is quoted beside them. The first tier
// has one summary of everything. Where the prompt misses tokens they give those back, too. Every step makes what it replaces strictly smaller, no checkpoint is in
// two of them, and they are in the order of the log.
func Aging(checkpoints []Checkpoint, p Pass, w budget.Window, summaryMax int) []Step {
	a := aging{number: p.Number, window: w, summaryMax: summaryMax}
	for _, c := range checkpoints {
		a.groups = append(a.groups, group{of: []Checkpoint{c}, level: a.due(&c)})
	}
	added := min(p.Tokens, 1)
	if w.Tier() == 1 && added > 0 && len(checkpoints) > 0 {
		return []Step{a.rollover(checkpoints, p)}
	}
	a.mergeOld()
	for len(a.groups) > 1 && len(a.groups)+added > mostCheckpoints(w.Tier()) {
		a.mergeFirst()
	}
	share := Share(w) - p.Quoted - p.Tokens - added*Frame
	if p.Missing > 0 {
		all := group{of: checkpoints}
		share = min(share, all.current()+len(checkpoints)*Frame-p.Missing)
	}
	for len(a.groups) > 1 && a.tokens() > share {
		a.mergeFirst()
	}
	return a.steps(share - Frame)
}

// rollover makes one summary of everything.
func (a *aging) rollover(checkpoints []Checkpoint, p Pass) Step {
	all := group{of: checkpoints}
	return Step{
		Of: checkpoints, New: true, Level: Detailed,
		Budget: min(Cap(Detailed, a.window, a.summaryMax), all.current()+p.Tokens-1),
		Range:  turn.Range{From: checkpoints[0].Range.From, To: p.Range.To},
	}
}

// mostCheckpoints is how many stand side by side. The first tier has one summary of everything; the
// second has a detailed one beside what was merged.
func mostCheckpoints(t budget.Tier) int {
	if t == 2 {
		return 2
	}
	return t.MaxCheckpoints()
}

// group is checkpoints that become one, and the level they come to.
type group struct {
	of    []Checkpoint
	level Level
}

func (g *group) current() int {
	total := 0
	for i := range g.of {
		total += int(g.of[i].CurrentTokens)
	}
	return total
}

// changed reports whether there is anything to do.
func (g *group) changed() bool { return len(g.of) > 1 || g.level < g.of[0].Level }

type aging struct {
	number     int64
	window     budget.Window
	summaryMax int
	groups     []group
}

// due is the level that a checkpoint comes to by its age.
func (a *aging) due(c *Checkpoint) Level {
	level := Detailed
	switch age := c.Age(a.number); {
	case age >= mergeAge:
		level = Ultra
	case age >= compactAge:
		level = Compact
	case age >= moderateAge:
		level = Moderate
	}
	return min(level, c.Level)
}

// mergeOld merges the oldest checkpoints as far as all of them came to ultra.
func (a *aging) mergeOld() {
	for len(a.groups) > 1 && a.groups[0].level == Ultra && a.groups[1].level == Ultra {
		a.mergeFirst()
	}
}

func (a *aging) mergeFirst() {
	merged := group{of: slices.Concat(a.groups[0].of, a.groups[1].of), level: Ultra}
	a.groups = append([]group{merged}, a.groups[2:]...)
}

// budget is what a group may take afterwards: what its level has, no more than its part of what it took,
// though no less than half of what the level has, and always less than it took.
func (a *aging) budget(g *group) int {
	current := g.current()
	if !g.changed() {
		return current
	}
	limit := Cap(g.level, a.window, a.summaryMax)
	part := max(current*levels[g.level].percent/100, limit/2)
	return min(limit, part, current-1)
}

// tokens is what all of them take afterwards, with the notes they stand in.
func (a *aging) tokens() int {
	total := len(a.groups) * Frame
	for i := range a.groups {
		total += a.budget(&a.groups[i])
	}
	return total
}

// steps are what changes. A single checkpoint that takes more than its share has to shrink too.
func (a *aging) steps(share int) []Step {
	var steps []Step
	for i := range a.groups {
		g := &a.groups[i]
		limit := a.budget(g)
		if len(a.groups) == 1 && limit > max(share, 1) {
			limit, g.level = min(max(share, 1), Cap(Ultra, a.window, a.summaryMax)), Ultra
		} else if !g.changed() || limit < 1 {
			continue
		}
		steps = append(steps, Step{
			Of: g.of, Level: g.level, Budget: limit,
			Range: turn.Range{From: g.of[0].Range.From, To: g.of[len(g.of)-1].Range.To},
		})
	}
	return steps
}
