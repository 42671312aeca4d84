package scratch_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/scratch"
)

// BenchmarkStage changes two observations of a page that has a few, and of one that has as many as it may.
func BenchmarkStage(b *testing.B) {
	for _, size := range []int{2, scratch.MaxLive} {
		var ch scratch.Changes
		for i := range size {
			ch.Put = append(ch.Put, scratch.Change{ID: fmt.Sprint("o", i), Type: ptr("alert"), Content: ptr("quiet")})
		}
		page := (&scratch.Page{}).Stage(ch, start, nil).Next
		var change scratch.Changes
		for i := range 2 {
			content := strings.Repeat(fmt.Sprintf("the queue of worker %d is long, ", i), 10)
			change.Put = append(change.Put, scratch.Change{ID: fmt.Sprint("o", i), Type: ptr("alert"), Content: &content})
		}
		b.Run(fmt.Sprintf("%d observations", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if staged := page.Stage(change, start, nil); len(staged.Rows) != 2 {
					b.Fatal(staged.Refused)
				}
			}
		})
	}
}
