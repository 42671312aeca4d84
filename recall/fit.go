package recall

import (
	"fmt"
	"sort"
	"strings"
)

// Fit returns the best of hits whose entries of [Late] have at most so many tokens together, in their order.
// What does not fit is passed over for what does. A hit is never cut, with one exception: if the best one alone
// has more tokens than there are, its text is cut down to the passage that has most of [Hit.Why] in it, or to its
// beginning where nothing of it was found, and Clipped is set; it is then the only one. It begins with "[…]" where
// the passage does not begin the text, and a marker says how much is missing, "[… 1234 more bytes]": at the end, or
// at the beginning where the passage ends the text. Tokens of 0 is no limit, and hits is not changed.
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

// clip shortens a hit, which was counted, as little as needed. It is not ok if nothing of its text would be left.
func clip(h Hit, tokens int, count func(string) int) (Hit, bool) {
	whole, all := h.Text, h.Tokens
	marked := func(from, to int) Hit {
		h.Text, h.Clipped = mark(whole, from, to), true
		h.Tokens = count(h.entry())
		return h
	}
	none := marked(0, 0).Tokens
	if none >= tokens || none >= all {
		return Hit{}, false
	}
	// About how much of it there is room for: what stands further apart is not shown together.
	size := int(float64(len(whole)) * float64(tokens-none) / float64(all-none))
	p := newPassage(whole, h.Why, size)
	shorten := func(n int) Hit { return marked(p.around(n)) }
	// It may be very much longer than what is shown, and counting takes time.
	most := min(len(whole), 2*size+1)
	for most < len(whole) && shorten(most).Tokens <= tokens {
		most = min(len(whole), 2*most)
	}
	n := sort.Search(most, func(n int) bool { return shorten(n).Tokens > tokens }) - 1
	if n <= 0 {
		return Hit{}, false
	}
	if from, to := p.around(n); strings.TrimSpace(whole[from:to]) == "" {
		return Hit{}, false
	}
	return shorten(n), true
}

// mark is a part of a text with what is missing of it.
func mark(whole string, from, to int) string {
	shown := strings.TrimSpace(whole[from:to])
	missing := fmt.Sprintf("[… %d more bytes]", len(whole)-(to-from))
	switch {
	case from == 0:
		return shown + " " + missing
	case to == len(whole):
		return missing + " " + shown
	}
	return "[…] " + shown + " " + missing
}
