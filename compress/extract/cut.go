package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unit is the least that is kept or left out: a clause, a line of output, a value or a small object
// of a tool's data.
type unit struct {
	line     int32
	from, to int32   // its words in text.words
	terms    int32   // where its terms begin in text.terms; they end where the next unit's begin
	written  uint64  // which of its words the telegram has
	cost     int32   // tokens of the telegram
	rest     int32   // tokens of the words that it leaves out
	said     float64 // what it is worth without its terms
	boost    float64
	fields   []field // of a tool's data
	record   int32   // the object that they stand in
	place    place
	cut      bool // the value goes on
	form     form
	end      byte // the punctuation that ends it: . ? , ; or 0
	asks     bool // it is part of a question
}

// field is a key and the words of its value, up to the given one.
type field struct {
	key string
	to  int32
}

// form is how a unit is written.
type form uint8

const (
	clause form = iota // as a telegram
	output             // as it is
	value              // with its keys
)

// longestUnit is the number of words after which a unit is cut, wherever that is. A unit's words
// must fit the bits of unit.written.
const (
	longestUnit = 40
	cutAtAnd    = 20 // from here on at the next "and"
	shortest    = 3  // words that a clause in front of an "and" must have
)

// text is a conversation cut into units.
type text struct {
	lines    []Line
	vocab    *vocabulary
	words    []int32 // word number << 1, with the low bit set if no space stands in front of it
	units    []unit
	terms    []worth
	records  int32
	lists    int32
	elements int32              // of lists
	group    []int32            // a number for the time of each line
	times    map[[2]int32]int32 // terms that are another at another time
	bounds   map[uint64]int32   // terms of literals that are bound to their unit
	partner  []int32            // the result of each call and the call of each result, or -1
}

// talk cuts what somebody said. Fenced code is kept by the line.
func (t *text) talk(line int32, s string) {
	fenced := false
	for s != "" {
		row, rest, _ := strings.Cut(s, "\n")
		s = rest
		switch {
		case strings.HasPrefix(strings.TrimLeft(row, " \t"), "```"):
			fenced = !fenced
		case fenced:
			t.row(line, row)
		default:
			t.sentences(line, row)
		}
	}
}

// output cuts what a tool printed.
func (t *text) output(line int32, s string) {
	for row := range strings.Lines(s) {
		t.row(line, row)
	}
}

// row cuts a line of output, which is one unit unless it is too long.
func (t *text) row(line int32, s string) {
	from := len(t.words)
	for range t.split(s) {
		if len(t.words)-from == longestUnit {
			t.unit(line, from, output)
			from = len(t.words)
		}
	}
	t.unit(line, from, output)
}

// sentences cuts a line of prose at the ends of sentences, brackets and coordinate clauses.
func (t *text) sentences(line int32, s string) {
	from, sentence := len(t.words), len(t.units)
	var before *word // the one before, in this unit
	finish := func(end byte) {
		t.units[len(t.units)-1].end = end
		for i := sentence; i < len(t.units); i++ {
			t.units[i].asks = end == '?'
		}
		sentence = len(t.units)
	}
	flush := func(keep int) {
		last := t.words[len(t.words)-keep:]
		t.words = t.words[:len(t.words)-keep]
		t.unit(line, from, clause)
		from = len(t.words)
		t.words = append(t.words, last...)
		before = nil
	}
	for w := range t.split(s) {
		n := len(t.words) - from - 1 // words in front of this one
		switch {
		case w.core == "":
			t.words = t.words[:len(t.words)-1]
			if n > 0 && (dash(w.text) || w.end != 0 && w.end != ',') {
				flush(0)
				if w.end != 0 {
					finish(w.end)
				}
			}
			continue
		case n > 0 && w.open,
			n >= shortest && before.end == ',' && joins(w.core),
			n >= cutAtAnd && joins(w.core),
			n >= longestUnit:
			flush(1)
			n = 0
		}
		before = w
		if w.shut || w.end == '?' || w.end == ';' || w.end == '.' && !abbreviation(w.text) && !(n == 0 && ordinal(w.core)) {
			flush(0)
			if w.end != 0 {
				finish(w.end)
			}
		}
	}
	t.unit(line, from, clause)
}

// unit adds the words from the given one to the last as a unit. It takes them back if they say
// nothing: a rule across the page, a lone bracket.
func (t *text) unit(line int32, from int, form form) bool {
	for _, w := range t.words[from:] {
		if t.vocab.words[w>>1].core != "" {
			end := t.vocab.words[t.words[len(t.words)-1]>>1].end
			t.units = append(t.units, unit{line: line, from: int32(from), to: int32(len(t.words)), form: form, end: end})
			return true
		}
	}
	t.words = t.words[:from]
	return false
}

// split appends the words of s one by one and yields each.
func (t *text) split(s string) func(yield func(*word) bool) {
	return func(yield func(*word) bool) {
		glued := int32(0)
		for i := 0; i < len(s); {
			if n := space(s[i:]); n > 0 {
				i += n
				glued = 0
				continue
			}
			n := wordLength(s[i:])
			id := t.vocab.word(s[i : i+n])
			i += n
			t.words = append(t.words, id<<1|glued)
			glued = 1
			if !yield(&t.vocab.words[id]) {
				return
			}
		}
	}
}

// space returns the length of the space or control character that s begins with.
func space(s string) int {
	if s[0] < utf8.RuneSelf {
		if s[0] <= ' ' || s[0] == 0x7f {
			return 1
		}
		return 0
	}
	if r, n := utf8.DecodeRuneInString(s); unicode.IsSpace(r) || unicode.IsControl(r) {
		return n
	}
	return 0
}

// longestRun bounds a word outside of ASCII in bytes: the scripts that are written without spaces
// have no other end.
const longestRun = 60

// wordLength returns the length of the word that s begins with: up to a space, or past the
// punctuation of scripts that have none.
func wordLength(s string) int {
	run := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			if s[i] <= ' ' || s[i] == 0x7f {
				return i
			}
			run = 0
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return i
		case strings.ContainsRune("。！？；，、", r), run+n > longestRun:
			return i + n
		}
		run += n
		i += n
	}
	return len(s)
}

func dash(s string) bool { return s == "-" || s == "–" || s == "—" || s == "--" }

func joins(w string) bool { return w == "and" || w == "but" || w == "so" || w == "plus" }

// ordinal reports whether a word numbers the item of a list.
func ordinal(core string) bool { return len(core) <= 2 && strings.Trim(core, "0123456789") == "" }

// abbreviation reports whether the full stop on a word ends no sentence.
func abbreviation(s string) bool {
	switch strings.ToLower(s) {
	case "mr.", "mrs.", "ms.", "dr.", "st.", "vs.", "e.g.", "i.e.", "no.", "prof.", "approx.":
		return true
	}
	return len(s) == 2 && 'A' <= s[0] && s[0] <= 'Z'
}
