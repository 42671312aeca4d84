package budget_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestWindowOf(t *testing.T) {
	for _, tt := range []struct {
		context int
		want    budget.Window
		tier    budget.Tier
		text    string
	}{
		{2048, budget.Window{Context: 2048, Usable: 1741, Reserve: 261}, 1, "tier 1 (rollover)"},
		{4096, budget.Window{Context: 4096, Usable: 3482, Reserve: 522}, 1, "tier 1 (rollover)"},
		{4097, budget.Window{Context: 4097, Usable: 3482, Reserve: 522}, 2, "tier 2 (smart)"},
		{8192, budget.Window{Context: 8192, Usable: 6963, Reserve: 1044}, 2, "tier 2 (smart)"},
		{8193, budget.Window{Context: 8193, Usable: 6964, Reserve: 1045}, 3, "tier 3 (progressive)"},
		{16384, budget.Window{Context: 16384, Usable: 13926, Reserve: 2089}, 3, "tier 3 (progressive)"},
		{32768, budget.Window{Context: 32768, Usable: 27853, Reserve: 4096}, 4, "tier 4 (structured)"},
		{65535, budget.Window{Context: 65535, Usable: 55705, Reserve: 4096}, 4, "tier 4 (structured)"},
		{65536, budget.Window{Context: 65536, Usable: 55706, Reserve: 4096}, 5, "tier 5 (ultra)"},
		{1_048_576, budget.Window{Context: 1_048_576, Usable: 891_290, Reserve: 4096}, 5, "tier 5 (ultra)"},
		{16_777_216, budget.Window{Context: 16_777_216, Usable: 14_260_634, Reserve: 4096}, 5, "tier 5 (ultra)"},
	} {
		got, err := budget.WindowOf(tt.context)
		if err != nil || got != tt.want {
			t.Errorf("%d: got %+v, %v, want %+v", tt.context, got, err, tt.want)
		}
		if got.Tier() != tt.tier || got.Tier().String() != tt.text {
			t.Errorf("%d: %v, want %s", tt.context, got.Tier(), tt.text)
		}
	}
	for _, context := range []int{0, -1, 2047, 16_777_217, 1_000_000_000_000} {
		_, err := budget.WindowOf(context)
		var field *budget.FieldError
		if !errors.As(err, &field) || field.Name != "context" || field.Fix == "" {
			t.Errorf("%d: %v", context, err)
		}
	}
}

func TestTiers(t *testing.T) {
	for tier, want := range map[budget.Tier][2]int{1: {300, 1}, 2: {700, 1}, 3: {1024, 5}, 4: {1500, 10}, 5: {2000, 15}, 0: {300, 1}, 6: {2000, 15}} {
		if got := [2]int{tier.SummaryCap(), tier.MaxCheckpoints()}; got != want {
			t.Errorf("%v: got %v, want %v", tier, got, want)
		}
	}
	if got := budget.Tier(6).String() + budget.Tier(0).Name(); got != "no tier" {
		t.Error(got)
	}
}
