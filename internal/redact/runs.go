package redact

import "github.com/turnstone-dev/turnstone/internal/words"

// Runs are three words in a row that texts say, of which at most one is common: who says them too repeats a text word for
// word. The zero value is of no text. It is not safe for concurrent use while it is changed.
type Runs struct {
	said map[string]struct{}
}

// Add takes in what a text says.
func (r *Runs) Add(text string) {
	if r.said == nil {
		r.said = make(map[string]struct{})
	}
	eachRun(text, func(said string) bool {
		r.said[said] = struct{}{}
		return true
	})
}

// Hit reports whether a text says any of them.
func (r *Runs) Hit(text string) (hit bool) {
	if len(r.said) == 0 {
		return false
	}
	eachRun(text, func(said string) bool {
		_, hit = r.said[said]
		return !hit
	})
	return hit
}

// eachRun calls f with the runs of words of a text that tell something, until it returns false.
func eachRun(text string, f func(string) bool) {
	terms := words.Terms(text)
	for i := range max(0, len(terms)-run+1) {
		telling := 0
		for _, term := range terms[i : i+run] {
			if _, ordinary := common[term]; !ordinary && len(term) >= shortest {
				telling++
			}
		}
		if telling >= run-1 && !f(joined(terms[i:i+run])) {
			return
		}
	}
}
