package words_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/words"
)

// Terms that begin alike, terms that are short, and more than are sorted by number.
func TestSetIsSorted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 15, 16, 1000, 1<<16 + 1} {
		var text strings.Builder
		for range n {
			fmt.Fprintf(&text, "%s%x é%x ", []string{"", "0", "connect7", "connex7"}[random.IntN(4)], random.IntN(n), random.IntN(n))
		}
		want := words.Terms(text.String())
		slices.Sort(want)
		if diff := cmp.Diff(slices.Compact(want), words.Set(text.String())); diff != "" {
			t.Errorf("of %d words: %s", n, diff)
		}
	}
}
