package terminal

import (
	"unicode"

	"golang.org/x/text/width"
)

// Cells is how many columns of a terminal a cleaned text takes: two for each wide character, such as those of
// Chinese, and none for marks on the one before.
func Cells(text string) int {
	cells := 0
	for _, r := range text {
		switch {
		case r < 0x80:
			cells++
		case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		default:
			cells++
			if k := width.LookupRune(r).Kind(); k == width.EastAsianWide || k == width.EastAsianFullwidth {
				cells++
			}
		}
	}
	return cells
}
