package prompt

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/turn"
)

// Shares of the usable window and of the room for the conversation.
const (
	keepShare  = 0.50 // of the room: what an epoch begins with
	mostShare  = 0.75 // of the threshold: what an epoch begins with at most
	leastShare = 0.25 // of the room: what is left of that if it is to begin with the user's words
	saidShare  = 0.20 // of the window: what the user said of the turns that are not shown
)

// room is how many tokens the recent turns may have.
func (p *Projection) room(w budget.Window) int {
	taken := w.Reserve + int(lateShare*float64(w.Usable))
	for _, t := range p.tallies {
		taken += p.counter.Tokens(t).Upper()
	}
	return w.Usable - taken
}

// full reports whether the conversation reached its threshold.
func (p *Projection) full(w budget.Window, c budget.Compression) bool {
	return p.begin > p.epoch.From || float64(p.counter.Tokens(p.spent).Upper()) >= c.Threshold*float64(p.room(w))
}

// cut finds where the next epoch's recent turns begin, and what is kept of those before it beside the pins.
// It cuts between blocks, before a message of the user if one is near. Ok is false if nothing can go.
//
// It looks no further back than the room reaches, so that the answer is the same whether the turns before
// are in memory or not.
func (p *Projection) cut(w budget.Window, c budget.Compression) (from int64, said []Kept, ok bool) {
	room := max(p.room(w), 0)
	seen := p.suffix(room, true)
	// What stays must leave room to grow below the threshold, or the next turn is the next epoch's.
	most := int(mostShare * c.Threshold * float64(room))
	preserved := min(c.Preserved(w), most)
	first := p.suffix(max(min(int(keepShare*float64(room)), most), preserved), false)
	near := max(first, p.suffix(max(int(leastShare*float64(room)), preserved), false))
	if user := slices.IndexFunc(p.recent[first:near], func(b block) bool { return b.said }); user > 0 {
		first += user
	}
	// The last block stays whatever it takes: if it does not fit, the prompt does not.
	first = min(first, len(p.recent)-1)
	switch {
	case first < 0, first == 0 && p.begin == p.epoch.From:
		return 0, nil, false
	case first == 0:
		return p.begin, p.said(w, 0, 0), true
	}
	return p.recent[first-1].To + 1, p.said(w, seen, first), true
}

// suffix returns where the longest end of the recent turns begins that takes at most so many tokens; over
// with the block that goes over it.
func (p *Projection) suffix(tokens int, over bool) int {
	first := len(p.recent)
	var spent budget.Tally
	for first > 0 {
		spent = spent.Plus(p.recent[first-1].tally)
		if p.counter.Tokens(spent).Upper() > tokens {
			if over {
				first--
			}
			break
		}
		first--
	}
	return first
}

// said returns the newest messages of the user among those that are not recent any more, as many as their
// share holds, ascending. A long one does not keep older short ones out.
func (p *Projection) said(w budget.Window, seen, first int) []Kept {
	candidates := slices.Concat(p.kept, p.recent[seen:first])
	var kept []Kept
	var spent budget.Tally
	for _, b := range slices.Backward(candidates) {
		next := spent.Plus(b.tally)
		if !b.said || p.counter.Tokens(next).Upper() > int(saidShare*float64(w.Usable)) {
			continue
		}
		spent = next
		kept = append(kept, Kept{b.Range, Said})
	}
	slices.Reverse(kept)
	return kept
}

// keptSaid is what is kept that the user said, for whatever reason it was kept.
func (p *Projection) keptSaid() []Kept {
	var said []Kept
	for _, b := range p.kept {
		if b.said {
			said = append(said, Kept{b.Range, Said})
		}
	}
	return said
}

// withPins adds the pinned ranges before from to what is kept, in the order of the log.
func withPins(said []Kept, pins []turn.Range, from int64) []Kept {
	kept := slices.Clone(said)
	for _, pin := range pins {
		if pin.To >= from {
			continue
		}
		kept = slices.DeleteFunc(kept, func(k Kept) bool { return k.Range == pin })
		kept = append(kept, Kept{pin, Pinned})
	}
	slices.SortFunc(kept, func(a, b Kept) int { return cmp.Compare(a.To, b.To) })
	return kept
}

// gap says what is not shown; empty where everything is.
func (p *Projection) gap() string {
	if p.epoch.From <= p.epoch.begin() {
		return ""
	}
	text := noteBegin + fmt.Sprintf("Turns %d to %d of this conversation are not shown.", p.epoch.begin(), p.epoch.From-1)
	if len(p.epoch.Kept) > 0 {
		text += " Some of them follow word for word, then the conversation goes on."
	}
	return text
}
