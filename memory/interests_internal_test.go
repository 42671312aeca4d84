package memory

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// plainRelevance is what the relevance of words to subjects is said to be, computed the long way.
func plainRelevance(subjects []Subject, words []uint64) float64 {
	wordsOf := make([]map[uint64]float32, len(subjects))
	having := make(map[uint64]int) // how many subjects have a word
	for i, s := range subjects {
		wordsOf[i] = make(map[uint64]float32)
		for n, text := range append([]string{s.Title}, s.Texts...) {
			g := spelled(text)
			for _, word := range g.words {
				if _, again := wordsOf[i][word]; again {
					continue
				}
				having[word]++
				wordsOf[i][word] = 1
				if n == 0 {
					wordsOf[i][word] = 2
				}
			}
		}
	}
	var matches []uint64
	for _, word := range words {
		if having[word] > 0 && !slices.Contains(matches, word) && len(matches) < 64 {
			matches = append(matches, word)
		}
	}
	best := 0.0
	for i, s := range subjects {
		shared := float32(0)
		for _, word := range matches {
			all, n := float64(len(subjects)), float64(having[word])
			shared += wordsOf[i][word] * float32(math.Log(1+all/n)/math.Log(1+all))
		}
		best = max(best, s.Weight*(1-math.Exp(-float64(shared)/2)))
	}
	return best
}

// sayings are texts of up to so many of three hundred words.
func sayings(words int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		first, step := rapid.IntRange(0, 299).Draw(t, "first"), rapid.SampledFrom([]int{0, 1, 7, 100}).Draw(t, "step")
		for i := range rapid.SampledFrom([]int{0, 1, words / 2, words}).Draw(t, "words") {
			fmt.Fprint(&b, 100+(first+i*step)%300, " ")
		}
		return b.String()
	})
}

func TestRelevanceIsWhatItIsSaidToBe(t *testing.T) {
	subject := rapid.Custom(func(t *rapid.T) Subject {
		return Subject{
			Weight: rapid.SampledFrom([]float64{1, 0.85, 0.6, 0}).Draw(t, "weight"),
			Title:  sayings(20).Draw(t, "title"), Texts: rapid.SliceOfN(sayings(40), 0, 3).Draw(t, "texts"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		// One is kept in another way than several.
		subjects := rapid.OneOf(rapid.SliceOfN(subject, 0, maxSubjects), rapid.SliceOfN(subject, 1, 1)).Draw(t, "subjects")
		g := spelled(sayings(200).Draw(t, "candidate"))
		if got, want := NewInterests(subjects...).relevance(g.words), plainRelevance(subjects, g.words); got != want {
			t.Fatalf("the relevance is %v, want %v", got, want)
		}
	})
}

func TestRelevanceToFactsIsWhatItIsSaidToBe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var facts Facts
		var told []string
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			told = append(rapid.SliceOfN(sayings(60), 0, 3).Draw(t, "fresh"), told...)
			told = told[:min(len(told), 4)]
			subjects := make([]Subject, len(told))
			for i, fact := range told {
				subjects[i] = Subject{Weight: 1, Title: fact}
			}
			g := spelled(sayings(200).Draw(t, "candidate"))
			if got, want := facts.Interests(told).relevance(g.words), plainRelevance(subjects, g.words); got != want {
				t.Fatalf("the relevance to %q is %v, want %v", told, got, want)
			}
		}
	})
}

func TestRelevanceCountsSixtyFourWordsOfOneSubject(t *testing.T) {
	var b strings.Builder
	for i := range 70 {
		fmt.Fprint(&b, 100+i, " ")
		words := spelled(b.String()).words
		subjects := []Subject{{Weight: 1, Texts: []string{b.String()}}}
		if got, want := NewInterests(subjects...).relevance(words), plainRelevance(subjects, words); got != want {
			t.Fatalf("the relevance of %d words is %v, want %v", i+1, got, want)
		}
	}
}
