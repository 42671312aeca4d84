package prompt_test

import (
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
)

// BenchmarkCompile compiles the prompt after one more turn: next from the projection of the one before, cold from
// the store alone, behind from the store alone with no prompt compiled since the first turn. None of their costs may
// grow with the history.
func BenchmarkCompile(b *testing.B) {
	for _, history := range []int{1_000, 10_000, 100_000} {
		w := newWorld(b, 8192)
		w.begin(prompt.Settings{System: "Be brief."})
		w.append(user("begin"))
		w.compile()
		for range history / 1000 {
			w.append(talk(1000)...)
		}
		compile := func(b *testing.B, earlier *prompt.Projection) prompt.Compiled {
			c, err := w.try(earlier)
			if err != nil {
				b.Fatal(err)
			}
			return c
		}
		b.Run(fmt.Sprint("behind/turns=", history), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compile(b, nil)
			}
		})
		w.store(compile(b, nil))
		b.Run(fmt.Sprint("cold/turns=", history), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compile(b, nil)
			}
		})
		b.Run(fmt.Sprint("next/turns=", history), func(b *testing.B) {
			b.ReportAllocs()
			c := compile(b, nil)
			for b.Loop() {
				b.StopTimer()
				if c.Opened != nil {
					w.store(c)
				}
				w.append(user("one more"))
				b.StartTimer()
				c = compile(b, c.Projection)
			}
		})
	}
}
