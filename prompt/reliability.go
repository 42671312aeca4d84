package prompt

import (
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
)

// generations is how many lossy generations lie between the log and checkpoints: the mean of theirs by their tokens, rounded
// up. A checkpoint is made of turns and never of an older one, however often it ages: that is one, and one more where a
// model had to read the turns in parts.
func generations(checkpoints []compress.Checkpoint) int {
	var sum, tokens int64
	for i := range checkpoints {
		c := &checkpoints[i]
		weight := max(c.CurrentTokens, 1)
		sum, tokens = sum+weight*c.Receipt.Lossy(), tokens+weight
	}
	if tokens == 0 {
		return 0
	}
	return int((sum + tokens - 1) / tokens)
}

// summarisers are the models that made summaries of checkpoints, each once.
func summarisers(checkpoints []compress.Checkpoint) (models []string) {
	for i := range checkpoints {
		if by := checkpoints[i].Receipt.By; by != compress.ByExtract && !slices.Contains(models, by) {
			models = append(models, by)
		}
	}
	return models
}

// Holds says how much of a goal the prompt holds word for word: of its title, milestones, decisions, artifacts and
// next steps.
func (p *Prompt) Holds(g *cortex.Goal) (held, total int) {
	var text strings.Builder
	for i := range p.Messages {
		if m := &p.Messages[i]; len(m.Seqs) == 0 && len(m.Parts) > 0 {
			text.WriteString(m.Parts[0].Text + "\n")
		}
	}
	must := append([]string{g.Title}, g.NextSteps...)
	for _, m := range g.Milestones {
		must = append(must, m.Description)
	}
	for _, d := range g.Decisions {
		must = append(must, d.Description)
	}
	for _, a := range g.Artifacts {
		must = append(must, a.Path)
	}
	for _, m := range must {
		if strings.Contains(text.String(), m) {
			held++
		}
	}
	return held, len(must)
}
