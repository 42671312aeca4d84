package budget

// usualLocal is the context that a model on the own machine is given: its memory grows with it.
const usualLocal = 8 << 10

// Usual is the context to use where nobody says: all of a hosted model's, and 8,192 tokens of one that runs
// on the own machine or that nobody has heard of.
func (p Profile) Usual() int {
	if p.Provider == Ollama || p.Provider == "" {
		return min(p.Context, usualLocal)
	}
	return p.Context
}
