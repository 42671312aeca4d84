package client

import (
	"context"
	"net/http"
)

// ModelInfo is a model that the server knows.
type ModelInfo struct {
	Name      string   `json:"name"`
	Aliases   []string `json:"aliases"`
	Provider  string   `json:"provider"`
	Context   int      `json:"context"`   // its largest, in tokens
	Contexts  []int    `json:"contexts"`  // sizes to offer
	Size      float64  `json:"size"`      // billions of parameters, 0 where nobody knows
	Tokenizer string   `json:"tokenizer"` // what it is counted with
	Vision    bool     `json:"vision"`    // it takes pictures
}

// Models lists the models whose windows and tokenizers are known.
func (c *Client) Models(ctx context.Context) ([]ModelInfo, error) {
	found, err := ask[list[ModelInfo]](ctx, c, call{method: http.MethodGet, path: "/models", again: true})
	return found.Items, err
}

// Count is how many tokens a text has.
type Count struct {
	Tokens    int     `json:"tokens"`
	Certainty string  `json:"certainty"` // "exact", "calibrated" or "estimated"
	Margin    float64 `json:"margin"`    // by how much it may be wrong, as a share of it
	Upper     int     `json:"upper"`     // with the margin
	Known     bool    `json:"known"`     // the model is one that is known
}

type countDraft struct {
	Text  string `json:"text"`
	Model string `json:"model,omitempty"`
}

// Count counts the tokens of a text for a model, without what its template puts around a message.
func (c *Client) Count(ctx context.Context, model, text string) (Count, error) {
	return ask[Count](ctx, c, call{method: http.MethodPost, path: "/tokens", in: countDraft{text, model}, again: true})
}
