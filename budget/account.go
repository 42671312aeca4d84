package budget

import (
	"fmt"
	"slices"
)

// Part is a part of a prompt that the account tells apart.
type Part string

// The parts, in the order of an account.
const (
	System      Part = "system prompt"
	Tools       Part = "tools"
	Sticky      Part = "sticky files"
	Goal        Part = "goal block"
	Checkpoints Part = "checkpoints"
	Said        Part = "user messages of compressed ranges"
	Pins        Part = "pins"
	Recent      Part = "recent turns"
	Late        Part = "late block"
	Reserve     Part = "reply reserve"
)

var (
	parts = []Part{System, Tools, Sticky, Goal, Checkpoints, Said, Pins, Recent, Late}
	// front is never cut and has one share together.
	front = []Part{System, Tools, Sticky, Goal}
	// conversation is what has not been compressed yet.
	conversation = []Part{Recent, Late}
)

// The shares of the usable window, in percent. What they leave is for the recent turns.
const (
	frontShare      = 15
	checkpointShare = 30
	saidShare       = 20
	leastRecent     = 20
	lateShare       = 3
)

// Line is one part of an account.
type Line struct {
	Part Part
	// Count is what the part adds to the prompt, with what the template adds to it.
	Count Count
	// Share is how many tokens the part may have, 0 where nothing bounds it. The system prompt, tools,
	// sticky files and goal block have one share together, and each of them shows all of it.
	Share int
}

// Account says where every token of a window goes.
type Account struct {
	Window Window
	// Lines are in a fixed order, one for each part, the reply reserve last. Their tokens add up to those
	// of the whole prompt.
	Lines     []Line
	Certainty Certainty // of the whole prompt
	Margin    float64
	// Warnings say which parts are over their share, and what to do.
	Warnings []string
}

// Needs is the smallest context, of those that models have, in which all of it would fit.
func (a Account) Needs() int {
	need := (a.Total() + 1) * a.Window.Context / a.Window.Usable
	return (need/contextStep + 1) * contextStep
}

// NewAccount returns the account of a prompt that has these parts. What stands under a name that is no part
// is shown after the others, so that no token goes missing; the reply reserve is the window's.
func NewAccount(w Window, c *Counter, tallies map[Part]Tally) Account {
	order := slices.Clone(parts)
	for part := range tallies {
		if !slices.Contains(parts, part) && part != Reserve {
			order = append(order, part)
		}
	}
	slices.Sort(order[len(parts):])

	a := Account{Window: w, Lines: make([]Line, 0, len(order)+1)}
	var sum Tally
	whole := c.Tokens(sum)
	for _, part := range order {
		tally := tallies[part]
		if tally == (Tally{}) {
			a.Lines = append(a.Lines, Line{Part: part, Count: Count{Certainty: Exact}})
			continue
		}
		count := c.Tokens(tally)
		before := whole.Tokens
		sum = sum.Plus(tally)
		whole = c.Tokens(sum)
		// The difference to what came before it, so that the lines add up.
		count.Tokens = whole.Tokens - before
		a.Lines = append(a.Lines, Line{Part: part, Count: count})
	}
	a.Certainty, a.Margin = whole.Certainty, whole.Margin
	a.Lines = append(a.Lines, Line{Part: Reserve, Count: Count{Tokens: w.Reserve, Certainty: Exact}, Share: w.Reserve})
	a.setShares()
	a.Warnings = a.warnings()
	return a
}

func (a *Account) setShares() {
	for i := range a.Lines {
		line := &a.Lines[i]
		switch line.Part {
		case System, Tools, Sticky, Goal:
			line.Share = share(a.Window.Usable, frontShare)
		case Checkpoints:
			line.Share = share(a.Window.Usable, checkpointShare)
		case Said:
			line.Share = share(a.Window.Usable, saidShare)
		case Late:
			line.Share = share(a.Window.Usable, lateShare)
		case Recent:
			line.Share = max(a.Free()+line.Count.Tokens, share(a.Window.Usable, leastRecent))
		}
	}
}

func (a *Account) warnings() []string {
	var all []string
	warn := func(who string, has, may int, then string) {
		if has > may {
			all = append(all, fmt.Sprintf("%s: %s of %s tokens, %s is their share; %s",
				who, grouped(has), grouped(a.Window.Usable), grouped(may), then))
		}
	}
	warn("system prompt, tools, sticky files and goal block", a.tokens(front...), share(a.Window.Usable, frontShare),
		"the recent turns have less for it: shorten the system prompt, unload sticky files or tools, or use a larger context")
	warn("checkpoints", a.tokens(Checkpoints), share(a.Window.Usable, checkpointShare), "merge the oldest")
	warn("user messages of compressed ranges", a.tokens(Said), share(a.Window.Usable, saidShare), "page out the oldest long ones")
	warn("late block", a.tokens(Late), share(a.Window.Usable, lateShare), "recall less")
	return all
}

// tokens is the sum of some lines.
func (a Account) tokens(of ...Part) int {
	sum := 0
	for _, line := range a.Lines {
		if slices.Contains(of, line.Part) {
			sum += line.Count.Tokens
		}
	}
	return sum
}

// Prompt is the count of the whole prompt, without the reserve.
func (a Account) Prompt() Count {
	sum := 0
	for _, line := range a.Lines {
		if line.Part != Reserve {
			sum += line.Count.Tokens
		}
	}
	return Count{Tokens: sum, Certainty: a.Certainty, Margin: a.Margin}
}

// Total is the upper bound of the whole prompt, and the reserve.
func (a Account) Total() int { return a.Prompt().Upper() + a.Window.Reserve }

// Free is what the prompt and the reserve leave of the usable window. It is negative for a prompt that does
// not fit.
func (a Account) Free() int { return a.Window.Usable - a.Total() }

// Available is what the conversation that has not been compressed yet may grow to: the usable window less
// everything that stands before it (the system prompt with tools, sticky files and goal block; the
// checkpoints with the user messages and pins of their ranges) and the reply reserve, upper bounds all. It is
// 0 where nothing is left.
func (a Account) Available() int {
	frozen := a.Prompt()
	frozen.Tokens -= a.tokens(conversation...)
	return max(a.Window.Usable-frozen.Upper()-a.Window.Reserve, 0)
}

// Largest is the part that takes the most tokens, besides the reserve.
func (a *Account) Largest() Part {
	largest := Line{}
	for _, line := range a.Lines {
		if line.Part != Reserve && line.Count.Tokens > largest.Count.Tokens {
			largest = line
		}
	}
	return largest.Part
}

// Check returns an *[OverBudgetError] for a prompt that does not fit its window, the upper bound of its count
// and the reserve together; why says what was being done.
func (a Account) Check(why string) error {
	if a.Free() >= 0 {
		return nil
	}
	return &OverBudgetError{Account: a, Why: why}
}
