package ollama

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/turnstone-dev/turnstone/budget"
)

// Details is what a server says of a model. Numbers and words that it does not tell are zero and empty.
type Details struct {
	Family       string // llama
	Quantization string // Q4_K_M
	// Context is the largest context that the model was made for, in tokens.
	Context int
	// Size is billions of parameters.
	Size float64
	// Capabilities are such as completion, tools, vision, thinking. Servers before 0.6.4 name none.
	Capabilities []string
}

// Details asks the server for a model. [ErrNotFound] if it has none of that name; an *[AnswerError] if the
// answer cannot be right.
func (c *Client) Details(ctx context.Context, model string) (Details, error) {
	s, err := c.show(ctx, model, false)
	if err != nil {
		return Details{}, fmt.Errorf("details of %s: %w", model, err)
	}
	d := Details{Family: s.family, Quantization: s.quantization, Capabilities: s.capabilities}
	context := s.contexts[s.architecture]
	if context < 0 || context > budget.MaxContext {
		return Details{}, fmt.Errorf("details of %s: %w", model,
			answerError(showEndpoint, model, unlike(s.architecture+".context_length", fmt.Sprintf("%d is no context size", context))))
	}
	d.Context = int(context)
	const most = 1e15
	if s.parameters < 0 || s.parameters > most {
		return Details{}, fmt.Errorf("details of %s: %w", model,
			answerError(showEndpoint, model, unlike("general.parameter_count", fmt.Sprintf("%d is no number of parameters", s.parameters))))
	}
	d.Size = math.Round(float64(s.parameters)/1e7) / 100
	return d, nil
}

const (
	vision = "vision"
	// picture is what a picture costs in most models at most, for one that has no profile of its own.
	picture = 1600
	// nominal is how far the parameters of a model may be from the size in its name: one called 7b has 6.7
	// or 7.6 billion, and is rated by its name.
	nominal = 0.15
)

// Complete returns the profile with what the server knows better: context, size, pictures, and that it is
// served by Ollama and its tokenizer can be asked for. A size that is near what the server says is kept.
// When the server cannot be asked, or says what cannot be, the error comes with the profile as it was.
func (c *Client) Complete(ctx context.Context, p budget.Profile) (budget.Profile, error) {
	d, err := c.Details(ctx, p.Name)
	if err != nil {
		return p, err
	}
	better := p
	better.Provider, better.Tokenizer = budget.Ollama, budget.AskOllama
	if d.Context > 0 {
		better.Context = d.Context
		better.Contexts = slices.DeleteFunc(slices.Clone(p.Contexts), func(size int) bool { return size > d.Context })
	}
	if d.Size > 0 && math.Abs(p.Size-d.Size) > nominal*d.Size {
		better.Size = d.Size
	}
	if len(d.Capabilities) > 0 {
		better.Vision = slices.Contains(d.Capabilities, vision)
	}
	if better.Vision && better.Template.Image == 0 {
		better.Template.Image = picture
	}
	if err := better.Check(); err != nil {
		return p, fmt.Errorf("profile of %s: %w", p.Name, answerError(showEndpoint, p.Name, unlike("the answer", err.Error())))
	}
	return better, nil
}
