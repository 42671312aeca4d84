package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/words"
)

// passage is a text and what is shown of it before all else, the words that were found in it; nothing of a text that
// begins with what is shown.
type passage struct {
	text     string
	from, to int
}

// newPassage chooses, of the passages of at most size bytes, the first with most of the words in it. Words that stand
// there often count less than those that do not.
func newPassage(text string, found []string, size int) passage {
	p := passage{text: text}
	spots := spotsOf(text, found)
	worth, within := make([]int, len(found)), make([]int, len(found))
	for _, s := range spots {
		worth[s.word]++
	}
	for i, n := range worth {
		worth[i] = 1000 + 1000/max(1, n)
	}
	left, sum, best := 0, 0, 0
	for right, s := range spots {
		if within[s.word]++; within[s.word] == 1 {
			sum += worth[s.word]
		}
		for left < right && (s.to-spots[left].from > size || within[spots[left].word] > 1) {
			first := spots[left].word
			if within[first]--; within[first] == 0 {
				sum -= worth[first]
			}
			left++
		}
		if sum > best {
			best, p.from, p.to = sum, spots[left].from, s.to
		}
	}
	return p
}

// wordReach is how far a passage is made shorter so that it begins and ends with a whole word: what goes on for longer is
// none.
const wordReach = 64

// around returns where about n bytes begin and end that have the words in them, more of them after the words than before: an
// answer follows what it is about. A greater n has all of a smaller one.
func (p *passage) around(n int) (from, to int) {
	from = p.from
	if spare := n - (p.to - p.from); spare > 0 {
		from = max(0, from-spare/3)
	}
	if to = from + n; to > len(p.text) {
		from, to = len(p.text)-n, len(p.text)
	}
	from = p.begin(from)
	return from, p.end(from, to)
}

// begin moves the beginning on to that of a word, but not beyond the words that were found.
func (p *passage) begin(from int) int {
	if before, _ := utf8.DecodeLastRuneInString(p.text[:from]); from == 0 || from >= p.from || unicode.IsSpace(before) {
		return from
	}
	near := p.text[from:min(p.from, from+wordReach)]
	if gap := strings.IndexFunc(near, unicode.IsSpace); gap >= 0 {
		_, size := utf8.DecodeRuneInString(near[gap:])
		return from + gap + size
	}
	if p.from-from <= wordReach {
		return p.from
	}
	for from < p.from && !utf8.RuneStart(p.text[from]) {
		from++
	}
	return from
}

// end moves the end back to that of a word, but not before the words that were found.
func (p *passage) end(from, to int) int {
	if to == len(p.text) || to <= from {
		return max(from, to)
	}
	for to > from && !utf8.RuneStart(p.text[to]) {
		to--
	}
	if next, _ := utf8.DecodeRuneInString(p.text[to:]); unicode.IsSpace(next) {
		return to
	}
	least := max(from, to-wordReach)
	if to >= p.to {
		least = max(least, p.to)
	}
	for least < to && !utf8.RuneStart(p.text[least]) {
		least++
	}
	if gap := strings.LastIndexFunc(p.text[least:to], unicode.IsSpace); gap >= 0 {
		_, size := utf8.DecodeRuneInString(p.text[least+gap:])
		return least + gap + size
	}
	if least == p.to && p.to > from {
		return p.to
	}
	return to
}

// spot is where a text has a word of the query.
type spot struct {
	from, to int
	word     int
}

// spotsOf are where a text has the words, or others of their families, by where they begin.
func spotsOf(text string, found []string) (spots []spot) {
	wanted := make(map[string]int)
	for i, word := range found {
		says := Asks(word) // "how-to-deploy" is not about each of its words
		for _, term := range words.Terms(word) {
			if says && stopped()[term] {
				continue
			}
			for _, one := range append([]string{term}, relatives()[term]...) {
				if _, there := wanted[one]; !there {
					wanted[one] = i
				}
			}
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	each := func(from, to int) {
		last := -1
		for _, term := range words.Terms(text[from:to]) {
			if i, ok := wanted[term]; ok && i != last {
				spots, last = append(spots, spot{from, to, i}), i
			}
		}
	}
	for from := 0; from < len(text); {
		to := from
		for to < len(text) && to-from < wordReach {
			r, size := utf8.DecodeRuneInString(text[to:])
			if unicode.IsSpace(r) {
				break
			}
			to += size
		}
		each(from, to)
		if to-from < wordReach {
			_, size := utf8.DecodeRuneInString(text[to:])
			from = to + size
			continue
		}
		// No spaces for that long: a word that stands at the end of this part stands in the next one too.
		for from += wordReach / 2; from < to && !utf8.RuneStart(text[from]); {
			from++
		}
	}
	return spots
}
