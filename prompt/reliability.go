package prompt

import (
	"strings"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/cortex"
)

// generations is how many lossy generations lie between the log and checkpoints. A checkpoint is made of turns and never
// of a summary, however often it ages and whatever stands in the log beside them: where one stands it is one.
func generations(checkpoints []compress.Checkpoint) int { return min(len(checkpoints), 1) }

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
