package turnstone_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
)

// A model that did not see all of a prompt may be wrong about what was said: whoever reads its reply is told, once.
func TestSayWarnsOfAPromptThatWasCut(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		_, chat, _ := talking(t, st,
			llmtest.Reply{Text: "Let me look.", Calls: []llm.Call{call("c1", "Lisbon")}, Usage: llm.Usage{Prompt: 11, Answer: 10}},
			llmtest.Reply{Text: "What?", Usage: llm.Usage{Prompt: 12, Answer: 5}},
			llmtest.Reply{Text: "What?", Usage: llm.Usage{Prompt: 13, Answer: 5}})
		story := strings.Repeat("A long story. ", 100)
		reply, err := chat.Say(t.Context(), story)
		if err != nil || len(reply.Warnings) != 1 {
			t.Fatalf("%v, warnings %q", err, reply.Warnings)
		}
		want := fmt.Sprintf("the model did not see all of the prompt: of the %d tokens that were sent its server counted 12; ", reply.Prompt.Count.Tokens)
		if !strings.HasPrefix(reply.Warnings[0], want) {
			t.Errorf("warned %q", reply.Warnings)
		}
		var warned []string
		for piece, err := range chat.Stream(t.Context(), story) {
			if err != nil {
				t.Fatal(err)
			}
			if piece.Warning != "" {
				warned = append(warned, piece.Warning)
			}
			if piece.Reply != nil {
				reply = *piece.Reply
			}
		}
		if len(warned) != 1 || !strings.Contains(warned[0], "counted 13;") {
			t.Errorf("warned %q", warned)
		}
		same(t, "warnings", reply.Warnings, warned)
	})
}

// Whoever talks with a model that another vocabulary was taken for is told so once, and its later counts are no longer exact.
func TestSayWarnsOfAVocabularyThatDoesNotFit(t *testing.T) {
	question := strings.Repeat("What about this and that then? I would say that it depends. ", 30)
	onStores(t, func(t *testing.T, st store.Store) {
		script := llmtest.Replies(
			llmtest.Reply{Text: "Well.", Usage: llm.Usage{Prompt: 430, Answer: 5}}, llmtest.Reply{Text: "Well.", Usage: llm.Usage{Prompt: 860, Answer: 5}})
		eng := open(t, st, turnstone.Config{
			Model: script, ModelName: "llama3.2", Context: 8192,
			Vocabulary: func(context.Context, string) (*bpe.Encoding, error) { return letters(t), nil },
		})
		s := session(t, eng, "talk")
		reply, err := s.Say(t.Context(), question)
		want := fmt.Sprintf("the vocabulary of llama3.2 does not fit its server: it gives %d tokens for a prompt that the server counted as 430; "+
			"tokens are estimated from now on", reply.Prompt.Count.Tokens)
		if err != nil || len(reply.Warnings) != 1 || reply.Warnings[0] != want {
			t.Errorf("%v, warnings %q, want %q", err, reply.Warnings, want)
		}
		reply, err = s.Say(t.Context(), question)
		if err != nil || len(reply.Warnings) != 0 || reply.Prompt.Count.Tokens > 1000 {
			t.Errorf("%v, warnings %q, %d tokens", err, reply.Warnings, reply.Prompt.Count.Tokens)
		}
	})
}
