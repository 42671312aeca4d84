package budget

import (
	"math"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// The tokenizers that a profile can name. An empty one means that nobody knows.
const (
	O200k  = "o200k"
	Cl100k = "cl100k"
	// AskOllama means that the server is asked for the model's vocabulary.
	AskOllama = "ollama"
)

// The providers that the built-in profiles name. A profile may name any other.
const (
	Ollama    = "ollama"
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Google    = "google"
	Mistral   = "mistral"
	DeepSeek  = "deepseek"
	XAI       = "xai"
)

const (
	maxName     = 200
	maxAliases  = 100
	maxContexts = 100
	maxSize     = 100_000
	maxTemplate = 65_536
)

// Profile is what is known of a model. Its slices must not be changed.
type Profile struct {
	Name    string
	Aliases []string
	// Provider is who serves it: ollama, openai, anthropic and so on.
	Provider string
	// Context is its largest context in tokens.
	Context int
	// Contexts are sizes to offer, ascending. It may be empty.
	Contexts []int
	// Size is billions of parameters, 0 where it is not known.
	Size float64
	// Tokenizer is o200k, cl100k, ollama (asked of the server), or empty where it is not known.
	Tokenizer string
	Template  Template
	// Vision says that it takes pictures.
	Vision bool
}

// Template is how many tokens the model's chat template adds: per prompt, message, tool call and tool
// definition. Image is what a large picture costs.
type Template struct{ Prompt, Message, Call, Tool, Image int }

// undisclosed is the size by which a hosted model is rated when its maker does not tell.
const undisclosed = 70

// RatedSize is the size to [Rate] the model by. A hosted model whose size was never published is rated as
// a large one, a local one of unknown size as the smallest.
func (p Profile) RatedSize() float64 {
	if p.Size == 0 && p.Provider != Ollama && p.Provider != "" {
		return undisclosed
	}
	return p.Size
}

// Check returns a *[FieldError] that names the first field that is nonsense.
func (p Profile) Check() error {
	if err := checkModelName("name", p.Name); err != nil {
		return err
	}
	if len(p.Aliases) > maxAliases {
		return fieldErrorf("aliases", "give at most 100", "%d are too many", len(p.Aliases))
	}
	for i, alias := range p.Aliases {
		if err := checkModelName(record.Indexed("aliases", i), alias); err != nil {
			return err
		}
	}
	if len(p.Provider) > maxName || strings.ContainsFunc(p.Provider, unprintable) {
		return fieldErrorf("provider", "use a short name such as ollama or openai", "%.40q is no provider", p.Provider)
	}
	if err := checkContext("context", p.Context); err != nil {
		return err
	}
	if err := p.checkContexts(); err != nil {
		return err
	}
	if math.IsNaN(p.Size) || p.Size < 0 || p.Size > maxSize {
		return fieldErrorf("size", "give billions of parameters, or 0 if they are not known", "%g is no size", p.Size)
	}
	switch p.Tokenizer {
	case "", O200k, Cl100k, AskOllama:
	default:
		return fieldErrorf("tokenizer", "use o200k, cl100k or ollama, or leave it out", "%.40q is not known", p.Tokenizer)
	}
	return p.Template.check()
}

func (p Profile) checkContexts() error {
	if len(p.Contexts) > maxContexts {
		return fieldErrorf("contexts", "give at most 100", "%d are too many", len(p.Contexts))
	}
	for i, context := range p.Contexts {
		field := record.Indexed("contexts", i)
		if err := checkContext(field, context); err != nil {
			return err
		}
		if context > p.Context {
			return fieldErrorf(field, "leave it out or correct the context", "%d is more than the model's context of %d", context, p.Context)
		}
	}
	if !slices.IsSorted(p.Contexts) {
		return fieldErrorf("contexts", "give the smallest first", "are not ascending")
	}
	return nil
}

func (t Template) check() error {
	for _, f := range []struct {
		name string
		n    int
	}{{"prompt", t.Prompt}, {"message", t.Message}, {"call", t.Call}, {"tool", t.Tool}, {"image", t.Image}} {
		if f.n < 0 || f.n > maxTemplate {
			return fieldErrorf("template."+f.name, "give a number of tokens from 0 to 65,536", "%d is no such number", f.n)
		}
	}
	return nil
}

func checkModelName(field, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fieldErrorf(field, "give the name that the provider knows it by", "is empty")
	case len(name) > maxName:
		return fieldErrorf(field, "use at most 200 bytes", "has %d bytes", len(name))
	case strings.ContainsFunc(name, unprintable):
		return fieldErrorf(field, "use printable characters", "%.40q has characters that do not show", name)
	}
	return nil
}

func unprintable(r rune) bool { return r < ' ' || r == 0x7F || r == '\uFFFD' }
