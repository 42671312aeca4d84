package budget_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

var mixed = strings.Repeat(english+english+"```go\n"+golang+"```\n"+pretty+accents+chinese+"\n", 40)

func BenchmarkText(b *testing.B) {
	for name, c := range map[string]*budget.Counter{"exact": plain(), "by kind": counterWith(budget.Calibration{})} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(mixed)))
			for b.Loop() {
				c.Text(mixed)
			}
		})
	}
}

func BenchmarkTokens(b *testing.B) {
	c := counterWith(counted())
	for b.Loop() {
		c.Tokens(budget.Tally{Prose: 1000, Code: 200, Data: 50, Messages: 12})
	}
}

func BenchmarkAccount(b *testing.B) {
	c, w := counterWith(counted()), window(b, 8192)
	parts := map[budget.Part]budget.Tally{budget.System: {Prose: 500, Messages: 1}, budget.Recent: {Prose: 3000, Code: 500, Messages: 20}}
	for b.Loop() {
		budget.NewAccount(w, c, parts)
	}
}

func BenchmarkReport(b *testing.B) {
	cal := counted()
	for b.Loop() {
		learn(cal, budget.Tally{Prose: 1000, Code: 200, Data: 50, Messages: 12}, 1400)
	}
}

func BenchmarkMeter(b *testing.B) {
	m := budget.NewMeter(window(b, 1<<20), counterWith(counted()), budget.Count{})
	for b.Loop() {
		m.Add(" word")
	}
}
