package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/turn"
)

// What left the prompt is shown to the model again when it is asked about, unless that is turned off.
func TestChatRecalls(t *testing.T) {
	const early = "It lies under the third flowerpot behind the heron."
	for _, off := range []bool{false, true} {
		model := llmtest.NewScript("There.")
		k := talk(t, model, chatOptions{noRecall: off, noSummary: true, context: 8192})
		drafts := []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: "Where did you put my spare key?"}}, {Role: turn.Agent, Content: turn.Text{Text: early}},
		}
		for i := range 480 {
			drafts = append(drafts,
				turn.Draft{Role: turn.User, Content: turn.Text{Text: fmt.Sprintf("Question %d?", i)}},
				turn.Draft{Role: turn.Agent, Content: turn.Text{Text: fmt.Sprintf("Answer %d, and some more words to fill the window.", i)}})
		}
		if _, err := k.session.Append(t.Context(), drafts...); err != nil {
			t.Fatal(err)
		}
		if _, err := k.session.Prompt(t.Context(), turnstone.PromptOptions{Model: "gpt-4", Context: 8192}); err != nil {
			t.Fatal(err)
		}
		for _, err := range k.Stream(t.Context(), "Where is the spare key?") {
			if err != nil {
				t.Fatal(err)
			}
		}
		messages := model.Asked()[0].Messages
		if last := messages[len(messages)-1].Text; strings.Contains(last, early) == off {
			t.Errorf("off %t: %s", off, last)
		}
	}
}
