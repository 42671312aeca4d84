package budget_test

import (
	"math"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

func TestRate(t *testing.T) {
	for _, tt := range []struct {
		size        float64
		generations int
		confidence  float64
		score       float64
		level       budget.Level
	}{
		{70, 0, 1, 0.95, budget.High},
		{69.9, 0, 1, 0.85, budget.High},
		{30, 0, 1, 0.85, budget.High},
		{13, 0, 1, 0.70, budget.Medium},
		{7, 0, 1, 0.50, budget.Low},
		{6.9, 0, 1, 0.30, budget.Critical},
		{0, 0, 1, 0.30, budget.Critical},
		{math.NaN(), 0, 1, 0.30, budget.Critical},
		{70, 1, 1, 0.8075, budget.Medium},
		{70, 2, 1, 0.665, budget.Medium},
		{70, 4, 1, 0.38, budget.Critical},
		{70, 5, 1, 0.285, budget.Critical},
		{70, 1000, 1, 0.285, budget.Critical},
		{70, -3, 1, 0.95, budget.High},
		{70, 0, 0.5, 0.475, budget.Low},
		{70, 0, 7, 0.95, budget.High},
		{70, 0, -1, 0, budget.Critical},
		{70, 0, math.NaN(), 0, budget.Critical},
		{30, 2, 37.0 / 37, 0.595, budget.Low},
	} {
		got := budget.Rate(tt.size, tt.generations, tt.confidence)
		if math.Abs(got.Score-tt.score) > 1e-12 || got.Level != tt.level {
			t.Errorf("%g, %d, %g: got %+v, want %g %s", tt.size, tt.generations, tt.confidence, got, tt.score, tt.level)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		level         budget.Level
		icon, meaning string
		advice        int
	}{
		{budget.High, "🟢", "excellent reliability", 0},
		{budget.Medium, "🟡", "good reliability", 0},
		{budget.Low, "🟠", "degraded reliability", 3},
		{budget.Critical, "🔴", "poor reliability", 4},
	} {
		if tt.level.Icon() != tt.icon || tt.level.Meaning() != tt.meaning || len(tt.level.Advice()) != tt.advice {
			t.Errorf("%s: %s, %s, %q", tt.level, tt.level.Icon(), tt.level.Meaning(), tt.level.Advice())
		}
	}
}

func TestWarning(t *testing.T) {
	for _, tt := range []struct {
		model  string
		passes int
		level  budget.Level
		want   string
	}{
		{"llama3.1:70b", 3, budget.High, ""},
		{"qwen2.5:14b", 3, budget.Medium, ""},
		{"llama3.2:3b", 0, budget.Critical, ""},
		{"llama3.2:3b", 1203, budget.Low, `⚠️ Context Compression Warning
Your model (llama3.2:3b) has compressed the conversation 1,203 times.
Small models may lose context accuracy after multiple compressions.

Recommendations:
- Continue if you are making good progress.
- Start a new conversation if the model makes things up.
- Use a larger model for complex long tasks.`},
		{"", 1, budget.Critical, `⚠️ Context Compression Warning
The conversation was compressed once.
Small models may lose context accuracy after a compression.

Recommendations:
- Start a new conversation.
- Use a larger model (13B or more).
- Review the important decisions and pin them.
- Take a snapshot before you continue.`},
	} {
		if got := budget.Warning(tt.model, tt.passes, budget.Reliability{Level: tt.level}); got != tt.want {
			t.Errorf("%s, %d times at %s: got\n%s\nwant\n%s", tt.model, tt.passes, tt.level, got, tt.want)
		}
	}
}
