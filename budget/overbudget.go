package budget

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ErrOverBudget says that a prompt does not fit its window and was not sent. The error that carries it is an
// *[OverBudgetError].
var ErrOverBudget = errors.New("over budget")

// OverBudgetError is [ErrOverBudget] with the account of the prompt.
type OverBudgetError struct {
	Account Account
	// Why says what was being done, or what could not be left out. It may be empty.
	Why string
	// Remedy is what else to do than to use a larger context. Defaults to what makes the largest part
	// smaller.
	Remedy string
}

// remedies say what makes a part smaller.
var remedies = map[Part]string{
	System:      "shorten the system prompt",
	Tools:       "offer fewer tools or shorten their descriptions",
	Sticky:      "unload sticky files",
	Goal:        "close milestones and decisions of the goal that are done",
	Checkpoints: "merge checkpoints",
	Said:        "send the last message in smaller pieces",
	Pins:        "unpin turns",
	Recent:      "send the last message in smaller pieces",
	Late:        "recall less",
}

// Error says by how much, where the tokens went, one line for each part that has any, and what to do.
func (e *OverBudgetError) Error() string {
	a := e.Account
	var text strings.Builder
	fmt.Fprintf(&text, "over budget by %s tokens", grouped(-a.Free()))
	if e.Why != "" {
		text.WriteString(": " + e.Why)
	}
	fmt.Fprintf(&text, "\n  usable window: %s of a context of %s", grouped(a.Window.Usable), grouped(a.Window.Context))
	for _, line := range a.Lines {
		if line.Count.Tokens == 0 {
			continue
		}
		fmt.Fprintf(&text, "\n  %s: %s", line.Part, grouped(line.Count.Tokens))
		if line.Share > 0 && line.Part != Reserve {
			fmt.Fprintf(&text, " (share %s)", grouped(line.Share))
		}
	}
	if over := a.Prompt().Upper() - a.Prompt().Tokens; over > 0 {
		fmt.Fprintf(&text, "\n  margin, as the count is %s: %s (%s %%)", a.Certainty, grouped(over), percent(a.Margin))
	}
	text.WriteString("\n  what to do: ")
	if remedy := cmp.Or(e.Remedy, remedies[a.Largest()]); remedy != "" {
		text.WriteString(remedy + ", or ")
	}
	text.WriteString("use a model or a setting with a larger context")
	return text.String()
}

// Is makes errors.Is find [ErrOverBudget].
func (e *OverBudgetError) Is(target error) bool { return target == ErrOverBudget }

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1000)/10, 'f', -1, 64)
}

// grouped writes a number with a comma before every three digits.
func grouped(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
