package turnstone_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestPromptsGrowAtTheirEnd(t *testing.T) {
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{Prompt: prompt.Settings{System: "Be brief."}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	s, err := eng.Session(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	var before *prompt.Prompt
	for i := range 400 {
		role := turn.User
		if i%2 == 1 {
			role = turn.Agent
		}
		if _, err := s.Append(t.Context(), turn.Draft{Role: role, Content: turn.Text{Text: fmt.Sprintf("turn %d: %s", i+1, strings.Repeat("words and more ", i%7*5+1))}}); err != nil {
			t.Fatal(err)
		}
		p, err := s.Prompt(t.Context(), turnstone.PromptOptions{Context: 4096, Model: "gpt-4o"})
		if err != nil {
			t.Fatal(err)
		}
		if p.Account.Free() < 0 {
			t.Fatal(p.Account)
		}
		if p.Opened != "" {
			t.Log(i, p.Opened, p.Epoch, p.Count, len(p.Messages), p.SHA256)
		} else if before != nil {
			for j := range before.Messages {
				if string(before.Messages[j].AppendJSON(nil)) != string(p.Messages[j].AppendJSON(nil)) {
					t.Fatal(i, j)
				}
			}
		}
		before = p
		again, recorded, err := s.PromptAt(t.Context(), int64(i+1), turnstone.PromptOptions{})
		if err != nil || !recorded || again.SHA256 != p.SHA256 {
			t.Fatal(err, recorded)
		}
	}
}
