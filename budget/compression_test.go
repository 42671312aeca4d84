package budget_test

import (
	"math"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestCompressionDefaults(t *testing.T) {
	got, err := budget.Compression{}.WithDefaults()
	if err != nil || got != (budget.Compression{Threshold: 0.80, PreserveRecent: 2048}) {
		t.Errorf("%+v, %v", got, err)
	}
	set := budget.Compression{Off: true, Threshold: 1, PreserveRecent: 1}
	if got, err := set.WithDefaults(); err != nil || got != set {
		t.Errorf("%+v, %v", got, err)
	}
	for field, c := range map[string]budget.Compression{
		"threshold":      {Threshold: 0.29},
		"above":          {Threshold: 1.01},
		"NaN":            {Threshold: math.NaN()},
		"preserveRecent": {PreserveRecent: -1},
		"absurd":         {PreserveRecent: 1 << 40},
	} {
		if _, err := c.WithDefaults(); err == nil || !strings.Contains(err.Error(), "compression.") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestPreservedIsCappedInASmallWindow(t *testing.T) {
	c, err := budget.Compression{}.WithDefaults()
	if err != nil {
		t.Fatal(err)
	}
	for context, want := range map[int]int{2048: 522, 8192: 2048, 131072: 2048} {
		w, err := budget.WindowOf(context)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Preserved(w); got != want {
			t.Errorf("of %d tokens %d are preserved, want %d", context, got, want)
		}
	}
}
