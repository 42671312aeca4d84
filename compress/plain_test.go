package compress

import (
	"strings"
	"testing"
	"unicode"
)

// Every character, also one that is none, alone and among others, and texts of all lengths about that of the array that
// short ones are made in.
func TestPlainIsWordsInLowerCase(t *testing.T) {
	quotes := strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`)
	check := func(s string) {
		t.Helper()
		want := quotes.Replace(strings.Map(unicode.ToLower, strings.Join(strings.Fields(s), " ")))
		if got := plain(s); got != want {
			t.Errorf("plain(%q) = %q, want %q", s, got, want)
		}
	}
	for r := range rune(unicode.MaxRune + 2) {
		check(string(r))
	}
	for _, s := range []string{"", " ", "\n A\t\u00a0b \u2003", "“It’s” ‘Ⱥ’", "\xff A \xe2\x80", "a\xc2", "ÄÖ\u0085ẞ"} {
		check(s)
		for n := range 300 {
			check(strings.Repeat("x", n) + s + "Y" + s)
		}
	}
}
