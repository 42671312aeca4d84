package budget

import "math"

// Compression says when a conversation has to shrink, and what it keeps then. The zero value is ready for use.
type Compression struct {
	// Off never lets anything leave the prompt: one that does not fit is refused.
	Off bool
	// Strategy is what becomes of turns that leave the prompt. Defaults to [Summarize].
	Strategy Strategy
	// Threshold is how much of its room the conversation may fill before it shrinks. Defaults to 0.80.
	Threshold float64
	// PreserveRecent is how many tokens of the newest turns stay at least when turns leave; no more than 30 %
	// of the usable window, so that a small one can shrink. Defaults to 2,048, or to three tenths of what the
	// conversation may grow to where that is less, so that a small window need not shrink at every turn.
	PreserveRecent int
	// SummaryMaxTokens is how many tokens one summary may have at most; what the tier and the level of a
	// checkpoint allow holds too. Defaults to 1,024.
	SummaryMaxTokens int
}

// Strategy is what becomes of turns that leave the prompt.
type Strategy string

// The strategies.
const (
	// Summarize puts a summary in their place, and keeps what may never be compressed.
	Summarize Strategy = "summarize"
	// Truncate only says that they are gone.
	Truncate Strategy = "truncate"
)

const (
	defaultThreshold = 0.80
	leastThreshold   = 0.30
	defaultPreserve  = 2048
	preservePercent  = 30
	// Of what the conversation may grow to: what stays by default, and what stays at most if it is asked for.
	usualPercent = 30
	askedPercent = 75

	defaultSummaryMax = 1024
	leastSummaryMax   = 64
)

// WithDefaults returns the settings with their defaults, or a *[FieldError] that names what is nonsense.
func (c Compression) WithDefaults() (Compression, error) {
	if c.Threshold == 0 {
		c.Threshold = defaultThreshold
	}
	if c.Strategy == "" {
		c.Strategy = Summarize
	}
	if c.SummaryMaxTokens == 0 {
		c.SummaryMaxTokens = defaultSummaryMax
	}
	if c.Strategy != Summarize && c.Strategy != Truncate {
		return c, fieldErrorf("compression.strategy", "use summarize or truncate", "%.40q is no strategy", string(c.Strategy))
	}
	if math.IsNaN(c.Threshold) || c.Threshold < leastThreshold || c.Threshold > 1 {
		return c, fieldErrorf("compression.threshold", "give a share from 0.30 to 1, or 0 for the default", "%g is no such share", c.Threshold)
	}
	if c.PreserveRecent < 0 || c.PreserveRecent > MaxContext {
		return c, fieldErrorf("compression.preserveRecent", "give a number of tokens, or 0 for the default", "%d is no such number", c.PreserveRecent)
	}
	if c.SummaryMaxTokens < leastSummaryMax || c.SummaryMaxTokens > MaxContext {
		return c, fieldErrorf("compression.summaryMaxTokens", "give 64 tokens or more, or 0 for the default", "%d is no such number", c.SummaryMaxTokens)
	}
	return c, nil
}

// Preserved is how many tokens of the newest turns stay at least in a window in which the conversation may grow
// to so many tokens before turns leave.
func (c Compression) Preserved(w Window, grows int) int {
	most := share(w.Usable, preservePercent)
	if c.PreserveRecent == 0 {
		return min(defaultPreserve, most, share(grows, usualPercent))
	}
	return min(c.PreserveRecent, most, share(grows, askedPercent))
}
