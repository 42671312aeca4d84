package bpe

import "slices"

// added finds the tokens that a model's maker has added to its vocabulary as whole words (a tag, a
// row of newlines). They are taken out of the text before it is split, from left to right, the
// longest where several begin at one place.
type added struct {
	words   *words
	lengths [256][]int // of the tokens that begin with a byte, longest first
}

func newAdded(tokens []token) *added {
	if len(tokens) == 0 {
		return nil
	}
	a := &added{words: tabulate(tokens)}
	for _, t := range tokens {
		lengths := &a.lengths[t.text[0]]
		if !slices.Contains(*lengths, len(t.text)) {
			*lengths = append(*lengths, len(t.text))
		}
	}
	for _, lengths := range a.lengths {
		slices.Sort(lengths)
		slices.Reverse(lengths)
	}
	return a
}

// next returns the first token in the text; at is the text's end if there is none.
func (a *added) next(text string) (at, length int, id uint32) {
	for at := range len(text) {
		for _, length := range a.lengths[text[at]] {
			if at+length > len(text) {
				continue
			}
			if id, ok := a.words.find(text[at : at+length]); ok {
				return at, length, id
			}
		}
	}
	return len(text), 0, 0
}
