package ollama_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

const (
	llama       = "llama3.2:latest"
	llamaDigest = "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72"
	otherDigest = "b99944c07117fdbcee2c5bb3aaf3ba0c4a2d5d1c6cd4bb5e1a31b5e1bbbb0cd2"
)

// server answers as Ollama 0.17 does, and counts what it is asked. answer, where it is set, answers
// /api/show in its place.
type server struct {
	*httptest.Server
	answer http.HandlerFunc

	mu     sync.Mutex // guards what follows
	asked  map[string]int
	models map[string]string         // digests by name
	info   map[string]map[string]any // model_info by name
}

func newServer(t testing.TB) *server {
	s := &server{
		asked:  map[string]int{},
		models: map[string]string{llama: llamaDigest, "gemma3:4b": otherDigest},
		info:   map[string]map[string]any{llama: llamaInfo(), "gemma3:4b": gemmaInfo()},
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[r.Method+" "+r.URL.Path]++
	switch r.Method + " " + r.URL.Path {
	case "GET /api/tags":
		s.tags(w)
	case "POST /api/show":
		if s.answer != nil {
			s.answer(w, r)
			return
		}
		s.show(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (s *server) tags(w http.ResponseWriter) {
	type model struct {
		Name       string            `json:"name"`
		Model      string            `json:"model"`
		ModifiedAt string            `json:"modified_at"`
		Size       int64             `json:"size"`
		Digest     string            `json:"digest"`
		Details    map[string]string `json:"details"`
	}
	list := []model{}
	for name, digest := range s.models {
		list = append(list, model{name, name, "2026-01-02T03:04:05Z", 2019393189, digest, map[string]string{"format": "gguf"}})
	}
	reply(w, http.StatusOK, map[string]any{"models": list})
}

func (s *server) show(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model   string
		Verbose bool
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		reply(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
		return
	}
	info, ok := s.info[request.Model]
	if !ok {
		info, ok = s.info[request.Model+":latest"]
	}
	if !ok {
		reply(w, http.StatusNotFound, map[string]string{"error": fmt.Sprintf("model '%s' not found", request.Model)})
		return
	}
	info = maps.Clone(info)
	if !request.Verbose {
		for _, name := range []string{"tokens", "merges", "token_type", "scores"} {
			if _, has := info["tokenizer.ggml."+name]; has {
				info["tokenizer.ggml."+name] = nil
			}
		}
	}
	reply(w, http.StatusOK, map[string]any{
		"license":      "a licence",
		"modelfile":    "FROM x",
		"template":     "{{ .Prompt }}",
		"details":      map[string]any{"family": "llama", "families": []string{"llama"}, "parameter_size": "3.2B", "quantization_level": "Q4_K_M"},
		"model_info":   info,
		"tensors":      []any{map[string]any{"name": "token_embd.weight", "shape": []int{3072, 128256}}},
		"capabilities": []string{"completion", "tools"},
	})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}

func (s *server) count(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[request]
}

func llamaInfo() map[string]any {
	v := byteVocabulary()
	return map[string]any{
		"general.architecture":                    "llama",
		"general.parameter_count":                 int64(3212749888),
		"llama.context_length":                    131072,
		"llama.rope.freq_base":                    500000.5,
		"tokenizer.ggml.bos_token_id":             128000,
		"tokenizer.ggml.model":                    v.Model,
		"tokenizer.ggml.pre":                      v.Pre,
		"tokenizer.ggml.tokens":                   v.Tokens,
		"tokenizer.ggml.token_type":               v.Types,
		"tokenizer.ggml.merges":                   v.Merges,
		"llama.attention.layer_norm_rms_epsilon":  1e-5,
		"general.languages":                       []string{"en", "de"},
		"llama.vision.nested.context_length.more": 7,
	}
}

func gemmaInfo() map[string]any {
	return map[string]any{
		"general.architecture":            "gemma3",
		"general.parameter_count":         int64(4299915632),
		"gemma3.context_length":           131072,
		"tokenizer.ggml.model":            "llama",
		"tokenizer.ggml.pre":              "default",
		"tokenizer.ggml.tokens":           []string{"<unk>", "▁", "a", "▁a"},
		"tokenizer.ggml.token_type":       []int{2, 1, 1, 1},
		"tokenizer.ggml.scores":           []float64{0, -1.5, -2, -1000},
		"tokenizer.ggml.add_space_prefix": false,
	}
}

// byteVocabulary is a vocabulary of bytes and two merges, in the letters that GPT-2 writes bytes in.
func byteVocabulary() bpe.Vocabulary {
	v := bpe.Vocabulary{Model: "gpt2", Pre: "llama-bpe", Merges: []string{"h e", "l l"}}
	next := rune(256)
	for b := range rune(256) {
		shown := b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE
		if !shown {
			b, next = next, next+1
		}
		v.Tokens = append(v.Tokens, string(b))
		v.Types = append(v.Types, 1)
	}
	v.Tokens = append(v.Tokens, "he", "ll", "<|begin_of_text|>")
	v.Types = append(v.Types, 1, 1, 3)
	return v
}
