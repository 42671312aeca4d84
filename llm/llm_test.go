package llm_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

func TestComplete(t *testing.T) {
	model := llmtest.NewScript("a whole answer")
	text, usage, err := llm.Complete(t.Context(), model, llm.Request{Messages: []llm.Message{{Role: "user", Text: "hello"}}})
	if err != nil || text != "a whole answer" || usage != (llm.Usage{Prompt: 1, Answer: 3}) {
		t.Errorf("%q, %+v, %v", text, usage, err)
	}
	if asked := model.Asked(); len(asked) != 1 || asked[0].Messages[0].Text != "hello" {
		t.Errorf("asked %+v", asked)
	}
	if _, _, err := llm.Complete(t.Context(), model, llm.Request{}); err == nil {
		t.Error("a script at its end has an answer")
	}
}

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Stream(context.Context, llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if yield(llm.Chunk{Text: "half"}, nil) {
			yield(llm.Chunk{}, errBroken)
		}
	}
}

func TestCompleteReturnsWhatCameBeforeAnError(t *testing.T) {
	text, _, err := llm.Complete(t.Context(), broken{}, llm.Request{})
	if text != "half" || !errors.Is(err, errBroken) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAScriptHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := llm.Complete(ctx, llmtest.NewScript("a b c"), llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
