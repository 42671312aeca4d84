package memory

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersAreWrittenAsStrconvDoes(t *testing.T) {
	compare := func(t rapid.TB, f float64) {
		if got, want := string(appendNumber(nil, f)), strconv.FormatFloat(f, 'f', -1, 64); got != want {
			t.Fatalf("%v is written %s, want %s", f, got, want)
		}
	}
	for n := range int64(1e6 + 1) {
		f := fromMillionths(n)
		compare(t, f)
		if n%1000 < 3 { // what is next to them is no whole number of millionths
			compare(t, math.Nextafter(f, 2))
			compare(t, math.Nextafter(f, -1))
		}
	}
	for _, f := range []float64{math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 2, -1, 1e300, 5e-324} {
		compare(t, f)
	}
	rapid.Check(t, func(t *rapid.T) { compare(t, rapid.Float64().Draw(t, "f")) })
	rapid.Check(t, func(t *rapid.T) { compare(t, rapid.Float64Range(0, 1).Draw(t, "f")) })
}
