package prompt

import (
	"cmp"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// Shares of the room for the conversation.
const (
	mostShare  = 0.40 // of the threshold: what an epoch begins with at most
	leastShare = 0.25 // of the room: what is left of that if it is to begin with the user's words
)

// room is how many tokens the recent turns and the late block may have.
func (p *Projection) room(w budget.Window) int {
	taken := w.Reserve
	for _, t := range p.tallies {
		taken += p.counter.Tokens(t).Upper()
	}
	return w.Usable - taken
}

// fill is how much of its room the conversation takes.
func (p *Projection) fill(w budget.Window) float64 {
	return float64(p.counter.Tokens(p.spent).Upper()) / float64(max(p.room(w), 1))
}

// growth is how many tokens a pass adds at most to what stands before the recent turns.
func (p *Projection) growth(w budget.Window, c budget.Compression, summarised bool) int {
	// No further back than what is read in any case, so that the answer is the same whether the turns before
	// are in memory or not.
	var all, leaves budget.Tally
	for i := range slices.Backward(p.recent) {
		if all = all.Plus(p.recent[i].tally); p.counter.Tokens(all).Upper() > w.Usable-w.Reserve {
			break
		}
		if p.recent[i].said {
			leaves = leaves.Plus(p.recent[i].tally)
		}
	}
	spare := func(share int, part budget.Part) int { return max(share-p.counter.Tokens(p.tallies[part]).Upper(), 0) }
	said := min(p.counter.Tokens(leaves).Upper(), spare(int(saidShare*float64(w.Usable)), budget.Said))
	if !summarised {
		return said
	}
	return said + min(compress.Cap(compress.Detailed, w, c.SummaryMaxTokens), spare(compress.Share(w), budget.Checkpoints))
}

// cut finds where the next epoch's recent turns begin if the conversation may grow by so many tokens until
// then, and what stands before it by growth. It cuts between blocks, before a message of the user if one is
// near. Ok is false if nothing can go.
//
// It looks no further back than the room reaches, so that the answer is the same whether the turns before
// are in memory or not.
func (p *Projection) cut(w budget.Window, c budget.Compression, growth, more int) (from int64, ok bool) {
	room := max(p.room(w)-growth, 0)
	// What stays must leave room to grow below the threshold, or the next turn is the next epoch's.
	grows := int(c.Threshold * float64(room))
	preserved := max(c.Preserved(w, grows)-more, 0)
	first := p.suffix(max(int(mostShare*float64(grows))-more, preserved))
	near := max(first, p.suffix(max(int(leastShare*float64(room)), preserved)))
	if user := slices.IndexFunc(p.recent[first:near], func(b block) bool { return b.said }); user > 0 {
		first += user
	}
	// What is to be answered stays whatever it takes: if it does not fit, the prompt does not. A reply stays unless nothing that
	// stands for earlier turns could make room for it.
	most := p.room(w) + p.counter.Tokens(p.tallies[budget.Said]).Upper() + p.counter.Tokens(p.tallies[budget.Checkpoints]).Upper()
	if last := len(p.recent) - 1; last < 0 || !p.recent[last].replies() || p.counter.Tokens(p.recent[last].tally).Upper() <= most {
		first = min(first, last)
	}
	switch {
	case first < 0, first == 0 && p.begin == p.epoch.From:
		return 0, false
	case first == 0:
		return p.begin, true
	}
	return p.recent[first-1].To + 1, true
}

// replies reports whether it is neither the user's message nor a call with its results, which a reply is to follow.
func (b *block) replies() bool {
	return !b.said && len(b.messages) == 1 && len(b.messages[0].Calls) == 0
}

// suffix returns where the longest end of the recent turns begins that takes at most so many tokens.
func (p *Projection) suffix(tokens int) int {
	first := len(p.recent)
	var spent budget.Tally
	for first > 0 {
		spent = spent.Plus(p.recent[first-1].tally)
		if p.counter.Tokens(spent).Upper() > tokens {
			break
		}
		first--
	}
	return first
}

// keptSaid is what is kept that the user said, but for what an undo brought back.
func (p *Projection) keptSaid() []Kept {
	var said []Kept
	for i, b := range p.kept {
		if b.said && p.epoch.Kept[i].Why != Undone {
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
