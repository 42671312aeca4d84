package server

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/budget"
)

func (s *Server) registerModels(api huma.API) {
	handle(s, api, route{
		method: http.MethodGet, path: "/models", id: "listModels", tag: "models",
		summary: "The models whose windows and tokenizers are known",
		about:   "A model that nobody has heard of is no error: it is taken to have a context of 8,192 tokens, and its tokens are estimated.",
	}, listModels)
	handle(s, api, route{
		method: http.MethodPost, path: "/tokens", id: "countTokens", tag: "models", scope: access.Read,
		summary: "Count the tokens of a text for a model",
		about:   "The text alone is counted, without what a model's template puts around a message. Nothing is noted of it.",
	}, countTokens)
}

// profileDoc is a model: what [budget.Profile.AppendJSON] writes.
type profileDoc struct {
	Name      string       `json:"name"`
	Aliases   []string     `json:"aliases,omitempty" doc:"other names"`
	Provider  string       `json:"provider,omitempty" doc:"who serves it"`
	Context   int          `json:"context" doc:"its largest context in tokens"`
	Contexts  []int        `json:"contexts,omitempty" doc:"sizes to offer"`
	Size      float64      `json:"size,omitempty" doc:"billions of parameters"`
	Tokenizer string       `json:"tokenizer,omitempty" doc:"what it is counted with"`
	Template  *templateDoc `json:"template,omitempty" doc:"how many tokens the template adds"`
	Vision    bool         `json:"vision,omitempty" doc:"it takes pictures"`
}

type templateDoc struct {
	Prompt  int `json:"prompt,omitempty" doc:"for a prompt"`
	Message int `json:"message,omitempty" doc:"for a message"`
	Call    int `json:"call,omitempty" doc:"for a tool call"`
	Tool    int `json:"tool,omitempty" doc:"for a tool"`
	Image   int `json:"image,omitempty" doc:"for a large picture"`
}

type profilesDoc struct {
	Items []profileDoc `json:"items"`
}

func listModels(_ context.Context, eng *turnstone.Engine, _ *nothing) (*answer[exact[profilesDoc]], error) {
	text := list([]byte(`{"items":`), eng.Models(), func(dst []byte, p budget.Profile) []byte { return p.AppendJSON(dst) })
	return exactly[profilesDoc](append(text, '}')), nil
}

type tokensInput struct {
	Body struct {
		Text  string `json:"text" doc:"what is counted"`
		Model string `json:"model,omitempty" doc:"for which model; an estimate for most if it is left out"`
	}
}

type counted struct {
	Tokens    int     `json:"tokens"`
	Certainty string  `json:"certainty" enum:"exact,calibrated,estimated"`
	Margin    float64 `json:"margin"`
	Upper     int     `json:"upper" doc:"with the margin of the count"`
	Bytes     int     `json:"bytes" doc:"the length of the text"`
	Model     string  `json:"model,omitempty"`
	Known     bool    `json:"known" doc:"the model is one that is known"`
}

func countTokens(ctx context.Context, eng *turnstone.Engine, in *tokensInput) (*answer[counted], error) {
	count, err := eng.Count(ctx, in.Body.Model, in.Body.Text)
	if err != nil {
		return nil, err
	}
	_, known := eng.Profile(in.Body.Model)
	return answered(counted{count.Tokens, string(count.Certainty), count.Margin, count.Upper(), len(in.Body.Text), in.Body.Model, known}), nil
}
