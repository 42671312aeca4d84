package compress

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"

	"github.com/turnstone-dev/turnstone/cortex"
)

//go:embed prompt.tmpl
var promptText string

var promptTemplate = template.Must(template.New("prompt").Parse(promptText))

// question is what a model is asked, as the template reads it.
type question struct {
	Goal     *cortex.Goal
	Insights []string
	Guide    string
	// Merge says that Text is summaries of parts.
	Merge    bool
	Text     string
	Words    int
	Facts    []Fact
	Draft    string
	Problems []string
}

// prompt writes the goal-aware prompt that asks for a summary.
func (q *question) prompt() (string, error) {
	var b strings.Builder
	if err := promptTemplate.Execute(&b, q); err != nil {
		return "", fmt.Errorf("prompt for a summary: %w", err)
	}
	return b.String(), nil
}
