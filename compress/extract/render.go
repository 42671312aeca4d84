package extract

import (
	"bytes"
	"slices"
	"strings"
)

// lineWords is the number of words from which talk goes on in a new line: shorter than what a
// reader, or a search over passages, takes in at once.
const lineWords = 38

// printer writes kept units in their order.
type printer struct {
	*text
	out   []byte
	time  string
	label string
	last  int // the unit written before, on this line; -1 at its beginning
	words int // on this line
}

// render writes the given units, which it sorts.
func (t *text) render(kept []int32) string {
	slices.Sort(kept)
	kept, calls := t.calls(kept)
	p := printer{text: t, last: -1}
	for i := 0; i < len(kept); {
		u := &t.units[kept[i]]
		if t.lines[u.line].Kind == Talk {
			p.talk(int(kept[i]))
			i++
			continue
		}
		end := i + 1
		for end < len(kept) && t.units[kept[end]].line == u.line {
			end++
		}
		p.tool(kept[i:end], calls)
		i = end
	}
	p.endLine()
	return string(p.out)
}

// seqs returns the sequence numbers of the lines of the given units, which are sorted.
func (t *text) seqs(kept []int32) []int64 {
	var out []int64
	for i, k := range kept {
		if i == 0 || t.units[k].line != t.units[kept[i-1]].line {
			out = append(out, t.lines[t.units[k].line].Seq)
		}
	}
	return slices.Compact(out)
}

// label is what stands in front of a line.
func (l *Line) label() string {
	switch l.Kind {
	case Call:
		return l.tool() + "("
	case Result:
		return l.tool() + ": "
	}
	if l.Speaker == "" {
		return ""
	}
	return l.Speaker + ": "
}

func (l *Line) tool() string {
	if l.Name == "" {
		return "tool"
	}
	return l.Name
}

// header is the line that dates those below it.
func header(time string) string { return "[" + time + "]\n" }

// endLine ends the line that is being written. What ends a sentence needs no full stop there.
func (p *printer) endLine() {
	if p.label != "" || len(p.out) > 0 && p.out[len(p.out)-1] != '\n' {
		p.trim()
		p.out = append(p.out, '\n')
	}
	p.label, p.last, p.words = "", -1, 0
}

func (p *printer) trim() {
	end := len(p.out)
	for end > 0 && strings.IndexByte(".,;:! ", p.out[end-1]) >= 0 {
		end--
	}
	p.out = p.out[:end]
}

// begin starts a line with the label, under its time.
func (p *printer) begin(l *Line, label string) {
	p.endLine()
	if l.Time != p.time && l.Time != "" {
		p.out = append(p.out, header(l.Time)...)
	}
	p.time, p.label = l.Time, label
	p.out = append(p.out, label...)
}

// talk writes a unit of what somebody said.
func (p *printer) talk(i int) {
	u := &p.units[i]
	l := &p.lines[u.line]
	if p.last < 0 || l.Time != p.time || l.label() != p.label || p.words+u.length() > lineWords {
		p.begin(l, l.label())
	} else {
		p.join(i)
	}
	p.write(u)
	if n := int(u.to-u.from) - 1; u.end == '?' && u.form == clause && (p.word(u, n).end != '?' || u.written>>n&1 == 0) {
		p.trim()
		p.out = append(p.out, '?')
	}
	p.last = i
	p.words += u.length()
}

// join writes what stands between the unit before and this one: the punctuation that was there if
// they are neighbours, otherwise a semicolon.
func (p *printer) join(i int) {
	before, u := &p.units[p.last], &p.units[i]
	if p.last+1 != i || before.line != u.line {
		p.trim()
		if !bytes.HasSuffix(p.out, []byte("?")) {
			p.out = append(p.out, ';')
		}
		p.out = append(p.out, ' ')
		return
	}
	final, initial := p.word(before, int(before.to-before.from)-1), p.word(u, 0)
	switch {
	case before.end == '?':
	case before.end != 0:
		if before.end != final.end || before.written>>(before.to-before.from-1)&1 == 0 {
			p.trim()
			p.out = append(p.out, before.end)
		}
	case before.form == clause && u.form == clause && !initial.open && !final.shut && !joins(initial.core) && before.length() < longestUnit:
		p.out = append(p.out, " -"...)
	}
	p.out = append(p.out, ' ')
}

// length is the number of words that are written of a unit.
func (u *unit) length() int {
	n := 0
	for m := u.written; m != 0; m &= m - 1 {
		n++
	}
	return n
}

// write writes the words of a unit.
func (p *printer) write(u *unit) {
	begun := false
	for k := range int(u.to - u.from) {
		if u.written>>k&1 == 0 {
			continue
		}
		if begun && p.text.words[int(u.from)+k]&1 == 0 {
			p.out = append(p.out, ' ')
		}
		begun = true
		p.out = append(p.out, p.word(u, k).text...)
	}
}
