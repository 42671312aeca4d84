package cortex

import "strings"

// sameWords reports whether two texts differ in nothing but case and white space.
func sameWords(a, b string) bool {
	return strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}
