package budget_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
)

func TestCountersAlike(t *testing.T) {
	o200k := budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, nil, false, budget.Calibration{})
	cl100k := budget.NewCounter(budget.Profile{Tokenizer: budget.Cl100k}, nil, false, budget.Calibration{})
	learned, fresh := counterWith(counted()), counterWith(budget.Calibration{})
	for _, tt := range []struct {
		name string
		a, b *budget.Counter
		want bool
	}{
		{"itself", o200k, o200k, true},
		{"another calibration", learned, fresh, true},
		{"another vocabulary", o200k, cl100k, false},
		{"the same vocabulary, told apart by kind", o200k, fresh, false},
	} {
		if tt.a.CountsLike(tt.b) != tt.want || tt.b.CountsLike(tt.a) != tt.want {
			t.Errorf("%s: not %v", tt.name, tt.want)
		}
	}
	if !o200k.Uses(bpe.O200k()) || o200k.Uses(bpe.Cl100k()) {
		t.Error("it uses another vocabulary")
	}
}

func TestUsual(t *testing.T) {
	for model, want := range map[string]int{"llama3.2": 8192, "llama2": 4096, "gpt-4o": 128_000, "nobody": 8192} {
		p, _ := budget.Known().Find(model)
		if got := p.Usual(); got != want {
			t.Errorf("%s: %d", model, got)
		}
	}
}
