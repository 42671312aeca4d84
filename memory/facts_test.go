package memory_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
)

func BenchmarkFacts(b *testing.B) {
	const known = 16
	var texts []string
	for i := range 100 {
		texts = append(texts, exchange(i + 1)[i].Text)
	}
	texts = append(texts, texts[:known]...)
	var facts memory.Facts
	b.ReportAllocs()
	for n := 0; b.Loop(); n += 2 {
		at := 100 - n%100
		facts.Interests(texts[at : at+known])
	}
}

// Facts are interested in the same things as NewInterests of them, whatever they were interested in before.
func TestFactsAreInterestsOfWhatIsTold(t *testing.T) {
	word := rapid.SampledFrom([]string{"tea", "teas", "sea", "Oslo", "stamps", "the", "of", "by", "walnut", "river", "boat", "größe", "数据库", "x1", "internationalisation"})
	text := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprint(rapid.SliceOfN(word, 0, 6).Draw(t, "words"), rapid.IntRange(0, 300).Draw(t, "number"))
	})
	rapid.Check(t, func(t *rapid.T) {
		var facts memory.Facts
		var told []string
		most := rapid.SampledFrom([]int{1, 3, 16, 64}).Draw(t, "most")
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			told = slices.Clone(told)
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0: // somebody forgets some of it
				told = told[rapid.IntRange(0, len(told)).Draw(t, "from"):]
			case 1: // they are other facts
				told = rapid.SliceOfN(text, 0, 70).Draw(t, "told")
			case 2: // the same is said again
				if len(told) > 0 {
					told = append([]string{told[0]}, told...)
				}
			default:
				told = append(rapid.SliceOfN(text, 0, 3).Draw(t, "fresh"), told...)
				told = told[:min(len(told), most)]
			}
			subjects := make([]memory.Subject, len(told))
			for i, fact := range told {
				subjects[i] = memory.Subject{Weight: 1, Title: fact}
			}
			c := memory.Candidate{Type: memory.Event, Text: text.Draw(t, "candidate")}
			got := score(c, &memory.View{User: facts.Interests(told)}).User
			if want := score(c, &memory.View{User: memory.NewInterests(subjects...)}).User; got != want {
				t.Fatalf("%q concerns a user who told %q by %v, want %v", c.Text, told, got, want)
			}
		}
	})
}
