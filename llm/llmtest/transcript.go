package llmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/llm"
)

// Transcript asks the model and writes down what it yields, a line for each piece.
func Transcript(ctx context.Context, m llm.Model, r llm.Request) string {
	var b strings.Builder
	for chunk, err := range m.Stream(ctx, r) {
		if err != nil {
			fmt.Fprintf(&b, "= error %v\n", err)
			writeDetails(&b, err)
			continue
		}
		if chunk.Thinking != "" {
			fmt.Fprintf(&b, "= thinking %q\n", chunk.Thinking)
		}
		if chunk.Text != "" {
			fmt.Fprintf(&b, "= text %q\n", chunk.Text)
		}
		for _, c := range chunk.Calls {
			id := c.ID
			if strings.HasPrefix(id, "call_") && len(id) > len("call_")+20 {
				id = "(made up)"
			}
			fmt.Fprintf(&b, "= call %s %s %s\n", id, c.Name, c.Arguments)
			if err := c.Check(); err != nil {
				fmt.Fprintf(&b, "= broken %v\n", err)
			}
		}
		if chunk.Stop != "" {
			u := chunk.Usage
			fmt.Fprintf(&b, "= %s prompt %d cached %d answer %d", chunk.Stop, u.Prompt, u.Cached, u.Answer)
			if u.PromptTime > 0 {
				fmt.Fprintf(&b, " read in %s", u.PromptTime)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func writeDetails(b *strings.Builder, err error) {
	var e *llm.Error
	if !errors.As(err, &e) {
		return
	}
	var details []string
	for _, d := range []struct {
		name string
		is   bool
		of   any
	}{
		{"temporary", e.Temporary, ""},
		{"retry after", e.RetryAfter > 0, e.RetryAfter},
		{"prompt", e.Prompt > 0, e.Prompt},
		{"context", e.Context > 0, e.Context},
	} {
		if d.is {
			details = append(details, strings.TrimSpace(fmt.Sprint(d.name, " ", d.of)))
		}
	}
	if len(details) > 0 {
		fmt.Fprintf(b, "= %s\n", strings.Join(details, ", "))
	}
}
