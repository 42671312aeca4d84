package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// quoteShare is how much of the usable window quotes may take. It is part of what the checkpoints may take
	// together; what quotes do not need is the summaries'.
	quoteShare = 0.10
	// moreShare is how much of that the numbers of turns may take that have more to quote.
	moreShare = 0.15
)

// quotation is what an epoch quotes of the turns before its recent ones.
type quotation struct {
	quotes   []Quote
	texts    []string // in the order of quotes
	unquoted []turn.Range
}

// quoted is the quotation of the projection's epoch.
func (p *Projection) quoted() quotation {
	return quotation{p.epoch.Quotes, p.quotes, p.epoch.Unquoted}
}

// What a quotation begins and ends with.
const (
	quotesBegin = noteBegin + "Decided before, or to be kept word for word, each behind the number of its turn:"
	moreTurn    = "There is more of it in turn %d: look it up by its number."
	moreTurns   = "There is more of it in turns %s: look them up by their numbers."
)

// note is how a quotation reads in the prompt, empty where there is nothing to quote.
func (q *quotation) note() string {
	if len(q.quotes) == 0 && len(q.unquoted) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(quotesBegin)
	for i := range q.quotes {
		b.WriteString("\n" + q.quotes[i].line(q.texts[i]))
	}
	if len(q.unquoted) > 0 {
		b.WriteString("\n" + moreLine(q.unquoted))
	}
	return b.String()
}

// line is how a quote reads that has these words.
func (q Quote) line(text string) string {
	if q.Tokens > 0 {
		return fmt.Sprintf("- turn %d, %d tokens: %q", q.Turn, q.Tokens, beginning(text))
	}
	if text == "" {
		text = "(no longer there)"
	}
	return fmt.Sprintf("[%d] %s", q.Turn, text)
}

// moreLine names turns that have more to quote: "12-40, 55".
func moreLine(ranges []turn.Range) string {
	if len(ranges) == 1 && ranges[0].From == ranges[0].To {
		return fmt.Sprintf(moreTurn, ranges[0].From)
	}
	list := make([]string, len(ranges))
	for i, r := range ranges {
		list[i] = strconv.FormatInt(r.From, 10)
		if r.To > r.From {
			list[i] += "-" + strconv.FormatInt(r.To, 10)
		}
	}
	return fmt.Sprintf(moreTurns, strings.Join(list, ", "))
}

// held are the words that are quoted whole.
func (q *quotation) held() []string {
	var held []string
	for i := range q.quotes {
		if q.quotes[i].Tokens == 0 {
			held = append(held, q.texts[i])
		}
	}
	return held
}

// names reports whether a turn is named as one that has more to quote.
func (q *quotation) names(seq int64) bool {
	return slices.ContainsFunc(q.quotes, func(o Quote) bool { return o.Turn == seq && o.Tokens > 0 }) ||
		slices.ContainsFunc(q.unquoted, func(r turn.Range) bool { return r.From <= seq && seq <= r.To })
}

// before returns what is quoted of the turns before seq from.
func (q *quotation) before(from int64) quotation {
	n, _ := slices.BinarySearchFunc(q.quotes, from, func(o Quote, seq int64) int { return cmp.Compare(o.Turn, seq) })
	var left quotation
	if n > 0 {
		left.quotes, left.texts = q.quotes[:n:n], q.texts[:n:n]
	}
	for _, r := range q.unquoted {
		if r.From < from {
			left.unquoted = append(left.unquoted, turn.Range{From: r.From, To: min(r.To, from-1)})
		}
	}
	return left
}

// quotes reads the words that an epoch quotes. They are empty where the turn does not say them any more: a prompt
// that quoted them cannot be made again, others can go on without.
func (c *compiler) quotes(e *Epoch) ([]string, error) {
	texts := make([]string, len(e.Quotes))
	var at int64
	var wording string
	for i, q := range e.Quotes {
		if q.Turn != at {
			turns, err := c.scan(e.Path, q.Turn, q.Turn, false, 1)
			if err != nil {
				return nil, err
			}
			if at, wording = q.Turn, ""; len(turns) > 0 {
				wording = compress.Wording(&turns[0])
			}
		}
		if 0 <= q.From && q.From < q.To && q.To <= int64(len(wording)) {
			texts[i] = wording[q.From:q.To]
		}
	}
	return texts, nil
}

// quoting is what is quoted when turns leave, besides what is quoted already.
func (c *compiler) quoting(p *Projection, l *leaving) (quotation, error) {
	g, err := c.quoter(p)
	if err != nil {
		return quotation{}, err
	}
	if unseen := l.unseen(p); unseen.From <= unseen.To {
		g.more = withTurns(g.more, unseen)
	}
	g.add(l.turns, c.request.Session.Mode)
	room, err := c.quoteRoom(p, l.To+1, l.said...)
	if err != nil {
		return quotation{}, err
	}
	return g.fit(room), nil
}

// requoted is what the projection quotes. An epoch of a renderer that quoted nothing gets its quotes now, and one whose
// quotes were forgotten those of others who said the same.
func (c *compiler) requoted(p *Projection) (quotation, error) {
	if !p.quotesTooLittle() {
		return p.quoted(), nil
	}
	g, err := c.quoter(p)
	if err != nil {
		return quotation{}, err
	}
	room, err := c.quoteRoom(p, p.epoch.From)
	if err != nil {
		return quotation{}, err
	}
	return g.fit(room), nil
}

// quotesTooLittle reports whether turns left the epoch before there were quotes, or some of its quotes are gone. The same
// words are quoted once, so that nobody knows then who else said them.
func (p *Projection) quotesTooLittle() bool {
	return p.epoch.Renderer < quotingRenderer && p.epoch.From > p.epoch.begin() || p.quotesGone()
}

// quotesGone reports whether a turn does not say any more what is quoted of it.
func (p *Projection) quotesGone() bool { return slices.Contains(p.quotes, "") }

// quoter begins with what the projection quotes, or should.
func (c *compiler) quoter(p *Projection) (*quoter, error) {
	g := &quoter{counter: p.counter, more: p.epoch.Unquoted}
	for i, q := range p.epoch.Quotes {
		if p.quotes[i] != "" {
			g.append(q, p.quotes[i])
		}
	}
	turns, err := c.unquoted(p)
	if err != nil || len(turns) == 0 {
		return g, err
	}
	if first := p.epoch.begin(); p.epoch.From-first > maxPass {
		g.more = withTurns(g.more, turn.Range{From: first, To: p.epoch.From - maxPass - 1})
	}
	g.add(turns, c.request.Session.Mode)
	return g, nil
}

// unquoted are the turns before the recent ones of an epoch that quotes too little of them, none of another. Of very
// many those that left last are read.
func (c *compiler) unquoted(p *Projection) ([]turn.Turn, error) {
	if !p.quotesTooLittle() {
		return nil, nil
	}
	turns, err := c.scan(p.epoch.Path, max(p.epoch.begin(), p.epoch.From-maxPass), p.epoch.From-1, false, maxPass)
	if err != nil {
		return nil, err
	}
	return c.whole(p.epoch.Path, turns, p.epoch.From-1)
}

// quoteRoom is how many tokens quotes may have when the recent turns begin at seq from: their share, or a
// quarter of what the rest leaves of the window, the last thing that the user said with it.
func (c *compiler) quoteRoom(p *Projection, from int64, blocks ...block) (int, error) {
	last, err := c.withLast(p, from, nil)
	if err != nil {
		return 0, err
	}
	var rest budget.Tally
	for _, k := range last {
		b, err := c.reuse(p, k, blocks...)
		if err != nil {
			return 0, err
		}
		rest = rest.Plus(b.tally)
	}
	w := c.request.Window
	return max(min(int(quoteShare*float64(w.Usable)), p.left(w, from, nil, rest)/4), 0), nil
}
