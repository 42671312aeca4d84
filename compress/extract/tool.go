package extract

import (
	"encoding/json"
	"strings"
)

// data cuts JSON into a unit per value. It reports false, and adds nothing, for any other text.
func (t *text) data(line int32, s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '{' && s[0] != '[' {
		return false
	}
	units, words := len(t.units), len(t.words)
	p := parser{text: t, line: line, rest: s}
	p.value("", 0)
	if p.space(); p.wrong || p.rest != "" {
		t.units, t.words = t.units[:units], t.words[:words]
		return false
	}
	return true
}

// parser reads JSON into units. It is lenient where nothing can be lost: it does not check how
// numbers are written.
type parser struct {
	text   *text
	line   int32
	rest   string
	record int32 // the object that is being read
	place  place
	wrong  bool
}

// place is where a value stands among lists.
type place struct {
	list    int32 // the innermost; 0 outside of lists
	element int32 // of that list, numbered as they begin
	item    bool  // the value is that element, not part of it
}

const (
	deepest  = 64
	longText = 8 // words from which a value is prose
)

func (p *parser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n") }

// take removes a byte that may stand next and reports whether it did.
func (p *parser) take(b byte) bool {
	p.space()
	if p.rest == "" || p.rest[0] != b {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parser) value(key string, depth int) {
	p.space()
	at := p.place
	switch {
	case p.wrong || p.rest == "" || depth > deepest:
		p.wrong = true
	case p.take('{'):
		outer := p.record
		p.text.records++
		p.record = p.text.records
		p.place.item = false
		units := len(p.text.units)
		p.list('}', func() {
			key := p.quoted()
			p.wrong = p.wrong || !p.take(':')
			p.value(key, depth+1)
		})
		if depth > 0 && !p.wrong {
			p.text.merge(units, p.record, at)
		}
		p.record = outer
	case p.take('['):
		p.text.lists++
		list := p.text.lists
		p.list(']', func() {
			p.text.elements++
			p.place = place{list, p.text.elements, true}
			p.value(key, depth+1)
		})
	case p.rest[0] == '"':
		p.leaf(key, p.quoted())
	default:
		n := len(p.rest) - len(strings.TrimLeft(p.rest, "+-.0123456789abcdefghijklmnopqrstuvwxyzE"))
		p.wrong = p.wrong || n == 0
		p.leaf(key, p.rest[:n])
		p.rest = p.rest[n:]
	}
	p.place = at
}

// list reads what stands between brackets, element by element.
func (p *parser) list(end byte, element func()) {
	for first := true; !p.wrong && !p.take(end); first = false {
		if !first && !p.take(',') {
			p.wrong = true
			return
		}
		element()
	}
}

func (p *parser) quoted() string {
	if !p.take('"') {
		p.wrong = true
		return ""
	}
	escaped := false
	for i := 0; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '\\':
			escaped = true
			i++
		case '"':
			s := p.rest[:i]
			p.rest = p.rest[i+1:]
			if escaped {
				var plain string
				if err := json.Unmarshal([]byte(`"`+s+`"`), &plain); err != nil {
					p.wrong = true
				}
				return plain
			}
			return s
		}
	}
	p.wrong = true
	return ""
}

// leaf adds a value. What says nothing is left out: null, empty text, yes and no without a reason.
func (p *parser) leaf(key, s string) {
	switch s {
	case "", "null", "true", "false":
		return
	}
	t := p.text
	if strings.Count(s, " ") >= longText || strings.Contains(s, "\n") {
		t.talk(p.line, s)
		return
	}
	from, cut := len(t.words), false
	for range t.split(s) {
		if cut = len(t.words)-from > longestUnit; cut {
			t.words = t.words[:len(t.words)-1]
			break
		}
	}
	if t.unit(p.line, from, value) {
		u := &t.units[len(t.units)-1]
		u.fields, u.record, u.place, u.cut = []field{{oneLine(key), u.to}}, p.record, p.place, cut
	}
}

// smallObject is the most values of an object that is kept or left out as a whole: a passenger
// without a name, or a price without what it buys, says nothing.
const smallObject = 6

// merge makes one unit of the units from the given one on, if they are the values of one small
// object, which stands at the given place.
func (t *text) merge(from int, record int32, at place) {
	all := t.units[from:]
	if len(all) < 2 || len(all) > smallObject || all[len(all)-1].to-all[0].from > longestUnit {
		return
	}
	whole := all[0]
	whole.fields, whole.place = nil, place{list: at.list, element: at.element}
	for i := range all {
		if all[i].form != value || all[i].record != record {
			return
		}
		whole.to = all[i].to
		whole.fields = append(whole.fields, all[i].fields...)
	}
	all[0] = whole
	t.units = t.units[:from+1]
}

// partners finds the result of every call and the call of every result.
func partners(lines []Line) []int32 {
	type tool struct{ name, id string }
	waiting := map[tool][]int32{}
	out := make([]int32, len(lines))
	for i := range lines {
		out[i] = -1
		key := tool{lines[i].Name, lines[i].ID}
		switch lines[i].Kind {
		case Call:
			waiting[key] = append(waiting[key], int32(i))
		case Result:
			if calls := waiting[key]; len(calls) > 0 {
				out[i], out[calls[0]] = calls[0], int32(i)
				waiting[key] = calls[1:]
			}
		}
	}
	return out
}
