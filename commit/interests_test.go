package commit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/memory"
)

// What the user cares about is made anew when there is twice as much of it, and, since only the last facts count, when all of
// these are new.
func TestWhatTheUserCaresAboutIsMadeAnewSeldom(t *testing.T) {
	st := &standing{}
	var made []int
	var last *memory.Interests
	for n := range 50 {
		if n > 0 {
			st.tell(fmt.Sprint("fact ", n))
		}
		if in := st.cares(); in != last {
			made, last = append(made, n), in
		}
	}
	if want := []int{1, 2, 4, 8, 24, 40}; !slices.Equal(made, want) {
		t.Errorf("made anew after %v facts, want %v", made, want)
	}
	if len(st.facts) != maxFacts || st.facts[0] != "fact 49" || st.facts[maxFacts-1] != "fact 34" {
		t.Errorf("the facts are %q", st.facts)
	}
}
