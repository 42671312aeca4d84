package turn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

// BenchmarkSeal seals what is said in an exchange, in paragraphs: with letters of English alone, and with others among them.
func BenchmarkSeal(b *testing.B) {
	for _, text := range []struct{ name, line string }{
		{"english", strings.Repeat("the release candidate failed on the second try ", 5) + "\n"},
		{"german", strings.Repeat("die Prüfung schlägt beim zweiten Versuch wieder fehl ", 5) + "\n"},
	} {
		for _, size := range []int{1500, 7500} {
			draft := turn.Draft{ID: turngen.ID(1), Role: turn.User, Content: turn.Text{Text: strings.Repeat(text.line, size/len(text.line)+1)}}
			l := limits(b)
			b.Run(fmt.Sprintf("%s %d", text.name, size), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := draft.Seal(l); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
