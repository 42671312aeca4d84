package prompt

import (
	"cmp"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// quoter decides what is quoted of the turns that left the prompt: everything that may not be rewritten, then the
// oldest long quotes only by their first words, then the oldest of all only by the numbers of their turns.
type quoter struct {
	counter *budget.Counter
	turns   []quotedTurn // ascending
	more    []turn.Range // the turns that are only named, ascending and apart
}

// quotedTurn is what is quoted of one turn.
type quotedTurn struct {
	seq    int64
	quotes []Quote
	texts  []string
	tally  budget.Tally // of its lines
}

// folded reports whether it is only named by its number.
func (t *quotedTurn) folded() bool { return len(t.quotes) == 0 }

// named reports whether only its first words are shown.
func (t *quotedTurn) named() bool { return t.quotes[0].Tokens > 0 }

// append adds a quote to its turn, which is the last one or comes after it.
func (g *quoter) append(q Quote, text string) {
	if n := len(g.turns); n == 0 || g.turns[n-1].seq != q.Turn {
		g.turns = append(g.turns, quotedTurn{seq: q.Turn})
	}
	t := &g.turns[len(g.turns)-1]
	t.quotes, t.texts = append(t.quotes, q), append(t.texts, text)
	g.count(t)
}

// count adds up what the lines of a turn take.
func (g *quoter) count(t *quotedTurn) {
	t.tally = budget.Tally{}
	for i, q := range t.quotes {
		t.tally = t.tally.Plus(g.counter.Text(q.line(t.texts[i]) + "\n"))
	}
}

// insert adds bytes of the turn's wording in their place, together with the quotes that they overlap.
func (t *quotedTurn) insert(q Quote, wording string) {
	first := 0
	for first < len(t.quotes) && t.quotes[first].To <= q.From {
		first++
	}
	end := first
	for ; end < len(t.quotes) && t.quotes[end].From < q.To; end++ {
		q.From, q.To = min(q.From, t.quotes[end].From), max(q.To, t.quotes[end].To)
	}
	t.quotes = slices.Replace(t.quotes, first, end, q)
	t.texts = slices.Replace(t.texts, first, end, wording[q.From:q.To])
}

// add quotes what turns say that may not be rewritten, unless they are named already or others said the same. Of a
// turn that is quoted there may be more than was found before: the session has another mode, or there are other rules.
func (g *quoter) add(turns []turn.Turn, mode string) {
	held, known := map[string]bool{}, map[int64]int{}
	for i := range g.turns {
		t := &g.turns[i]
		known[t.seq] = i
		for _, text := range t.texts {
			held[text] = held[text] || !t.named()
		}
	}
	wording := map[int64]string{}
	for i := range turns {
		wording[turns[i].Seq] = compress.Wording(&turns[i])
	}
	source := compress.Source{Turns: turns}
	for _, q := range source.Quotes(mode) {
		text := wording[q.Seq][q.From:q.To]
		if held[text] || slices.ContainsFunc(g.more, func(r turn.Range) bool { return r.From <= q.Seq && q.Seq <= r.To }) {
			continue
		}
		quote := Quote{Turn: q.Seq, From: int64(q.From), To: int64(q.To)}
		i, ok := known[q.Seq]
		switch {
		case !ok:
			g.append(quote, text)
		case !g.turns[i].named():
			g.turns[i].insert(quote, wording[q.Seq])
			g.count(&g.turns[i])
		}
	}
	slices.SortFunc(g.turns, func(a, b quotedTurn) int { return cmp.Compare(a.seq, b.seq) })
}

// fit makes a quotation of at most so many tokens, or of the numbers of turns alone.
func (g *quoter) fit(room int) quotation {
	f := fitting{quoter: g, numbers: int(moreShare * float64(room))}
	for i := range g.turns {
		f.sum = f.sum.Plus(g.turns[i].tally)
		if g.turns[i].named() {
			f.named = f.named.Plus(g.turns[i].tally)
		}
	}
	for i := 0; i < len(g.turns) && f.tokens() > room; i++ {
		f.name(i, int(handleShare*float64(room)))
	}
	for i := 0; i < len(g.turns) && f.tokens() > room; i++ {
		f.fold(i)
	}
	g.join(f.numbers)
	q := quotation{unquoted: g.more}
	for i := range g.turns {
		q.quotes, q.texts = append(q.quotes, g.turns[i].quotes...), append(q.texts, g.turns[i].texts...)
	}
	return q
}

// fitting makes a quotation smaller.
type fitting struct {
	*quoter
	sum, named budget.Tally // what all lines take, and those that show only first words
	numbers    int          // how many tokens the numbers of turns may take
	oldest     int          // none before it shows only first words, or will
}

// tokens is what the quotation takes at most.
func (f *fitting) tokens() int {
	all := f.sum.Plus(f.counter.Text(quotesBegin + "\n")).Plus(budget.Tally{Messages: 1})
	if len(f.more) > 0 {
		all = all.Plus(f.counter.Text(moreLine(f.more) + "\n"))
	}
	return f.counter.Tokens(all).Upper()
}

// name shows only the first words of what is quoted of a turn, if that is long. The oldest that are named so go
// when they take more than room.
func (f *fitting) name(i, room int) {
	t := &f.turns[i]
	// What it takes and not what it may take at most: of one text that is mostly margin.
	size := f.counter.Tokens(t.tally).Tokens
	if t.folded() || t.named() || size < longSaid {
		return
	}
	f.sum = f.sum.Minus(t.tally)
	t.quotes, t.texts = t.quotes[:1:1], t.texts[:1:1]
	t.quotes[0].Tokens = int64(size)
	t.tally = f.counter.Text(t.quotes[0].line(t.texts[0]) + "\n")
	f.sum, f.named = f.sum.Plus(t.tally), f.named.Plus(t.tally)
	for ; f.oldest <= i && f.counter.Tokens(f.named).Upper() > room; f.oldest++ {
		if t := &f.turns[f.oldest]; !t.folded() && t.named() {
			f.fold(f.oldest)
		}
	}
}

// fold leaves only the number of a turn.
func (f *fitting) fold(i int) {
	t := &f.turns[i]
	if t.folded() {
		return
	}
	f.sum = f.sum.Minus(t.tally)
	if t.named() {
		f.named = f.named.Minus(t.tally)
	}
	t.quotes, t.texts = nil, nil
	f.more = withTurns(f.more, turn.Range{From: t.seq, To: t.seq})
	f.join(f.numbers)
}

// join puts ranges of turns together, the nearest first, until naming them takes at most so many tokens. One
// stays at least.
func (g *quoter) join(room int) {
	for len(g.more) > 1 && g.counter.Tokens(g.counter.Text(moreLine(g.more))).Upper() > room {
		nearest := 0
		for i := range g.more[1:] {
			if g.more[i+1].From-g.more[i].To < g.more[nearest+1].From-g.more[nearest].To {
				nearest = i
			}
		}
		joined := turn.Range{From: g.more[nearest].From, To: g.more[nearest+1].To}
		g.more = slices.Replace(slices.Clone(g.more), nearest, nearest+2, joined)
	}
}

// withTurns adds turns to ranges that are ascending and apart, and stay so.
func withTurns(ranges []turn.Range, r turn.Range) []turn.Range {
	all := slices.Clone(ranges)
	i, _ := slices.BinarySearchFunc(all, r.From, func(o turn.Range, seq int64) int { return cmp.Compare(o.From, seq) })
	all = slices.Insert(all, i, r)
	apart := all[:1]
	for _, next := range all[1:] {
		if last := &apart[len(apart)-1]; next.From <= last.To+1 {
			last.To = max(last.To, next.To)
			continue
		}
		apart = append(apart, next)
	}
	return apart
}
