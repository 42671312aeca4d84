package extract

import (
	"slices"
	"sort"
	"strings"

	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/internal/words"
)

// Summarise returns what matters most of the lines within the budget, in their order. The text is
// valid UTF-8, its words are words of the lines, and it never exceeds the budget: where not even
// one unit fits it is empty. It takes time linear in the length of the lines, but for the ordering
// of units. Safe for concurrent use if Count is.
func Summarise(lines []Line, o Options) Summary {
	if o.Budget <= 0 || len(lines) == 0 {
		return Summary{}
	}
	return Prepare(lines, o.Focus, o.Count).Fit(o.Budget)
}

// Prepared is a conversation that was read and weighed, of which summaries of any length can be
// made. Safe for concurrent use if its count is.
type Prepared struct {
	text            *text
	count           func(string) int
	labels, headers []int32
}

// Prepare reads lines for several summaries of them, which takes most of the time of one. Focus and
// count are as in [Options]. The lines may be changed afterwards.
func Prepare(lines []Line, focus string, count func(text string) int) *Prepared {
	if count == nil {
		count = bpe.O200k().Count
	}
	p := &Prepared{text: read(lines, focus, count), count: count}
	p.labels, p.headers = p.text.overhead(count)
	return p
}

// Fit returns the summary that [Summarise] returns for the budget.
func (p *Prepared) Fit(budget int) Summary {
	if budget <= 0 || len(p.text.lines) == 0 {
		return Summary{}
	}
	// Labels and headers are charged per line and not per run, so an order for more than the
	// budget is needed to fill it.
	c := p.text.choose(budget+budget/2, p.labels, p.headers)
	f := fit{text: p.text, choice: c, budget: budget, count: p.count}
	f.fill()
	if c.all && len(f.kept) == len(c.order) {
		f.expand()
	}
	return Summary{Text: f.best, Tokens: f.tokens, Seqs: p.text.seqs(f.kept)}
}

// read cuts the lines into units and weighs them.
func read(lines []Line, focus string, count func(string) int) *text {
	length := 0
	for i := range lines {
		length += len(lines[i].Text)
	}
	t := &text{lines: slices.Clone(lines), vocab: newVocabulary(count, length)}
	t.words, t.units = make([]int32, 0, length/5), make([]unit, 0, length/50)
	for i := range t.lines {
		l := &t.lines[i]
		l.Speaker, l.Time, l.Name = oneLine(l.Speaker), oneLine(l.Time), oneLine(l.Name)
		s := strings.ToValidUTF8(l.Text, "\uFFFD")
		switch {
		case l.Kind == Talk:
			t.talk(int32(i), s)
		case !t.data(int32(i), s):
			t.output(int32(i), s)
		}
	}
	known := map[string]bool{}
	for i := range t.lines {
		if speaker := t.lines[i].Speaker; !known[speaker] {
			known[speaker] = true
			for _, s := range words.Terms(speaker) {
				t.vocab.terms[t.vocab.term(s)].speaker = true
			}
		}
	}
	for w := range strings.FieldsSeq(strings.ToValidUTF8(focus, " ")) {
		if w := t.vocab.words[t.vocab.word(w)]; w.class.topical() {
			for _, id := range w.terms {
				t.vocab.terms[id].focus = true
			}
		}
	}
	t.partner = partners(t.lines)
	t.terms = make([]worth, 0, len(t.words)/2)
	t.group = make([]int32, len(lines))
	for i := 1; i < len(lines); i++ {
		t.group[i] = t.group[i-1]
		if t.lines[i].Time != t.lines[i-1].Time {
			t.group[i]++
		}
	}
	t.weigh()
	return t
}

// oneLine makes text fit into a label.
func oneLine(s string) string {
	plain := true
	for i := range len(s) {
		plain = plain && (s[i] > ' ' && s[i] < 0x7f || s[i] == ' ' && i > 0 && s[i-1] != ' ' && i+1 < len(s))
	}
	if plain {
		return s
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
}

// overhead returns the tokens of every line's header, and those that a line costs besides its
// words: its label, and its part of a header that it shares with those beside it.
func (t *text) overhead(count func(string) int) (labels, headers []int32) {
	known := map[string]int32{}
	tokens := func(s string) int32 {
		n, ok := known[s]
		if !ok && s != "" {
			n = int32(count(s))
			known[s] = n
		}
		return n
	}
	labels, headers = make([]int32, len(t.lines)), make([]int32, len(t.lines))
	for i := 0; i < len(t.lines); {
		end := i + 1
		for end < len(t.lines) && t.lines[end].Time == t.lines[i].Time {
			end++
		}
		dated := int32(0)
		if t.lines[i].Time != "" {
			dated = tokens(header(t.lines[i].Time))
		}
		for k := i; k < end; k++ {
			headers[k] = dated
			labels[k] = tokens(t.lines[k].label()) + 1 + dated/int32(end-i)
		}
		i = end
	}
	return labels, headers
}

// fit finds how much of a choice the budget holds.
type fit struct {
	*text
	choice
	budget int
	count  func(string) int
	kept   []int32
	best   string
	tokens int
}

// The most that is tried: to come near the budget, and to use what is then left of it.
const (
	guesses = 5
	fillers = 8
)

// fill keeps as many units of the order as fit. Tokens are only known once the text is written, so
// it guesses from the estimates, and guesses again knowing by how much they are wrong.
func (f *fit) fill() {
	// Labels are charged more often than written: about a seventh of the whole.
	aim, low, high := float64(f.budget)*1.15, 0, len(f.order)+1 // the answer is at least low, and below high
	for range guesses {
		if low > 0 && f.full() {
			return
		}
		n := sort.SearchInts(f.costs, int(aim)+1)
		n = min(max(n, low+1), high-1)
		if n <= low {
			break
		}
		tokens, fits := f.try(f.order[:n])
		if fits {
			low = n
		} else {
			high = n
		}
		aim = float64(f.costs[n-1]) * float64(f.budget) / float64(max(tokens, 1))
	}
	for low == 0 && high > 1 {
		high /= 2
		if _, fits := f.try(f.order[:high]); fits {
			low = high
			break
		}
	}
	kept := slices.Clone(f.order[:low])
	for _, i := range f.order[low:min(low+fillers, len(f.order))] {
		if f.full() {
			return
		}
		if _, fits := f.try(append(kept, i)); fits {
			kept = append(kept, i)
		}
	}
}

// full reports whether so little of the budget is left that it is not worth another try.
func (f *fit) full() bool { return f.budget-f.tokens <= f.budget/200 }

// try writes units, and remembers the text if it fits.
func (f *fit) try(units []int32) (tokens int, fits bool) {
	kept := slices.Clone(units)
	text := f.render(kept)
	tokens = f.count(text)
	if tokens > f.budget {
		return tokens, false
	}
	f.best, f.tokens, f.kept = text, tokens, kept
	return tokens, true
}

// expand writes units out in full, best first, where all are kept and budget is left.
func (f *fit) expand() {
	left, n := f.budget-f.tokens, 0
	for n < len(f.order) && left >= int(f.units[f.order[n]].rest) {
		left -= int(f.units[f.order[n]].rest)
		n++
	}
	// Others may be writing the same units.
	whole := *f.text
	whole.units = slices.Clone(whole.units)
	f.text = &whole
	telegrams := make([]uint64, n)
	for k, i := range f.order[:n] {
		u := &f.units[i]
		telegrams[k], u.written = u.written, 1<<(u.to-u.from)-1
	}
	for {
		if _, fits := f.try(f.order); fits || n == 0 {
			return
		}
		half := n / 2
		for k, i := range f.order[half:n] {
			f.units[i].written = telegrams[half+k]
		}
		n = half
	}
}
