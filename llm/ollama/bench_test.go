package ollama_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/turnstone-dev/turnstone/llm/ollama"
)

// BenchmarkVocabulary reads a vocabulary of the size of the largest that models have, from a server and from
// the cache.
func BenchmarkVocabulary(b *testing.B) {
	const size = 262_144
	tokens, merges, types := make([]string, size), make([]string, 2*size), make([]int, size)
	for i := range size {
		tokens[i], types[i] = fmt.Sprintf("Ġtoken%d", i), 1
		merges[2*i], merges[2*i+1] = fmt.Sprintf("Ġtoken %d", i), fmt.Sprintf("Ġto ken%d", i)
	}
	body, err := json.Marshal(map[string]any{"model_info": map[string]any{
		"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges, "tokenizer.ggml.token_type": types,
	}})
	if err != nil {
		b.Fatal(err)
	}
	s := newServer(b)
	s.answer = func(w http.ResponseWriter, _ *http.Request) {
		if _, err := bytes.NewReader(body).WriteTo(w); err != nil {
			b.Error(err)
		}
	}
	for name, folder := range map[string]string{"asked": "", "cached": b.TempDir()} {
		client := ollama.NewClient(s.URL, ollama.Config{Cache: folder})
		b.Run(name, func(b *testing.B) {
			read := func() {
				if v, _, err := client.Vocabulary(b.Context(), llama); err != nil || len(v.Tokens) != size {
					b.Fatal(err)
				}
			}
			read() // fills the cache
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				read()
			}
		})
	}
}
