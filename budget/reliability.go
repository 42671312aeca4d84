package budget

import (
	"fmt"
	"strings"
)

// Reliability says how far a compressed conversation can be relied on.
type Reliability struct {
	Score float64 // from 0 to 1
	Level Level
}

// Level is a range of reliability scores.
type Level string

// The levels: from 85 %, from 60 %, from 40 %, and below.
const (
	High     Level = "high"
	Medium   Level = "medium"
	Low      Level = "low"
	Critical Level = "critical"
)

const (
	penaltyPerGeneration = 0.15
	leastPenalty         = 0.30
	// scoreSlack lets a product such as 0.85 × 1 × 1 reach its level whatever its last bit is.
	scoreSlack = 1e-9
)

// Rate returns the reliability of a conversation: a factor for the model's size in billions of parameters
// ([Profile.RatedSize]), less 15 % for each lossy generation between the log and the prompt but never below
// 30 %, times the confidence, which is the share of what matters in the compressed ranges that the prompt
// still holds. A confidence outside 0 to 1 is taken as the nearer end, and NaN as 0.
func Rate(size float64, generations int, confidence float64) Reliability {
	if !(confidence > 0) {
		confidence = 0
	}
	penalty := max(1-penaltyPerGeneration*float64(max(generations, 0)), leastPenalty)
	score := sizeFactor(size) * penalty * min(confidence, 1)
	return Reliability{Score: score, Level: levelOf(score + scoreSlack)}
}

func sizeFactor(size float64) float64 {
	switch {
	case size >= 70:
		return 0.95
	case size >= 30:
		return 0.85
	case size >= 13:
		return 0.70
	case size >= 7:
		return 0.50
	}
	return 0.30
}

func levelOf(score float64) Level {
	switch {
	case score >= 0.85:
		return High
	case score >= 0.60:
		return Medium
	case score >= 0.40:
		return Low
	}
	return Critical
}

// Icon is the level's coloured dot.
func (l Level) Icon() string {
	switch l {
	case High:
		return "🟢"
	case Medium:
		return "🟡"
	case Low:
		return "🟠"
	}
	return "🔴"
}

// Meaning says the level in plain words.
func (l Level) Meaning() string {
	switch l {
	case High:
		return "excellent reliability"
	case Medium:
		return "good reliability"
	case Low:
		return "degraded reliability"
	}
	return "poor reliability"
}

// Advice is what to do at a level, one line each; there is none for high and medium.
func (l Level) Advice() []string {
	switch l {
	case High, Medium:
		return nil
	case Low:
		return []string{
			"Continue if you are making good progress.",
			"Start a new conversation if the model makes things up.",
			"Use a larger model for complex long tasks.",
		}
	}
	return []string{
		"Start a new conversation.",
		"Use a larger model (13B or more).",
		"Review the important decisions and pin them.",
		"Take a snapshot before you continue.",
	}
}

// largeEnough are the sizes, in billions of parameters, from which on a model is not told to be larger at a level.
var largeEnough = map[Level]float64{Low: 70, Critical: 13}

// Advice is what can be done about a conversation that cannot be relied on, for a model that has a context of so many tokens
// now: no size is asked of a model whose size nobody tells, and a larger context of one only that is known to have it. Option
// is what the caller gives that with, such as "--context". There is none for high and medium.
func (r Reliability) Advice(p Profile, known bool, context int, option string) (advice []string) {
	for _, line := range r.Level.Advice() {
		if strings.HasPrefix(line, "Use a larger model") && (p.Size == 0 || p.Size >= largeEnough[r.Level]) {
			continue
		}
		advice = append(advice, line)
	}
	if len(advice) > 0 && known && context < p.Context {
		advice = append(advice, fmt.Sprintf("Use a larger context with %s: it may have up to %s tokens.", option, grouped(p.Context)))
	}
	return advice
}

// Small reports whether a model may lose track for its size alone.
func (p Profile) Small() bool { return p.RatedSize() < largeEnough[Critical] }

// Warning is what people are told of a conversation that was compressed so many times and can no longer be
// relied on, with the advice of its level; lines without a line feed at the end. Model is who made the summaries,
// empty where no model did. The warning is empty at the levels high and medium, and where nothing was compressed.
func Warning(model string, passes int, r Reliability) string {
	advice := r.Level.Advice()
	if len(advice) == 0 || passes < 1 {
		return ""
	}
	times, after := "once", "a compression"
	if passes > 1 {
		times, after = grouped(passes)+" times", "multiple compressions"
	}
	compressed := fmt.Sprintf("The conversation was compressed %s.", times)
	if model != "" {
		compressed = fmt.Sprintf("Your model (%s) has compressed the conversation %s.", model, times)
	}
	return fmt.Sprintf("⚠️ Context Compression Warning\n%s\n"+
		"Small models may lose context accuracy after %s.\n\nRecommendations:\n- %s", compressed, after, strings.Join(advice, "\n- "))
}
