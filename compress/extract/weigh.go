package extract

import (
	"math"

	"github.com/turnstone-dev/turnstone/compress/literal"
)

// What terms and units are worth, as factors. They were chosen on conversations of two kinds, and
// none of them is sharp: half or twice the value changes little.
const (
	nameWorth    = 1.75 // a term that is written with a capital inside of sentences
	literalWorth = 3.0
	againWorth   = 1.5 // a literal that stands in more than one line
	speakerWorth = 0.1 // who speaks is said in front
	cheerWorth   = 0.4
	momentWorth  = 1.4 // against the typical term, whose rarity says nothing here
	numberWorth  = 1.0
	focusWorth   = 2.0

	ofSpeaker  = 1.4 // what somebody says of himself
	ofListener = 0.7
	ofUser     = 2.0
	answer     = 1.2
	asked      = 0.4 // a question that was answered
	open       = 4.0 // one that was not
	quotation  = 2.0
	decided    = 1.3
	troubled   = 1.5
	failed     = 4.0 // a tool says that something went wrong

	// What a unit is worth of which nothing is known but that somebody said it, against the typical
	// term: a bare "yes" matters where it answers, and what is asked in the end is still to be done.
	saidWorth   = 0.05
	answerWorth = 0.3
	openWorth   = 1.5
)

// valueWorth is what a value of a tool's data is worth by its form.
var valueWorth = [...]float64{
	literal.None: 0.7, literal.Number: 0.7, literal.Date: 2.5, literal.Version: 4, literal.Identifier: 3,
	literal.ID: 4, literal.Path: 4, literal.Address: 3, literal.Error: 4,
}

const nameValue = 1.75 // a value that begins with a capital

// worth is what a term adds to a unit.
type worth struct {
	term   int32
	weight float64
	lasts  bool // a time or a number, which is another one in another sentence
}

// weigh finds what every unit costs and what its terms are worth.
func (t *text) weigh() {
	t.bounds = map[uint64]int32{}
	t.tally()
	n := float64(len(t.units) + 1)
	typical := max(math.Log(n/3), math.Ln2)
	for i := range t.vocab.terms {
		t.vocab.terms[i].weigh(n)
	}
	answers, settled := t.exchanges()
	vocative := t.pair()
	seen := make([]int32, len(t.vocab.terms))
	shapes := map[uint64]int{}
	t.times = map[[2]int32]int32{}
	for i := range t.units {
		u := &t.units[i]
		t.telegram(u, vocative)
		u.terms = int32(len(t.terms))
		u.boost = t.boost(u, answers[u.line], settled[u.line])
		if u.form != value {
			shape := t.shape(u)
			shapes[shape]++
			u.boost /= float64(shapes[shape])
		}
		if u.form != value {
			u.said = typical * saidWorth
			switch {
			case u.asks && !settled[u.line]:
				u.said = typical * openWorth
			case answers[u.line]:
				u.said = typical * answerWorth
			}
		}
		whole := t.whole(u)
		for k := range int(u.to - u.from) {
			w := t.word(u, k)
			for _, id := range t.termsIn(u, w, whole) {
				if seen[id] == int32(i+1) {
					continue
				}
				seen[id] = int32(i + 1)
				if x := t.worth(u, w, id, typical); x.weight > 0 {
					if x.lasts {
						x.term = t.dated(id, u.line)
					}
					t.terms = append(t.terms, x)
				}
			}
		}
	}
}

// dated returns the term that stands for this one at the time of the line: "last week" is another
// week under another date.
func (t *text) dated(id, line int32) int32 {
	key := [2]int32{id, t.group[line]}
	own, known := t.times[key]
	if !known {
		own = int32(len(t.vocab.terms))
		t.vocab.terms = append(t.vocab.terms, term{})
		t.times[key] = own
	}
	return own
}

// tally counts where the terms stand.
func (t *text) tally() {
	for i := range t.units {
		u := &t.units[i]
		whole := t.whole(u)
		for k := range int(u.to - u.from) {
			w := t.word(u, k)
			if u.binds(w) {
				t.vocab.terms[t.boundTerm(w, whole)].stand(int32(i), u.line)
			}
			for _, id := range w.terms {
				x := &t.vocab.terms[id]
				x.stand(int32(i), u.line)
				if k > 0 && u.form == clause {
					x.inner++
					if w.title {
						x.titles++
					}
				}
			}
		}
	}
}

// stand counts a unit that a term stands in, and its line.
func (x *term) stand(unit, line int32) {
	if x.lastUnit != unit {
		x.lastUnit = unit
		x.units++
	}
	if x.lastLine != line {
		x.lastLine = line
		x.lines++
	}
}

// weigh sets the weight of a term: its rarity among n units.
func (x *term) weigh(n float64) {
	x.weight = math.Log(n / (float64(x.units) + 0.5))
	if x.inner > 0 && 2*x.titles >= x.inner {
		x.weight *= nameWorth
	}
	if x.literal {
		x.weight *= literalWorth
		if x.lines > 1 {
			x.weight *= againWorth
		}
	}
	if x.speaker {
		x.weight *= speakerWorth
	}
	if x.focus {
		x.weight *= focusWorth
	}
}

func (t *text) worth(u *unit, w *word, id int32, typical float64) worth {
	x := worth{term: id, weight: t.vocab.terms[id].weight}
	if u.form == value {
		x.weight *= valueWorth[w.kind]
		if w.kind == literal.None && w.title {
			x.weight *= nameValue / valueWorth[literal.None]
		}
		return x
	}
	switch w.class {
	case cheer:
		x.weight *= cheerWorth
	case moment:
		x.weight, x.lasts = typical*momentWorth, true
	case number:
		x.weight, x.lasts = typical*numberWorth, true
	default:
		if !w.class.topical() {
			x.weight = 0
		}
	}
	return x
}

// boost is what a unit as a whole is worth more or less than its terms.
func (t *text) boost(u *unit, answers, settled bool) float64 {
	var has [trouble + 1]bool
	quoted := false
	for k := range int(u.to - u.from) {
		w := t.word(u, k)
		has[w.class] = true
		quoted = quoted || w.quoted
		if w.kind == literal.Error {
			has[trouble] = true
		}
	}
	switch {
	case u.form == clause:
	case has[trouble]:
		return failed
	default:
		return 1
	}
	b := 1.0
	if has[trouble] {
		b *= troubled
	}
	switch {
	case u.asks && !settled:
		b *= open
	case has[first] || has[own]:
		b *= ofSpeaker
	case has[other]:
		b *= ofListener
	}
	switch {
	case u.asks && settled:
		b *= asked
	case answers && !u.asks:
		b *= answer
	}
	if t.lines[u.line].User {
		b *= ofUser
	}
	if quoted {
		b *= quotation
	}
	if has[decision] {
		b *= decided
	}
	return b
}

// exchanges finds the lines that answer a question and those whose questions have been answered:
// somebody else went on.
func (t *text) exchanges() (answers, settled []bool) {
	answers, settled = make([]bool, len(t.lines)), make([]bool, len(t.lines))
	asks := make([]bool, len(t.lines))
	for i := range t.units {
		asks[t.units[i].line] = asks[t.units[i].line] || t.units[i].asks
	}
	next := -1 // the talk after this line
	for i := len(t.lines) - 1; i >= 0; i-- {
		if t.lines[i].Kind != Talk {
			continue
		}
		if next >= 0 && t.lines[next].Speaker != t.lines[i].Speaker {
			settled[i] = true
			answers[next] = asks[i]
		} else if next >= 0 {
			settled[i] = settled[next]
		}
		next = i
	}
	return answers, settled
}

// pair reports whether two people talk: then it needs no saying to whom.
func (t *text) pair() bool {
	var speakers []string
	for i := range t.lines {
		s := t.lines[i].Speaker
		if t.lines[i].Kind != Talk || len(speakers) > 0 && s == speakers[0] || len(speakers) > 1 && s == speakers[1] {
			continue
		}
		if speakers = append(speakers, s); len(speakers) > 2 {
			return false
		}
	}
	return true
}

// shape is the same for units that differ in their numbers only: a log says the same thing at many
// times, and so does who works through a list.
func (t *text) shape(u *unit) uint64 {
	hash := offset
	for k := range int(u.to - u.from) {
		digits := false
		for _, b := range []byte(t.word(u, k).text) {
			if b >= '0' && b <= '9' {
				if digits {
					continue
				}
				digits, b = true, '0'
			} else {
				digits = false
			}
			hash = (hash ^ uint64(b)) * prime
		}
		hash = (hash ^ ' ') * prime
	}
	return hash
}
