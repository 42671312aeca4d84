package budget_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestTruncated(t *testing.T) {
	exact := budget.Count{Tokens: 1000, Certainty: budget.Exact}
	sure := budget.Count{Tokens: 10_000, Certainty: budget.Calibrated, Margin: 0.03}
	unsure := budget.Count{Tokens: 10_000, Certainty: budget.Estimated, Margin: 0.3}
	for _, tt := range []struct {
		name     string
		sent     budget.Count
		reported int
		want     bool
	}{
		{"the same", exact, 1000, false},
		{"less by what templates differ by", exact, 992, false},
		{"less than is certain", exact, 991, true},
		{"more", exact, 2000, false},
		{"no report", exact, 0, false},
		{"a negative report", exact, -1, false},
		{"within the margin", sure, 9750, false},
		{"a little outside it", sure, 9400, false},
		{"far outside it", sure, 9300, true},
		{"half", sure, 5003, true},
		{"a usual context", sure, 8192, true},
		{"a usual context within half the margin", sure, 10_240 - 341, false},
		{"unsure", unsure, 6000, false},
		{"unsure, but less than half", unsure, 4991, true},
		{"unsure, and a usual context", unsure, 8192, true},
		{"unsure, and one less than a usual context", unsure, 8191, true},
		{"unsure, and near a usual context", unsure, 8190, false},
		{"unsure, and a usual context that can be", budget.Count{Tokens: 9000, Certainty: budget.Estimated, Margin: 0.3}, 8192, false},
		{"a few tokens of a short prompt", budget.Count{Tokens: 20, Certainty: budget.Calibrated, Margin: 0.01}, 12, false},
	} {
		if got := budget.Truncated(tt.sent, tt.reported); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}

func TestContradicts(t *testing.T) {
	for _, tt := range []struct {
		name                  string
		sent, other, reported int
		want                  bool
	}{
		{"a fourth", 4000, 1000, 1060, true},
		{"four times", 1000, 4000, 3700, true},
		{"less than twice", 1900, 1000, 1001, false},
		{"a cut prompt", 4000, 3900, 1000, false},
		{"a cut prompt that another vocabulary makes less of", 900, 200, 50, false},
		{"a cut prompt of a language that another vocabulary is better at", 4000, 2000, 1000, false},
		{"a usual context", 4100, 1000, 1024, false},
		{"a template that both do not know", 30, 30, 9, false},
		{"what the server puts before it", 1000, 1100, 5000, false},
		{"no report", 4000, 0, 0, false},
		{"a negative report", 4000, 1000, -1, false},
	} {
		if got := budget.Contradicts(tt.sent, tt.other, tt.reported); got != tt.want {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
