package words

import "slices"

// sortTerms sorts terms by their bytes. Nearly all differ in their first six,
// which make a number together with a term's place: numbers are sorted much
// sooner than strings.
func sortTerms(terms []string) {
	if len(terms) < 16 || len(terms) > 1<<16 {
		slices.Sort(terms)
		return
	}
	keys := make([]uint64, len(terms))
	for i, term := range terms {
		keys[i] = leading(term)<<16 | uint64(i)
	}
	slices.Sort(keys)
	sorted := make([]string, len(terms))
	same := 0 // where the terms with these first bytes begin
	for i, key := range keys {
		sorted[i] = terms[key&0xffff]
		if key>>16 != keys[same]>>16 {
			slices.Sort(sorted[same:i])
			same = i
		}
	}
	slices.Sort(sorted[same:])
	copy(terms, sorted)
}

// leading is the first six bytes of a term, in their order; none has a zero.
func leading(term string) (key uint64) {
	for i := range 6 {
		key <<= 8
		if i < len(term) {
			key |= uint64(term[i])
		}
	}
	return key
}
