package ollama_test

import (
	"os"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/llm/ollama"
)

// TestLiveServer asks a real server about the model that TURNSTONE_TEST_OLLAMA names, at
// TURNSTONE_TEST_OLLAMA_URL or the usual address.
func TestLiveServer(t *testing.T) {
	model := os.Getenv("TURNSTONE_TEST_OLLAMA")
	if model == "" {
		t.Skip("TURNSTONE_TEST_OLLAMA names no model")
	}
	client := ollama.NewClient(os.Getenv("TURNSTONE_TEST_OLLAMA_URL"), ollama.Config{Cache: t.TempDir()})
	known, _ := budget.Known().Find(model)
	p, err := client.Complete(t.Context(), known)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // from the server, from the cache
		v, digest, err := client.Vocabulary(t.Context(), model)
		if err != nil {
			t.Fatal(err)
		}
		encoding, err := bpe.New(v)
		if err != nil {
			t.Fatal(err)
		}
		c := budget.NewCounter(p, encoding, true, budget.Calibration{})
		t.Logf("%s: %d tokens in its vocabulary, %+v", digest, len(v.Tokens), c.Tokens(c.Text("The quick brown fox.")))
	}
}
