package ollama_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/llm/ollama"
	"github.com/turnstone-dev/turnstone/recall"
)

var _ recall.Embedder = (*ollama.Model)(nil)

// embedder is a model whose server answers so, one answer after the other, and that server.
func embedder(t *testing.T, answers ...string) (*ollama.Model, *llmtest.Canned) {
	t.Helper()
	s := llmtest.Answers(t, answers...)
	return ollama.New("nomic", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP}), s
}

func TestEmbed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		answers []string
		want    [][]float32
		kind    error
		asked   int
	}{
		{"two", []string{"200 {\"model\":\"nomic\",\n\"embeddings\":[[0.5,1],\n[2,-3e-2]],\"total_duration\":7}"}, [][]float32{{0.5, 1}, {2, -0.03}}, nil, 1},
		{"busy at first", []string{`503 {"error":"server busy"}`, `200 {"embeddings":[[1],[2]]}`}, [][]float32{{1}, {2}}, nil, 2},
		{"no model", []string{`404 {"error":"model \"nomic\" not found, try pulling it first"}`}, nil, llm.ErrModelMissing, 1},
		{"no embeddings", []string{`200 {"embeddings":[]}`}, nil, llm.ErrFailed, 1},
		{"of other lengths", []string{`200 {"embeddings":[[1],[1,2]]}`}, nil, llm.ErrFailed, 1},
		{"empty ones", []string{`200 {"embeddings":[[],[]]}`}, nil, llm.ErrFailed, 1},
		{"cut", []string{`200 {"embeddings":[[1],[`}, nil, llm.ErrInterrupted, 1},
		{"somebody else", []string{`200 <html>`}, nil, llm.ErrFailed, 1},
		{"nothing", []string{`200 `}, nil, llm.ErrInterrupted, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, s := embedder(t, tt.answers...)
				got, err := m.Embed(t.Context(), []string{"a heron", ""})
				asked := s.Asked()
				if diff := cmp.Diff(tt.want, got); diff != "" || tt.kind == nil && err != nil || !errors.Is(err, tt.kind) || len(asked) != tt.asked {
					t.Errorf("%v after %q: %s", err, asked, diff)
				}
				if want := `POST /api/embed {"model":"nomic","input":["a heron"," "]}`; asked[0] != want {
					t.Errorf("asked %s, want %s", asked[0], want)
				}
			})
		})
	}
}

// Many texts are sent some at a time, and of a long one its beginning.
func TestEmbedManyTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sizes, longest := []int{}, 0
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var sent struct{ Input []string }
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Error(err)
			}
			vectors := make([][]float32, len(sent.Input))
			for i, text := range sent.Input {
				vectors[i], longest = []float32{float32(len(text))}, max(longest, len(text))
			}
			sizes = append(sizes, len(vectors))
			if err := json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors}); err != nil {
				t.Error(err)
			}
		}))
		texts := make([]string, 130)
		for i := range texts {
			texts[i] = strings.Repeat("ä", 1+i)
		}
		texts[7] = strings.Repeat("ä", 50_000) + "x"
		got, err := ollama.New("nomic", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP}).Embed(t.Context(), texts)
		if err != nil || len(got) != 130 || got[129][0] != 260 || longest != 8000 || !cmp.Equal(sizes, []int{64, 64, 2}) {
			t.Errorf("%d vectors, %v, sizes %v, the longest %d", len(got), err, sizes, longest)
		}
		if none, err := ollama.New("nomic", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP}).Embed(t.Context(), nil); err != nil || len(none) != 0 || len(sizes) != 3 {
			t.Errorf("%v, %v", none, err)
		}
	})
}

func TestEmbedIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := embedder(t, `503 {"error":"server busy"}`)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Embed(ctx, []string{"a"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := ollama.New("nomic", ollama.Options{BaseURL: "ftp://box"}).Embed(t.Context(), []string{"a"}); !errors.Is(err, llm.ErrUnreachable) || !strings.Contains(err.Error(), "no address") {
			t.Error(err)
		}
	})
}

// A server that says too much is not read to its end.
func TestEmbedWithinLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { llmtest.Speak(w, r, `{"embeddings":[[1]]}`) }))
		m := ollama.New("nomic", ollama.Options{BaseURL: s.URL, HTTP: s.HTTP, Limits: llm.Limits{Total: 9}})
		if _, err := m.Embed(t.Context(), []string{"a"}); !errors.Is(err, llm.ErrFailed) || !strings.Contains(err.Error(), "Limits") {
			t.Error(err)
		}
	})
}
