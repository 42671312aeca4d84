package extract

// telegram finds the words of a unit that are written, and what they cost. The user's clauses are
// written whole: what he wants is for him to word.
func (t *text) telegram(u *unit, vocative bool) {
	n := int(u.to - u.from)
	whole := u.form != clause || t.lines[u.line].User
	quoting := false
	for k := range n {
		w := t.word(u, k)
		if w.quoted {
			quoting = w.opens
		}
		if !whole && !quoting && t.spare(u, k, vocative) {
			u.rest += w.tokens
			continue
		}
		u.written |= 1 << k
		u.cost += w.tokens
	}
	if u.written == 0 { // a greeting and nothing else
		u.written, u.cost, u.rest = 1<<n-1, u.rest, 0
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

// bound reports whether an article between two words is part of a title (Lord of the Rings) or says
// how often (twice a week).
func bound(before, after *word) bool {
	return after.title && (before.title || before.core == "of") || after.class == moment
}

// spare reports whether a telegram leaves out the k-th word of a clause. A word with a bracket or
// a quotation mark on it stays, or its other half would stand alone.
func (t *text) spare(u *unit, k int, vocative bool) bool {
	w := t.word(u, k)
	if !w.plain {
		return false
	}
	var next *word
	if k+1 < int(u.to-u.from) {
		next = t.word(u, k+1)
	}
	opens := u.written == 0
	switch w.class {
	case article:
		return k == 0 || next == nil || !bound(t.word(u, k-1), next)
	case first, opening:
		if next != nil && next.text[0] == '\'' { // transcripts write I 'm
			return false
		}
		// "so cool", but not "so I left".
		return opens || w.core == "so" && next != nil && next.class.topical()
	}
	return opens && vocative && w.end != 0 && w.end != '?' && len(w.terms) > 0 && t.vocab.terms[w.terms[0]].speaker
}
