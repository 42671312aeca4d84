package openai_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/openai"
	"github.com/turnstone-dev/turnstone/recall"
)

var _ recall.Embedder = (*openai.Model)(nil)

// embedder is a model whose server answers so, one answer after the other, and that server.
func embedder(t *testing.T, answers ...string) (*openai.Model, *llmtest.Canned) {
	t.Helper()
	s := llmtest.Answers(t, answers...)
	return openai.New("nomic", openai.Options{BaseURL: s.URL + "/v1", HTTP: s.HTTP}), s
}

func TestEmbed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []string
		want    [][]float32
		kind    error
		asked   int
	}{
		{"in another order", []string{"200 {\"object\":\"list\",\n \"data\":[{\"index\":1,\"embedding\":[2,-3e-2]},\n{\"index\":0,\"embedding\":[0.5,1]}],\"usage\":{\"prompt_tokens\":3}}"}, [][]float32{{0.5, 1}, {2, -0.03}}, nil, 1},
		{"too many requests at first", []string{`429 {"error":{"message":"slow down"}}`, `200 {"data":[{"embedding":[1]},{"index":1,"embedding":[2]}]}`}, [][]float32{{1}, {2}}, nil, 2},
		{"no model", []string{`404 {"error":{"message":"The model nomic does not exist","code":"model_not_found"}}`}, nil, llm.ErrModelMissing, 1},
		{"no key", []string{`401 {"error":{"message":"no key"}}`}, nil, llm.ErrRefused, 1},
		{"too few", []string{`200 {"data":[{"index":0,"embedding":[1]}]}`}, nil, llm.ErrFailed, 1},
		{"one twice", []string{`200 {"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`}, nil, llm.ErrFailed, 1},
		{"out of range", []string{`200 {"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`}, nil, llm.ErrFailed, 1},
		{"before the first", []string{`200 {"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]}`}, nil, llm.ErrFailed, 1},
		{"an error that is null", []string{`200 {"error":null,"data":[{"embedding":[1]},{"index":1,"embedding":[2]}]}`}, [][]float32{{1}, {2}}, nil, 1},
		{"an error in place of data", []string{`200 {"error":{"message":"it has no pooling"}}`}, nil, llm.ErrFailed, 1},
		{"cut", []string{`200 {"data":[{"index":0,`}, nil, llm.ErrInterrupted, 1},
		{"somebody else", []string{`200 <html>`}, nil, llm.ErrFailed, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := embedder(t, tt.answers...)
				got, err := m.Embed(t.Context(), []string{"a heron", ""})
				asked := s.Asked()
				if diff := cmp.Diff(tt.want, got); diff != "" || tt.kind == nil && err != nil || !errors.Is(err, tt.kind) || len(asked) != tt.asked {
					t.Errorf("%v after %q: %s", err, asked, diff)
				}
				if want := `POST /v1/embeddings {"model":"nomic","input":["a heron"," "]}`; asked[0] != want {
					t.Errorf("asked %s, want %s", asked[0], want)
				}
			})
		})
	}
}

func TestEmbedWithAKey(t *testing.T) {
	const key = "sk-very-secret"
	t.Setenv("OTHER_KEY", key)
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+key || r.URL.String() != "/v1/embeddings?version=7" {
				t.Errorf("%s with %v", r.URL, r.Header)
			}
			http.Error(w, `{"error":{"message":"bad key `+key+`"}}`, http.StatusUnauthorized)
		}))
		m := openai.New("m", openai.Options{BaseURL: s.URL + "/v1?version=7", HTTP: s.HTTP, KeyVariable: "OTHER_KEY"})
		if _, err := m.Embed(t.Context(), []string{"a"}); err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "OTHER_KEY") {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := openai.New("m", openai.Options{BaseURL: "ftp://box"}).Embed(t.Context(), []string{"a"}); !errors.Is(err, llm.ErrUnreachable) || !strings.Contains(err.Error(), "give a URL") {
			t.Error(err)
		}
	})
}

// A server that says too much is not read to its end.
func TestEmbedWithinLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { llmtest.Speak(w, r, `{"data":[{"embedding":[1]}]}`) }))
		m := openai.New("m", openai.Options{BaseURL: s.URL, HTTP: s.HTTP, Limits: llm.Limits{Total: 9}})
		if _, err := m.Embed(t.Context(), []string{"a"}); !errors.Is(err, llm.ErrFailed) || !strings.Contains(err.Error(), "Limits") {
			t.Error(err)
		}
	})
}
