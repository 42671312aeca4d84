package llm_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

var hello = llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}}

func TestComplete(t *testing.T) {
	call := llm.Call{ID: "a", Name: "look", Arguments: "{}"}
	model := llmtest.Replies(
		llmtest.Reply{Text: "a whole answer"},
		llmtest.Reply{Thinking: "who is it", Text: "let me look", Calls: []llm.Call{call}, Usage: llm.Usage{Prompt: 7, Cached: 3, Answer: 2}},
		llmtest.Reply{Text: "cut", Stop: llm.StopLength},
	)
	for _, want := range []llm.Answer{
		{Text: "a whole answer", Usage: llm.Usage{Prompt: 1, Answer: 3}, Stop: llm.StopEnd},
		{Thinking: "who is it", Text: "let me look", Calls: []llm.Call{call}, Usage: llm.Usage{Prompt: 7, Cached: 3, Answer: 2}, Stop: llm.StopCalls},
		{Text: "cut", Usage: llm.Usage{Prompt: 1, Answer: 1}, Stop: llm.StopLength},
	} {
		got, err := llm.Complete(t.Context(), model, hello)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if asked := model.Asked(); len(asked) != 3 || asked[0].Messages[0].Text != "hello" {
		t.Errorf("asked %+v", asked)
	}
	if _, err := llm.Complete(t.Context(), model, hello); err == nil {
		t.Error("a script at its end has an answer")
	}
}

func TestCompleteReturnsWhatCameBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	answer, err := llm.Complete(t.Context(), llmtest.Replies(llmtest.Reply{Text: "half", Err: broken}), hello)
	if answer.Text != "half" || answer.Stop != "" || !errors.Is(err, broken) {
		t.Errorf("%+v, %v", answer, err)
	}
}

func TestEnded(t *testing.T) {
	if err := llm.Ended(t.Context()); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := llm.Ended(ctx); err != context.Canceled {
		t.Error(err)
	}
	reason := errors.New("the user went away")
	caused, cancelCause := context.WithCancelCause(t.Context())
	cancelCause(reason)
	if err := llm.Ended(caused); !errors.Is(err, context.Canceled) || !errors.Is(err, reason) {
		t.Error(err)
	}
}

func TestError(t *testing.T) {
	cause := errors.New("connection refused")
	e := &llm.Error{Kind: llm.ErrUnreachable, Model: "llama3.2", Problem: "nobody listens", Fix: "start it", Err: cause}
	const want = `model "llama3.2": the model server cannot be reached: nobody listens; start it`
	if e.Error() != want || !errors.Is(e, llm.ErrUnreachable) || !errors.Is(e, cause) || errors.Is(e, llm.ErrFailed) {
		t.Errorf("%v", e)
	}
	bare := &llm.Error{Kind: llm.ErrFailed}
	if bare.Error() != llm.ErrFailed.Error() || !errors.Is(bare, llm.ErrFailed) {
		t.Errorf("%v", bare)
	}
}

func TestInWords(t *testing.T) {
	for alt, want := range map[string]string{"": "[image]", " ": "[image]", "a cat": "[image: a cat]"} {
		if got := (llm.Image{Alt: alt}).InWords(); got != want {
			t.Errorf("%q: %s", alt, got)
		}
	}
}

// Whoever makes a model makes errors too, and may leave out what kind they are.
func TestAnErrorOfNoKind(t *testing.T) {
	err := error(&llm.Error{Model: "m", Problem: "it broke", Err: io.EOF})
	if got := err.Error(); got != `model "m": the model server failed: it broke` {
		t.Error(got)
	}
	if !errors.Is(err, llm.ErrFailed) || !errors.Is(err, io.EOF) {
		t.Error("what it is does not show")
	}
}
