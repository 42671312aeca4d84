package budget_test

import (
	"errors"
	"math"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestCompressionDefaults(t *testing.T) {
	got, err := budget.Compression{}.WithDefaults()
	if err != nil || got != (budget.Compression{Strategy: budget.Summarize, Threshold: 0.80, SummaryMaxTokens: 1024}) {
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

func TestPreservedIsCapped(t *testing.T) {
	for _, tt := range []struct {
		asked, context, grows, want int
	}{
		{0, 2048, 1000, 300},       // three tenths of what the conversation grows to
		{0, 2048, 100_000, 522},    // 30 % of the usable window
		{0, 131_072, 80_000, 2048}, // the default
		{4000, 131_072, 80_000, 4000},
		{100, 8192, 3000, 100},
		{4000, 8192, 2000, 1500}, // three quarters of what it grows to
		{100_000, 8192, 100_000, 2089},
	} {
		c, err := budget.Compression{PreserveRecent: tt.asked}.WithDefaults()
		if err != nil {
			t.Fatal(err)
		}
		w, err := budget.WindowOf(tt.context)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Preserved(w, tt.grows); got != tt.want {
			t.Errorf("%+v: %d are preserved", tt, got)
		}
	}
}
