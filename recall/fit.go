package recall

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// Fit returns the best of hits whose entries of [Late] have at most so many tokens together, in their order.
// What does not fit is passed over for what does. A hit is never cut, with one exception: if the best one alone
// has more tokens than there are, its text ends early with a marker that says how much is missing, "[… 1234
// more bytes]", and Clipped is set; it is then the only one. Tokens of 0 is no limit, and hits is not changed.
func Fit(hits []Hit, tokens int, count func(string) int) []Hit {
	var kept []Hit
	left := tokens
	for i, h := range hits {
		h.Tokens = count(h.entry())
		if tokens == 0 || h.Tokens <= left {
			left -= h.Tokens
			kept = append(kept, h)
			continue
		}
		if i == 0 {
			if clipped, ok := clip(h, tokens, count); ok {
				return []Hit{clipped}
			}
		}
	}
	return kept
}

// clip shortens a hit as little as needed. It is not ok if nothing of its text would be left.
func clip(h Hit, tokens int, count func(string) int) (Hit, bool) {
	whole := h.Text
	shorten := func(n int) Hit {
		for n > 0 && !utf8.RuneStart(whole[n]) {
			n--
		}
		h.Text, h.Clipped = fmt.Sprintf("%s [… %d more bytes]", whole[:n], len(whole)-n), true
		h.Tokens = count(h.entry())
		return h
	}
	n := sort.Search(len(whole), func(n int) bool { return shorten(n).Tokens > tokens }) - 1
	if n <= 0 {
		return Hit{}, false
	}
	return shorten(n), true
}
