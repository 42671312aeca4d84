package ollama

import (
	"context"
	"fmt"
	"strings"
)

const (
	tagsEndpoint = "/api/tags"
	maxModels    = 100_000
)

// Digest returns the digest of the model that the server has under a name: 64 hexadecimal digits that change
// when the model does. [ErrNotFound] if it has none of that name; an *[AnswerError] if the answer cannot be
// right.
func (c *Client) Digest(ctx context.Context, model string) (string, error) {
	wanted := tagged(model)
	digest, found := "", false
	err := c.ask(ctx, tagsEndpoint, model, nil, maxAnswer, func(r *reader) error {
		return eachTag(r, func(l Listed) {
			if !found && strings.EqualFold(tagged(l.Name), wanted) {
				digest, found = l.Digest, true
			}
		})
	})
	if err != nil {
		return "", fmt.Errorf("digest of %s: %w", model, err)
	}
	if !found {
		return "", fmt.Errorf("digest: %w: %s; run: ollama pull %s", ErrNotFound, model, model)
	}
	digest = strings.TrimPrefix(digest, "sha256:")
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return "", fmt.Errorf("digest of %s: %w", model,
			answerError(tagsEndpoint, model, unlike("digest", fmt.Sprintf("%.80q is none", digest))))
	}
	return digest, nil
}

// tagged is a model's name with the tag that it has when none is given.
func tagged(model string) string {
	if strings.Contains(model[strings.LastIndexByte(model, '/')+1:], ":") {
		return model
	}
	return model + ":latest"
}
