package memory

import (
	"math"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Inputs are the five numbers an item's importance is computed of, each from 0 to 1.
type Inputs struct {
	Goals         float64 // relevance_to_goals: does it relate to active goals?
	User          float64 // relevance_to_user: is it about the user?
	Confidence    float64 // how sure are we of it?
	Novelty       float64 // is it new?
	Actionability float64 // can we act on it?
}

// Weights say how much each input counts. They sum to 1.
type Weights struct {
	Goals, User, Confidence, Novelty, Actionability float64
}

// DefaultWeights are the seed's.
var DefaultWeights = Weights{Goals: 0.30, User: 0.20, Confidence: 0.20, Novelty: 0.15, Actionability: 0.15}

// Sum returns the sum of the weights.
func (w Weights) Sum() float64 {
	return w.Goals + w.User + w.Confidence + w.Novelty + w.Actionability
}

// Check refuses weights of which one is not a number from 0 to 1, or which do not sum to 1, with a
// *[FieldError] that names it.
func (w Weights) Check() error {
	if err := unitRange([5]float64{w.Goals, w.User, w.Confidence, w.Novelty, w.Actionability}); err != nil {
		return within("weights", err)
	}
	if sum := w.Sum(); math.Abs(sum-1) > 1e-9 {
		return fieldErrorf("weights", "let the five weights sum to 1", "sum to %v", sum)
	}
	return nil
}

// Check refuses an input that is not a number from 0 to 1, with a *[FieldError] that names it.
func (in Inputs) Check() error { return unitRange(in.array()) }

// Score returns the importance: the weighted sum of the inputs, from 0 to 1. An input or a weight that
// is not a number from 0 to 1 is refused with a *[FieldError] that names it.
func Score(w Weights, in Inputs) (float64, error) {
	if err := w.Check(); err != nil {
		return 0, err
	}
	if err := in.Check(); err != nil {
		return 0, err
	}
	return w.score(in), nil
}

// score is Score of what was checked.
func (w Weights) score(in Inputs) float64 {
	sum := w.Goals*in.Goals + w.User*in.User + w.Confidence*in.Confidence +
		w.Novelty*in.Novelty + w.Actionability*in.Actionability
	return min(sum, 1) // rounding may carry it past
}

// inputNames are the seed's names of the inputs, in the order of their fields.
var inputNames = [5]string{"relevance_to_goals", "relevance_to_user", "confidence", "novelty", "actionability"}

func (in Inputs) array() [5]float64 {
	return [5]float64{in.Goals, in.User, in.Confidence, in.Novelty, in.Actionability}
}

func inputsOf(a [5]float64) Inputs {
	return Inputs{Goals: a[0], User: a[1], Confidence: a[2], Novelty: a[3], Actionability: a[4]}
}

func unitRange(values [5]float64) error {
	for i, f := range values {
		if !(f >= 0 && f <= 1) {
			return fieldErrorf(inputNames[i], "give a number from 0 to 1", "%v is not from 0 to 1", f)
		}
	}
	return nil
}

// rounded keeps of each input what is stored of it, so that the stored inputs give the stored
// importance.
func (in Inputs) rounded() Inputs {
	a := in.array()
	for i, f := range a {
		a[i] = fromMillionths(millionths(f))
	}
	return inputsOf(a)
}

func (in Inputs) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	for i, f := range in.array() {
		dst = appendFloat(dst, inputNames[i], f)
	}
	return append(dst, '}')
}

// decodeNamed reads some of the five inputs by name and hands each to set.
func decodeNamed(v strictjson.Raw, set func(i int, f float64)) error {
	const legal = "relevance_to_goals, relevance_to_user, confidence, novelty, actionability"
	return object(string(v), legal, func(name string, v strictjson.Raw) (bool, error) {
		for i, known := range inputNames {
			if name == known {
				f, err := v.Float()
				set(i, f)
				return true, err
			}
		}
		return false, nil
	})
}
