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
		return r.members("the answer", func(name string) error {
			if name != "models" {
				return r.skip()
			}
			return r.elements(name, maxModels, func() error {
				at, its, err := readTag(r)
				if err == nil && !found && strings.EqualFold(tagged(at), wanted) {
					digest, found = its, true
				}
				return err
			})
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

// readTag reads one model of the list.
func readTag(r *reader) (name, digest string, err error) {
	err = r.members("models[]", func(field string) (err error) {
		switch field {
		case "name":
			name, err = r.string("models[].name")
		case "digest":
			digest, err = r.string("models[].digest")
		default:
			err = r.skip()
		}
		return err
	})
	return name, digest, err
}

// tagged is a model's name with the tag that it has when none is given.
func tagged(model string) string {
	if strings.Contains(model[strings.LastIndexByte(model, '/')+1:], ":") {
		return model
	}
	return model + ":latest"
}
