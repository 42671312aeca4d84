package extract

import "github.com/turnstone-dev/turnstone/compress/literal"

// termsIn returns the terms of a word of the unit with the given whole.
func (t *text) termsIn(u *unit, w *word, whole uint64) []int32 {
	if u.binds(w) {
		return []int32{t.boundTerm(w, whole)}
	}
	return w.terms
}

// binds reports whether a literal says the same again only where all of its unit is the same, keys among it: the 7
// of "row 7" is not the 7 that the tool was called with, nor part of 7.5. An ID or a path is the same one wherever it
// stands, but a list of texts that have one each is told evenly.
func (u *unit) binds(w *word) bool {
	switch u.form {
	case value:
		return w.kind == literal.Number || w.kind != literal.None && u.place.item && u.to-u.from > 1
	case output:
		return w.kind == literal.Number
	}
	return false
}

// boundTerm returns the term that stands for a literal in a unit that binds it.
func (t *text) boundTerm(w *word, whole uint64) int32 {
	key := hash(whole, w.core)
	id, known := t.bounds[key]
	if !known {
		x := term{lastUnit: -1, lastLine: -1, literal: true}
		for _, part := range w.terms {
			x.focus = x.focus || t.vocab.terms[part].focus
		}
		id = int32(len(t.vocab.terms))
		t.vocab.terms = append(t.vocab.terms, x)
		t.bounds[key] = id
	}
	return id
}

// whole is the same for units of data with the same keys and words; 0 for talk.
func (t *text) whole(u *unit) uint64 {
	if u.form == clause {
		return 0
	}
	h := offset
	for i := range u.fields {
		h = hash(h, u.fields[i].key)
	}
	for k := range int(u.to - u.from) {
		h = hash(h, t.word(u, k).text)
	}
	return h
}

// The hash FNV-1a.
const offset, prime = uint64(14695981039346656037), uint64(1099511628211)

// hash goes on from h with a text and its end.
func hash(h uint64, s string) uint64 {
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return (h ^ 0xff) * prime // stands in no text
}
