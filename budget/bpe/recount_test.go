package bpe

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// More texts than there are slots, some of which differ in one byte: a slot that another text owns says nothing.
func TestRecountIsCount(t *testing.T) {
	e := O200k()
	texts := make([]string, 3*len(e.known)/2)
	want := make([]int, len(texts))
	for i := range texts {
		texts[i] = strings.Repeat("a ", leastKnown/2-8+i%32) + fmt.Sprintf("%06d", i)
		want[i] = e.Count(texts[i])
	}
	var wg sync.WaitGroup
	for g := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(g, 1))
			for range 2 * len(texts) {
				if i := r.IntN(len(texts)); e.Recount(texts[i]) != want[i] {
					t.Errorf("%q: %d, want %d", texts[i], e.Recount(texts[i]), want[i])
					return
				}
			}
		})
	}
	wg.Wait()
}

// Text that is no UTF-8 is copied whenever it is counted: one that is known is not.
func TestRecountRemembers(t *testing.T) {
	text := strings.Repeat("\xff", leastKnown)
	if n := testing.AllocsPerRun(20, func() { O200k().Recount(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(20, func() { O200k().Count(text) }); n == 0 {
		t.Error("it is no longer copied: choose another text")
	}
}
