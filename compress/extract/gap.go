package extract

// gap writes a mark after the unit of a line that was written before kept[i], or the last if there are no more, if
// something is left out between them that a reader would take for told: elements of a list, lines and sentences. Of
// an object, the keys say what is told. It reports whether a mark belongs in front of kept[i] instead, or too.
func (p *printer) gap(i int, kept []int32) (lead bool) {
	from := int32(-1)
	var to int32
	var before, next *unit
	line := p.units[kept[0]].line
	if i > 0 {
		from = kept[i-1]
		before = &p.units[from]
	}
	if i < len(kept) {
		to = kept[i]
		next = &p.units[to]
	} else {
		to = p.endOf(from)
	}
	after := false
	for k := to - 1; k > from && p.units[k].line == line && !(after && lead); k-- {
		switch u := &p.units[k]; {
		case !u.missed(before, next):
		case before != nil && (next == nil || !u.beside(next) || u.beside(before)):
			after = true
		default:
			lead = true
		}
	}
	if after {
		if before.form != value {
			p.trim()
		}
		p.out = append(append(p.out, before.between()...), "…"...)
	}
	return lead
}

// endOf returns the first unit after those of the line of the given one.
func (p *printer) endOf(i int32) int32 {
	end := i + 1
	for int(end) < len(p.units) && p.units[end].line == p.units[i].line {
		end++
	}
	return end
}

// missed reports whether it needs a mark that the unit is left out between two that are written, of which either
// may be nil. An element of a list of which something is written is told.
func (u *unit) missed(before, next *unit) bool {
	if u.form != value {
		return true
	}
	at := u.place.element
	return at > 0 && (next == nil || next.place.element != at) && (before == nil || before.place.element < at)
}

// beside reports whether two values stand in the same list.
func (u *unit) beside(other *unit) bool {
	return u.form == value && other.form == value && u.place.list > 0 && u.place.list == other.place.list
}

// between is what stands between a unit and what follows it in its list.
func (u *unit) between() string {
	switch {
	case u.form == value && u.place.item && u.fields[0].key != "":
		return ","
	case len(u.fields) > 1:
		return "; "
	}
	return " "
}
