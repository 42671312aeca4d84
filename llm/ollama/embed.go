package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/llm"
)

const embedEndpoint = "/api/embed"

// Embed returns a vector for each text, of a model that is made for that. The server shortens what is too long for the
// model. Errors and second attempts are those of [Model.Stream].
func (m *Model) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.wrong != nil {
		return nil, m.wrong
	}
	return llm.Embed(ctx, m.name, texts, m.embed)
}

func (m *Model) embed(ctx context.Context, texts []string) (vectors [][]float32, err error) {
	body, err := strictjson.Marshal(struct {
		Model     string   `json:"model"`
		KeepAlive any      `json:"keep_alive,omitempty"`
		Input     []string `json:"input"`
	}{m.name, m.keepAlive(), texts})
	if err != nil {
		return nil, fmt.Errorf("request to %s: %w", m.name, err)
	}
	err = m.options.Backoff.Do(ctx, func() error {
		answer, err := httpstream.Request{
			Client: m.options.HTTP, URL: strings.TrimSuffix(m.url, chatEndpoint) + embedEndpoint, Body: body, Limits: httpstream.Limits(m.options.Limits),
		}.Whole(ctx)
		if err == nil {
			vectors, err = readVectors(answer)
		}
		if err != nil {
			return m.failure(ctx, err)
		}
		return nil
	})
	return vectors, err
}

func readVectors(answer []byte) ([][]float32, error) {
	var said struct{ Embeddings [][]float32 }
	err := json.Unmarshal(answer, &said)
	var cut *json.SyntaxError
	if errors.As(err, &cut) && cut.Offset >= int64(len(answer)) {
		return nil, fmt.Errorf("%w: %w", httpstream.ErrCut, err)
	}
	if err != nil {
		return nil, &llm.Error{
			Kind: llm.ErrFailed, Problem: fmt.Sprintf("its answer is not one of Ollama: %.80q", answer),
			Fix: "check the address, and that it is a model for embeddings", Err: err,
		}
	}
	return said.Embeddings, nil
}
