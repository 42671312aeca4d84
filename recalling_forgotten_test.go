package turnstone_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// What was forgotten after it was recalled is not shown again, though the exchange that recalled it goes on.
func TestWhatIsForgottenMeanwhileIsNotRecalled(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		script := llmtest.Replies(llmtest.Reply{Calls: []llm.Call{call("c1", "Lisbon")}}, llmtest.Reply{Text: "I do not know."})
		var other *turnstone.Session
		tool, err := agent.NewTool("clock", "Tells the time.", func(ctx context.Context, _ zone) (string, error) {
			_, err := other.Forget(ctx, turnstone.Target{Seqs: []int64{2}})
			return "noon", err
		})
		if err != nil {
			t.Fatal(err)
		}
		eng := open(t, st, turnstone.Config{
			Model: script, ModelName: "llama3.2", Context: 8192, Recall: &turnstone.RecallOptions{Scope: recall.OfTenant}, Agent: agent.Config{Tools: []agent.Tool{tool}},
		})
		other = session(t, eng, "other")
		say(t, other, turn.User, "Where did you put my spare key?")
		say(t, other, turn.Agent, early)
		reply, err := session(t, eng, "s").Say(t.Context(), "I need the spare key. Where is it?")
		if err != nil {
			t.Fatal(err)
		}
		asked := script.Asked()
		if len(asked) != 2 || !strings.Contains(late(asked[0]), early) {
			t.Fatalf("asked %d times, first with %q", len(asked), late(asked[0]))
		}
		if strings.Contains(late(asked[1]), "heron") || strings.Contains(textOf(reply.Prompt), "heron") {
			t.Errorf("it was forgotten, and shown again: %s", late(asked[1]))
		}
	})
}

// An embedder may heed nothing: who asked is not held by it.
func TestAnEmbedderThatHangsHoldsNobody(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	defer close(leave)
	hanging := embedding(func([]string) ([][]float32, error) {
		entered <- true
		<-leave
		return nil, errors.New("at last")
	})
	s, _ := wornTalk(t, mem.New(mem.Config{}), turnstone.Config{Recall: &turnstone.RecallOptions{}, Embedder: hanging}, llmtest.Reply{Text: "Under the flowerpot."})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-entered
		cancel()
	}()
	if _, err := s.Say(ctx, "I need the spare key. Where is it?"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
