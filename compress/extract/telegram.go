package extract

// telegram finds the words of a unit that are written, and what they cost.
func (t *text) telegram(u *unit, vocative bool) {
	n := int(u.to - u.from)
	for k := range n {
		w := t.word(u, k)
		if u.form == clause && t.spare(u, k, vocative) {
			u.rest += w.tokens
			continue
		}
		u.written |= 1 << k
		u.cost += w.tokens
	}
	if u.form == value {
		for _, f := range u.fields {
			u.cost += int32(t.vocab.count(" " + f.key + "="))
		}
	} else {
		u.cost++ // what sets it apart from the next
	}
}

// word returns the k-th word of a unit.
func (t *text) word(u *unit, k int) *word { return &t.vocab.words[t.words[int(u.from)+k]>>1] }

// spare reports whether a telegram leaves out the k-th word of a clause. A word with a bracket or
// a quotation mark on it stays, or its other half would stand alone.
func (t *text) spare(u *unit, k int, vocative bool) bool {
	w := t.word(u, k)
	if !w.plain {
		return false
	}
	opens := u.written == 0
	switch w.class {
	case article:
		return true
	case first:
		return opens
	case opening:
		if opens {
			return true
		}
		// "so cool", but not "so I left".
		return w.core == "so" && k+1 < int(u.to-u.from) && t.word(u, k+1).class.topical()
	}
	return opens && vocative && w.end != 0 && w.end != '?' && len(w.terms) > 0 && t.vocab.terms[w.terms[0]].speaker
}
