package budget

import "math"

// Certainty says how a number of tokens was come by.
type Certainty string

// The certainties, surest first.
const (
	// Exact was counted with the model's own vocabulary, and no template stands around it.
	Exact Certainty = "exact"
	// Calibrated was counted with factors learned from what the provider reported; its margin was
	// measured.
	Calibrated Certainty = "calibrated"
	// Estimated was counted before anything was learned about the model.
	Estimated Certainty = "estimated"
)

// maxTokens bounds every count, so that no sum of absurd ones overflows.
const maxTokens = 1 << 40

// Count is a number of tokens and how sure it is. The zero Count is nothing, of no certainty.
type Count struct {
	Tokens    int
	Certainty Certainty
	// Margin is how far off the number may be, relative to it: 0 for what is exact. Nineteen counts in
	// twenty are within it.
	Margin float64
}

// Upper returns the tokens with their margin, rounded up: what a hard check must use.
func (c Count) Upper() int {
	if !(c.Margin > 0) {
		return c.Tokens
	}
	// The tiny step back keeps 100 tokens and a tenth from becoming 111.
	upper := math.Ceil(float64(float64(c.Tokens)*(1+c.Margin)) - 1e-6)
	return int(min(max(upper, float64(c.Tokens)), maxTokens))
}

// Tally is what stands in a text or in a whole prompt: tokens by kind of content, and how many pieces the
// model's template wraps. Tallies add up, and they stay valid when a calibration changes: [Counter.Tokens]
// says what one costs.
type Tally struct {
	// Exact are tokens of the model's own vocabulary.
	Exact int
	// Prose, Code, Data (JSON and the like) and Dense (scripts other than Latin, emoji) are tokens of a
	// base vocabulary that a calibration weighs by kind.
	Prose, Code, Data, Dense int
	// Messages, Calls, Tools and Images are what the template wraps. A tally with messages is a prompt:
	// what the template adds once per prompt is counted with it.
	Messages, Calls, Tools, Images int
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(u Tally) Tally {
	return Tally{
		Exact: t.Exact + u.Exact,
		Prose: t.Prose + u.Prose, Code: t.Code + u.Code, Data: t.Data + u.Data, Dense: t.Dense + u.Dense,
		Messages: t.Messages + u.Messages, Calls: t.Calls + u.Calls, Tools: t.Tools + u.Tools, Images: t.Images + u.Images,
	}
}

// Minus takes away what was added with [Tally.Plus].
func (t Tally) Minus(u Tally) Tally {
	return Tally{
		Exact: t.Exact - u.Exact,
		Prose: t.Prose - u.Prose, Code: t.Code - u.Code, Data: t.Data - u.Data, Dense: t.Dense - u.Dense,
		Messages: t.Messages - u.Messages, Calls: t.Calls - u.Calls, Tools: t.Tools - u.Tools, Images: t.Images - u.Images,
	}
}
