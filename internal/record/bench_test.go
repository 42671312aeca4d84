package record_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/record"
)

func BenchmarkCheckLine(b *testing.B) {
	for _, line := range []struct{ name, word string }{{"english", "another "}, {"german", "nächste "}} {
		s := strings.Repeat(line.word, 15)
		b.Run(line.name, func(b *testing.B) {
			for b.Loop() {
				if err := record.CheckLine("line", s, 1<<10); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
