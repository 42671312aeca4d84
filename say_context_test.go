package turnstone_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// TestSayUsesAllOfASmallContext has an engine whose context is larger than that of a model that is known: an exchange uses
// all that the model has, as a prompt does.
func TestSayUsesAllOfASmallContext(t *testing.T) {
	script := llmtest.NewScript("One.")
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: script, ModelName: "gpt-4", Context: 100_000})
	s := session(t, eng, "s")
	if _, err := s.Say(t.Context(), "One?"); err != nil {
		t.Fatal(err)
	}
	const room = 6963 // of 8,192 tokens
	if asked := script.Asked(); len(asked) != 1 || asked[0].Context != room {
		t.Errorf("%+v", asked)
	}
}
