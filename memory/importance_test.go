package memory_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/memory"
)

// wantField checks that err is a *memory.FieldError which names the field.
func wantField(t testing.TB, err error, field string) {
	t.Helper()
	var refused *memory.FieldError
	if !errors.As(err, &refused) || refused.Name != field {
		t.Fatalf("error %v, want one that names %s", err, field)
	}
}

func TestDefaultWeightsSumToOne(t *testing.T) {
	if sum := memory.DefaultWeights.Sum(); sum != 1 {
		t.Errorf("the weights sum to %v", sum)
	}
	want := memory.Weights{Goals: .3, User: .2, Confidence: .2, Novelty: .15, Actionability: .15}
	if memory.DefaultWeights != want {
		t.Errorf("the weights are %+v, the seed's are %+v", memory.DefaultWeights, want)
	}
}

func TestScore(t *testing.T) {
	tests := []struct {
		name string
		in   memory.Inputs
		want float64
	}{
		{"nothing", memory.Inputs{}, 0},
		{"everything", memory.Inputs{Goals: 1, User: 1, Confidence: 1, Novelty: 1, Actionability: 1}, 1},
		{"goals", memory.Inputs{Goals: 1}, .3},
		{"user", memory.Inputs{User: 1}, .2},
		{"confidence", memory.Inputs{Confidence: 1}, .2},
		{"novelty", memory.Inputs{Novelty: 1}, .15},
		{"actionability", memory.Inputs{Actionability: 1}, .15},
		{"halves", memory.Inputs{Goals: .5, User: .5, Confidence: .5, Novelty: .5, Actionability: .5}, .5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := memory.Score(memory.DefaultWeights, tt.in)
			if err != nil || math.Abs(got-tt.want) > 1e-12 {
				t.Errorf("%v, %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestScoreRefuses(t *testing.T) {
	fields := []struct {
		name string
		set  func(in *memory.Inputs, f float64)
	}{
		{"relevance_to_goals", func(in *memory.Inputs, f float64) { in.Goals = f }},
		{"relevance_to_user", func(in *memory.Inputs, f float64) { in.User = f }},
		{"confidence", func(in *memory.Inputs, f float64) { in.Confidence = f }},
		{"novelty", func(in *memory.Inputs, f float64) { in.Novelty = f }},
		{"actionability", func(in *memory.Inputs, f float64) { in.Actionability = f }},
	}
	for _, field := range fields {
		for _, bad := range []float64{math.NaN(), -0.001, 1.001, math.Inf(1), math.Inf(-1)} {
			in := memory.Inputs{Goals: .5, User: .5, Confidence: .5, Novelty: .5, Actionability: .5}
			field.set(&in, bad)
			_, err := memory.Score(memory.DefaultWeights, in)
			wantField(t, err, field.name)
			if !strings.Contains(err.Error(), "from 0 to 1") {
				t.Errorf("%q does not name the range", err)
			}
		}
	}
	_, err := memory.Score(memory.Weights{Goals: .9}, memory.Inputs{})
	wantField(t, err, "weights")
	_, err = memory.Score(memory.Weights{Goals: 1.5, User: -.5}, memory.Inputs{})
	wantField(t, err, "weights.relevance_to_goals")
}

func TestScoreStaysInRange(t *testing.T) {
	unit := rapid.Float64Range(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		in := memory.Inputs{
			Goals: unit.Draw(t, "goals"), User: unit.Draw(t, "user"), Confidence: unit.Draw(t, "confidence"),
			Novelty: unit.Draw(t, "novelty"), Actionability: unit.Draw(t, "actionability"),
		}
		score, err := memory.Score(memory.DefaultWeights, in)
		if err != nil || !(score >= 0 && score <= 1) {
			t.Fatalf("%v, %v", score, err)
		}
		more := in
		more.Goals = min(1, in.Goals+.1)
		if higher, _ := memory.Score(memory.DefaultWeights, more); higher < score {
			t.Fatalf("more relevant and less important: %v, %v", score, higher)
		}
	})
}
