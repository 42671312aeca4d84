package budget_test

import (
	"errors"
	"math"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestCompressionDefaults(t *testing.T) {
	got, err := budget.Compression{}.WithDefaults()
	if err != nil || got != (budget.Compression{Strategy: budget.Summarize, Threshold: 0.80, PreserveRecent: 2048, SummaryMaxTokens: 1024}) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, set := range []budget.Compression{
		{Off: true, Strategy: "truncate", Threshold: 1, PreserveRecent: 1, SummaryMaxTokens: 64},
		{Strategy: "summarize", Threshold: 0.30, PreserveRecent: budget.MaxContext, SummaryMaxTokens: budget.MaxContext},
	} {
		if got, err := set.WithDefaults(); err != nil || got != set {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

func TestCompressionThatIsNonsense(t *testing.T) {
	for _, test := range []struct {
		c     budget.Compression
		field string
		want  string
	}{
		{budget.Compression{Strategy: "summarise"}, "strategy", `"summarise" is no strategy; use summarize or truncate`},
		{budget.Compression{Strategy: "Truncate"}, "strategy", `"Truncate" is no strategy; use summarize or truncate`},
		{budget.Compression{Threshold: 0.29}, "threshold", "0.29 is no such share; give a share from 0.30 to 1, or 0 for the default"},
		{budget.Compression{Threshold: 1.01}, "threshold", "1.01 is no such share; give a share from 0.30 to 1, or 0 for the default"},
		{budget.Compression{Threshold: math.NaN()}, "threshold", "NaN is no such share; give a share from 0.30 to 1, or 0 for the default"},
		{budget.Compression{PreserveRecent: -1}, "preserveRecent", "-1 is no such number; give a number of tokens, or 0 for the default"},
		{budget.Compression{PreserveRecent: 1 << 40}, "preserveRecent", "1099511627776 is no such number; give a number of tokens, or 0 for the default"},
		{budget.Compression{SummaryMaxTokens: -1}, "summaryMaxTokens", "-1 is no such number; give 64 tokens or more, or 0 for the default"},
		{budget.Compression{SummaryMaxTokens: 63}, "summaryMaxTokens", "63 is no such number; give 64 tokens or more, or 0 for the default"},
		{budget.Compression{SummaryMaxTokens: 1 << 40}, "summaryMaxTokens", "1099511627776 is no such number; give 64 tokens or more, or 0 for the default"},
	} {
		_, err := test.c.WithDefaults()
		var field *budget.FieldError
		if want := "compression." + test.field; !errors.As(err, &field) || field.Name != want || err.Error() != want+": "+test.want {
			t.Errorf("%+v: %v", test.c, err)
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
