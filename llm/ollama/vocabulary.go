package ollama

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

// Vocabulary returns the vocabulary of a model and the digest of the model that it belongs to, from the cache
// if it is there. The server is asked for the digest each time. [ErrNotFound] if it does not have the model;
// an *[AnswerError] if its answer cannot be right or has no vocabulary. Whether the vocabulary makes sense is
// for [bpe.New] to say.
func (c *Client) Vocabulary(ctx context.Context, model string) (v bpe.Vocabulary, digest string, err error) {
	if digest, err = c.Digest(ctx, model); err != nil {
		return bpe.Vocabulary{}, "", fmt.Errorf("vocabulary: %w", err)
	}
	if c.cache != "" {
		v, err := c.cached(digest)
		if err == nil {
			return v, digest, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			c.report(fmt.Errorf("cached vocabulary of %s: %w", model, err))
		}
	}
	s, err := c.show(ctx, model, true)
	if err == nil {
		v, err = s.complete()
	}
	if err != nil {
		return bpe.Vocabulary{}, "", fmt.Errorf("vocabulary of %s: %w", model, answered(model, err))
	}
	if c.cache != "" {
		c.keep(ctx, model, digest, v)
	}
	return v, digest, nil
}

// answered gives an answer's error its place.
func answered(model string, err error) error {
	var made *AnswerError
	if errors.As(err, &made) && made.Endpoint == "" {
		made.Endpoint, made.Model = showEndpoint, model
	}
	return err
}

// complete checks that the vocabulary is all there.
func (s *shown) complete() (bpe.Vocabulary, error) {
	v := s.vocabulary
	const field = "model_info.tokenizer.ggml."
	switch {
	case v.Model == "":
		return v, unlike(field+"model", "is missing")
	case len(v.Tokens) == 0:
		return v, unlike(field+"tokens", "are missing")
	case v.Model == "gpt2" && len(v.Merges) == 0:
		return v, unlike(field+"merges", "are missing")
	case v.Model == "llama" && len(v.Scores) == 0:
		return v, unlike(field+"scores", "are missing")
	case len(v.Scores) != 0 && len(v.Scores) != len(v.Tokens):
		return v, unlike(field+"scores", fmt.Sprintf("there are %d of %d tokens", len(v.Scores), len(v.Tokens)))
	case len(v.Types) != 0 && len(v.Types) != len(v.Tokens):
		return v, unlike(field+"token_type", fmt.Sprintf("there are %d of %d tokens", len(v.Types), len(v.Tokens)))
	}
	// llama.cpp puts the space there unless the file says otherwise.
	v.AddSpacePrefix = v.Model == "llama"
	if s.spacePrefix != nil {
		v.AddSpacePrefix = *s.spacePrefix
	}
	return v, nil
}

// keep writes a vocabulary to the cache, unless the model was pulled anew while it was read: it may then be
// either's.
func (c *Client) keep(ctx context.Context, model, digest string, v bpe.Vocabulary) {
	now, err := c.Digest(ctx, model)
	if err == nil && now == digest {
		err = c.store(digest, v)
	}
	if err != nil {
		c.report(fmt.Errorf("cache of the vocabulary of %s: %w", model, err))
	}
}
