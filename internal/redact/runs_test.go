package redact_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/internal/redact"
)

func TestRunsAreWordForWord(t *testing.T) {
	var r redact.Runs
	if r.Hit("anything at all") {
		t.Error("nothing was said, and yet it is repeated")
	}
	r.Add("The red walrus eats clams, and what is on today?")
	for text, want := range map[string]bool{
		"So your walrus eats clams.":    true,
		"A red Walrus, eating. Clams!":  true,
		"walrus, clams":                 false,
		"What is on today, walrus?":     false, // all but one of these words are common
		"The clams are eaten, red ones": false,
		"":                              false,
	} {
		if got := r.Hit(text); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
