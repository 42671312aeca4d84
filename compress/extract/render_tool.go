package extract

import "slices"

// calls takes out the units of calls whose result is kept too: they are written with it.
func (t *text) calls(kept []int32) (rest []int32, calls map[int32][]int32) {
	lines := map[int32]bool{}
	for _, i := range kept {
		if line := t.units[i].line; t.partner[line] >= 0 {
			lines[line] = true
		}
	}
	if len(lines) == 0 {
		return kept, nil
	}
	calls = map[int32][]int32{}
	for _, i := range kept {
		line := t.units[i].line
		if t.lines[line].Kind == Call && lines[t.partner[line]] {
			calls[line] = append(calls[line], i)
		} else {
			rest = append(rest, i)
		}
	}
	return rest, calls
}

// tool writes what is kept of a call or a result on a line of its own, a result after what it was
// called with.
func (p *printer) tool(kept []int32, calls map[int32][]int32) {
	line := p.units[kept[0]].line
	l := &p.lines[line]
	if call := calls[p.partner[line]]; l.Kind == Result && len(call) > 0 {
		p.begin(l, l.tool()+"(")
		p.values(call)
		p.out = append(p.out, "): "...)
	} else {
		p.begin(l, l.label())
	}
	p.values(kept)
	if l.Kind == Call {
		p.out = append(p.out, ')')
	}
	p.last = int(kept[len(kept)-1])
}

// values writes units of one line, objects apart.
func (p *printer) values(kept []int32) {
	var before []field // of the object before
	key := ""          // written last
	for i := 0; i < len(kept); {
		u := &p.units[kept[i]]
		lead := p.gap(i, kept)
		if u.form != value {
			p.prose(int(kept[i]), i == 0, lead)
			before, key = nil, ""
			i++
			continue
		}
		end := i + 1
		for end < len(kept) && p.units[kept[end]].form == value && p.units[kept[end]].record == u.record {
			end++
		}
		fields := p.fields(kept[i:end])
		row := len(fields) > 1 && slices.EqualFunc(before, fields, sameKey)
		switch {
		case i == 0:
		case row:
			p.out = append(p.out, "; "...)
		case fields[0].key != key:
			p.out = append(p.out, ' ')
		}
		key = p.object(kept, i, end, row, lead, key)
		before, i = fields, end
	}
	p.trim()
	p.gap(len(kept), kept)
}

// prose writes a unit of text: a line of output in a line of its own, below the first.
func (p *printer) prose(i int, leads, gap bool) {
	switch {
	case leads && gap:
		p.out = append(p.out, "… "...)
	case leads:
	case p.units[i].form == output:
		p.out = append(p.out, "\n  "...)
	default:
		p.trim()
		p.out = append(p.out, "; "...)
	}
	p.write(&p.units[i])
}

// fields returns all fields of units.
func (p *printer) fields(kept []int32) []field {
	var out []field
	for _, i := range kept {
		out = append(out, p.units[i].fields...)
	}
	return out
}

func sameKey(a, b field) bool { return a.key == b.key }

// object writes values of one object as key=value. Keys are left out in a row, which is an object
// with the keys of the one before, and where a list goes on. A mark stands in front of what leads, if some of its
// list is left out there. It returns the key written last.
func (p *printer) object(kept []int32, begin, end int, row, lead bool, key string) string {
	first := true
	for i := begin; i < end; i++ {
		u := &p.units[kept[i]]
		if i > begin {
			lead = p.gap(i, kept)
		}
		from := u.from
		for _, f := range u.fields {
			switch {
			case !row && f.key == key && key != "":
				p.out = append(p.out, ',')
			case !first:
				p.out = append(p.out, ' ')
			}
			inside := u.place.item && f.key != ""
			if lead && !inside {
				p.out = append(append(p.out, "…"...), u.between()...)
			}
			if !row && f.key != key && f.key != "" {
				p.out = append(append(p.out, f.key...), '=')
			}
			if lead && inside {
				p.out = append(p.out, "…,"...)
			}
			p.span(from, f.to)
			key, from, first, lead = f.key, f.to, false, false
		}
		if u.cut {
			p.out = append(p.out, "…"...)
		}
	}
	return key
}

// span writes all words of a value.
func (p *printer) span(from, to int32) {
	for k := from; k < to; k++ {
		w := p.text.words[k]
		if k > from && w&1 == 0 {
			p.out = append(p.out, ' ')
		}
		p.out = append(p.out, p.vocab.words[w>>1].text...)
	}
}
