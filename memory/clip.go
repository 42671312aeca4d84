package memory

import "unicode/utf8"

// firstBytes returns at most n bytes of text, whole characters.
func firstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
