package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
)

var hello = llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hello"}}}

func TestAScriptHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := llm.Complete(ctx, llmtest.NewScript("a b c"), hello); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAScriptTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		model := llmtest.Replies(llmtest.Reply{Thinking: "hm", Text: "a b", Delay: time.Second})
		if _, err := llm.Complete(t.Context(), model, hello); err != nil || time.Since(begin) != 4*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestAnEndlessScriptEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		answer, err := llm.Complete(ctx, llmtest.Replies(llmtest.Reply{Endless: true, Delay: time.Second}), hello)
		if answer.Text != "on on " || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v, %v", answer, err)
		}
	})
}

func TestAScriptChecksRequests(t *testing.T) {
	model := llmtest.NewScript("a")
	var field *llm.FieldError
	if _, err := llm.Complete(t.Context(), model, llm.Request{}); !errors.As(err, &field) || len(model.Asked()) != 0 {
		t.Error(err)
	}
}

func ExampleReplies() {
	model := llmtest.Replies(
		llmtest.Reply{Calls: []llm.Call{{ID: "a", Name: "weather", Arguments: `{"city":"Oslo"}`}}},
		llmtest.Reply{Text: "It rains.", Err: errors.New("out of breath")},
	)
	for range 2 {
		fmt.Print(llmtest.Transcript(context.Background(), model, hello))
	}
	// Output:
	// = call a weather {"city":"Oslo"}
	// = calls prompt 1 cached 0 answer 0
	// = text "It "
	// = text "rains."
	// = error out of breath
}

func ExampleRespond() {
	model := llmtest.Respond(func(r llm.Request) llmtest.Reply {
		return llmtest.Reply{Text: "You said " + r.Messages[len(r.Messages)-1].Text}
	})
	answer, err := llm.Complete(context.Background(), model, hello)
	fmt.Println(answer.Text, err)
	// Output: You said hello <nil>
}
