package budget

const (
	// lowest is the share of what was sent that is never taken for an honest count.
	lowest = 0.5
	// few are tokens that templates differ by.
	few = 8
	// contextStep divides the context sizes that servers are usually set to.
	contextStep = 1024
	// absurd is how many times what was sent no honest count can be.
	absurd = 8
)

// Truncated reports whether a provider's count of a prompt is too low for what was sent, which means that it
// dropped something without saying so. Counts that are sure make it strict: a report may be below them by
// twice their margin, by half at most, and by a few tokens for the template. A report of exactly a usual
// context size (a multiple of 1,024, or one less) is taken for cut when half the margin is not enough to
// explain it.
func Truncated(sent Count, reported int) bool {
	if reported <= 0 {
		return false // no report at all
	}
	missing := float64(sent.Tokens-few) - float64(reported)
	if missing <= 0 {
		return false
	}
	if missing > float64(sent.Tokens)*min(2*sent.Margin, lowest) {
		return true
	}
	return contextSized(reported) && missing > float64(sent.Tokens)*sent.Margin/2
}

// contextSized says whether a count is one that servers are set to cut prompts at.
func contextSized(n int) bool { return n%contextStep == 0 || (n+1)%contextStep == 0 }

// possible says whether a report can be of what was sent, if it was not cut.
func possible(sent Count, reported int) bool {
	return reported > 0 && reported <= maxTokens && reported <= absurd*sent.Tokens+contextStep
}

// Contradicts reports whether a provider's count of a prompt shows that sent was counted with the vocabulary of another model: the
// report is less than half of it or more than twice as much, and near what another vocabulary makes of the same prompt: by half
// of the report at most, and four times nearer. Of a cut prompt, and of what a template adds, both are as far.
func Contradicts(sent, other, reported int) bool {
	if reported <= 0 || contextSized(reported) {
		return false
	}
	miss, off := max(sent-reported, reported-sent), max(other-reported, reported-other)
	return miss > min(sent, reported) && 2*off <= reported && 4*off < miss
}
