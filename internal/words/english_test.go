package words

import (
	"math/rand/v2"
	"strings"
	"testing"

	snowball "github.com/kljensen/snowball/english"
	"pgregory.net/rapid"
)

// Pieces of words in which all rules meet.
var pieces = strings.Fields(`a e i o u y b c d f g h k l m n p r s t v w x z ab ap at bl iz ee eed eedly ing ingly ed edly sses ied ies us ss
	ational fulness iveness ization ousness biliti bility lessli lessly tional alism aliti ation entli fulli iviti ousli anci abli alli ator enci izer bli
	ogi logi ology li ly alize icate ative iciti ical ful ness ement ance ence able ible ment ent ant ism ate iti ous ive ize sion tion ion al er ic ll
	gener commun arsen inter con re un over yy ay ey oy syl hop stop run mig`)

func checkStem(t interface{ Fatalf(string, ...any) }, word string) {
	if got, want := english(word), snowball.Stem(word, true); got != want {
		t.Fatalf("the stem of %q is %q, want %q", word, got, want)
	}
}

func TestEnglishStems(t *testing.T) {
	for _, a := range pieces {
		for _, b := range pieces {
			if word := a + b; len(word) >= 3 {
				checkStem(t, word)
			}
		}
	}
	for _, word := range strings.Fields(`skis skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes
		inning innings outing outings canning cannings herring herrings earring earrings proceed proceeds proceeded proceeding
		exceed exceeds exceeded exceeding succeed succeeds succeeded succeeding by say cry yes youth boyish sayings flying`) {
		checkStem(t, word)
	}
}

// Every word of up to four letters, and as many longer ones as there is patience for.
func TestEnglishStemsOfAnyLetters(t *testing.T) {
	var grow func(word string)
	grow = func(word string) {
		if len(word) >= 3 {
			checkStem(t, word)
		}
		if len(word) < 4 {
			for c := byte('a'); c <= 'z'; c++ {
				grow(word + string(c))
			}
		}
	}
	if !testing.Short() {
		grow("")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringMatching(`[a-z]{1,4}`)), 1, 12).Draw(t, "word"), "")
		if len(word) >= 3 {
			checkStem(t, word[:min(len(word), maxTerm-1)])
		}
	})
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var word strings.Builder
		for range 2 + random.IntN(5) {
			word.WriteString(pieces[random.IntN(len(pieces))])
		}
		if word.Len() >= 3 && word.Len() < maxTerm {
			checkStem(t, word.String())
		}
	}
}
