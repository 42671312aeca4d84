package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// saidShare is how much of the usable window the user's words of the turns that left may take, with the
	// handles of those that do not fit, and handleShare how much of that is for handles.
	saidShare   = 0.20
	handleShare = 0.25
	// pageTo is how much of their share they take afterwards when some of them are paged out.
	pageTo = 0.70
	// longSaid is from how many tokens on a message is paged out before older short ones.
	longSaid = 64
	// firstWords is how many bytes of a message its handle quotes.
	firstWords = 48
)

// pager decides what of the user's words stays when turns leave the prompt.
type pager struct {
	counter *budget.Counter
	// said are the messages that may be shown, ascending, and handles those that are only named.
	said    []block
	handles []Handle
	lines   map[turn.Range]string // the lines of the handles
	last    turn.Range            // what stays whatever it takes

	shown, named budget.Tally // what messages and handles take
}

// fit pages out the oldest long messages until the rest fits its share, besides what must stay, then the oldest
// of any length. Handles are put together from the oldest on when they are too many.
func (g *pager) fit(room int) {
	g.shown, g.named = budget.Tally{}, budget.Tally{}
	for i := range g.said {
		if g.said[i].Range != g.last {
			g.shown = g.shown.Plus(g.said[i].tally)
		}
	}
	for _, h := range g.handles {
		g.named = g.named.Plus(g.cost(h))
	}
	g.join(int(handleShare * float64(room)))
	if g.tokens(g.shown)+g.tokens(g.named) > room {
		// Some more than must, so that the next pass need not page again.
		room = int(pageTo * float64(room))
	}
	for _, least := range []int{longSaid, 0} {
		g.said = slices.DeleteFunc(g.said, func(b block) bool {
			// What it takes and not what it may take at most: of one message that is mostly margin.
			size := g.counter.Tokens(b.tally).Tokens
			if b.Range == g.last || size < least || g.tokens(g.shown)+g.tokens(g.named) <= room {
				return false
			}
			g.shown = g.shown.Minus(b.tally)
			g.name(Handle{Range: b.Range, Messages: 1, Tokens: int64(size)}, b.firstWords())
			g.join(int(handleShare * float64(room)))
			return true
		})
	}
}

// name adds a handle in its place. A short message is not worth one of its own next to others like it, and one
// among those that have a handle together belongs to that.
func (g *pager) name(h Handle, first string) {
	i, _ := slices.BinarySearchFunc(g.handles, h, func(a, b Handle) int { return cmp.Compare(a.To, b.To) })
	g.handles = slices.Insert(g.handles, i, h)
	g.lines[h.Range] = h.line(first)
	g.named = g.named.Plus(g.cost(h))
	switch {
	case i+1 < len(g.handles) && g.handles[i+1].From <= h.To:
		g.merge(i)
	case i > 0 && h.short() && g.handles[i-1].short():
		g.merge(i - 1)
	}
}

// names reports whether a message is among those that have a handle.
func (g *pager) names(r turn.Range) bool {
	return slices.ContainsFunc(g.handles, func(h Handle) bool { return h.From <= r.From && r.To <= h.To })
}

// short reports whether the handle of the message need not be its own.
func (h Handle) short() bool { return h.Messages != 1 || h.Tokens < longSaid }

// before is the handle when the recent turns begin at seq from; ok is false where they show all of it.
func (h Handle) before(from int64) (left Handle, ok bool) {
	switch {
	case h.To < from:
		return h, true
	case h.From < from && h.Messages != 1:
		// Those from there on are shown, and nobody counts the others.
		return Handle{Range: turn.Range{From: h.From, To: from - 1}}, true
	}
	return Handle{}, false
}

// join puts the oldest handles together until all of them take at most so many tokens. One stays at least.
func (g *pager) join(room int) {
	for len(g.handles) > 1 && g.tokens(g.named) > room {
		g.merge(0)
	}
}

// merge makes one of a handle and the next.
func (g *pager) merge(i int) {
	a, b := g.handles[i], g.handles[i+1]
	h := Handle{Range: turn.Range{From: min(a.From, b.From), To: max(a.To, b.To)}, Messages: a.Messages + b.Messages, Tokens: a.Tokens + b.Tokens}
	if a.Messages == 0 || b.Messages == 0 {
		h.Messages, h.Tokens = 0, 0
	}
	g.named = g.named.Minus(g.cost(a)).Minus(g.cost(b))
	g.lines[h.Range] = h.line("")
	g.handles = slices.Delete(g.handles, i, i+1)
	g.handles[i] = h
	g.named = g.named.Plus(g.cost(h))
}

// cost is what a handle takes, as if it were a note of its own.
func (g *pager) cost(h Handle) budget.Tally {
	return g.counter.Text(g.lines[h.Range] + "\n").Plus(budget.Tally{Messages: 1})
}

func (g *pager) tokens(t budget.Tally) int {
	if t == (budget.Tally{}) {
		return 0
	}
	return g.counter.Tokens(t).Upper()
}

// kept are the messages that stay.
func (g *pager) kept() []Kept {
	var kept []Kept
	for i := range g.said {
		kept = append(kept, Kept{g.said[i].Range, Said})
	}
	return kept
}

// texts are the lines of the handles in their order.
func (g *pager) texts() []string {
	lines := make([]string, len(g.handles))
	for i, h := range g.handles {
		lines[i] = g.lines[h.Range]
	}
	return lines
}

// line is how a handle reads; first are the first words of a single message.
func (h Handle) line(first string) string {
	switch {
	case h.Messages == 0:
		return fmt.Sprintf("- turns %d to %d: not counted", h.From, h.To)
	case h.Messages > 1:
		return fmt.Sprintf("- turns %d to %d: %d messages, %d tokens", h.From, h.To, h.Messages, h.Tokens)
	case h.From != h.To:
		return fmt.Sprintf("- turns %d to %d, %d tokens: %q", h.From, h.To, h.Tokens, first)
	}
	return fmt.Sprintf("- turn %d, %d tokens: %q", h.From, h.Tokens, first)
}

// firstWords is how the message begins, in one line.
func (b *block) firstWords() string {
	for _, part := range b.messages[0].Parts {
		if text := beginning(part.Text); text != "" {
			return text
		}
	}
	return ""
}

// beginning is how a text begins, in one line.
func beginning(text string) string {
	if text = strings.Join(strings.Fields(clipped(text, 4*firstWords)), " "); len(text) <= firstWords {
		return text
	}
	text = clipped(text, firstWords)
	if space := strings.LastIndexByte(text, ' '); space > 0 {
		text = text[:space]
	}
	return text + " …"
}

// clipped cuts a text between runes.
func clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
