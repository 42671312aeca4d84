package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/llm"
)

// Embed returns a vector for each text, of a model that is made for that, from the server's /embeddings. Errors and second
// attempts are those of [Model.Stream].
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.wrong != nil {
		return nil, fmt.Errorf("request to %s: %w", m.name, m.wrong)
	}
	return llm.Embed(ctx, m.name, texts, m.embed)
}

func (m *Model) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	body, err := strictjson.Marshal(struct {
		Model string   `json:"model"`
		Input []string `json:"input"`
	}{m.name, texts})
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", m.name, err)
	}
	err = m.options.Backoff.Do(ctx, func() error {
		key, err := m.key()
		if err == nil {
			vectors, err = m.askVectors(ctx, body, key)
		}
		if err != nil {
			return m.failure(ctx, key, err)
		}
		return nil
	})
	return vectors, err
}

func (m *Model) askVectors(ctx context.Context, body []byte, key string) ([][]float32, error) {
	header := http.Header{}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	answer, err := httpstream.Request{
		Client: m.options.HTTP, URL: m.vectors, Header: header, Body: body,
		Limits: httpstream.Limits(m.options.Limits),
	}.Whole(ctx)
	if err != nil {
		return nil, err
	}
	var said struct {
		Error json.RawMessage
		Data  []struct {
			Index     int
			Embedding []float32
		}
	}
	err = json.Unmarshal(answer, &said)
	var cut *json.SyntaxError
	switch {
	case errors.As(err, &cut) && cut.Offset >= int64(len(answer)):
		return nil, fmt.Errorf("%w: %w", httpstream.ErrCut, err)
	case err != nil:
		return nil, &llm.Error{
			Kind: llm.ErrFailed, Problem: fmt.Sprintf("its answer is not one of Embeddings: %.80q", answer),
			Fix: "check the address, which mostly ends in /v1, and that it is a model for embeddings", Err: err,
		}
	case len(said.Error) > 0 && string(said.Error) != "null":
		return nil, complaint(0, said.Error).Judge(m.name)
	}
	// They come in any order.
	vectors := make([][]float32, len(said.Data))
	for _, d := range said.Data {
		if d.Index < 0 || d.Index >= len(vectors) {
			return nil, &llm.Error{Kind: llm.ErrFailed, Problem: fmt.Sprintf("of %d vectors one is for text %d", len(vectors), d.Index), Fix: "look into the server's log"}
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}
