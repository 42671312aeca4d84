package turnstone_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// systemOf is the system prompt that a model was sent, empty where there was none.
func systemOf(r llm.Request) string {
	if len(r.Messages) == 0 || r.Messages[0].Role != llm.System {
		return ""
	}
	return r.Messages[0].Text
}

// An engine without settings of its own goes on with those that the session has, in the same epoch; also one that has nothing of
// the session in memory.
func TestSayKeepsTheSettingsOfTheSession(t *testing.T) {
	script := llmtest.NewScript("One.", "Two.", "Between.", "Three.")
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: script, ModelName: "llama3.2", Windows: 1})
	s, between := session(t, eng, "s"), session(t, eng, "between")
	given := prompt.Settings{System: "Be brief.", Tools: []prompt.Definition{{Name: "clock", Schema: `{}`}}}
	if _, err := s.Prompt(t.Context(), turnstone.PromptOptions{Model: "llama3.2", Settings: &given}); err != nil {
		t.Fatal(err)
	}
	for i, to := range []*turnstone.Session{s, s, between, s} {
		reply, err := to.Say(t.Context(), "Hello.")
		if err != nil {
			t.Fatal(err)
		}
		sent := script.Asked()[i]
		if to == between {
			same(t, "system of another session", systemOf(sent), "")
			continue
		}
		if systemOf(sent) != "Be brief." || len(sent.Tools) != 1 || reply.Prompt.Epoch != 1 {
			t.Errorf("%d: system %q, %d tools, epoch %d", i, systemOf(sent), len(sent.Tools), reply.Prompt.Epoch)
		}
	}
}

// What an agent offers does not stay when it offers that no longer, and what an engine is configured with counts.
func TestSayBeginsWithWhatTheEngineOffers(t *testing.T) {
	for name, config := range map[string]turnstone.Config{
		"prompt": {Prompt: prompt.Settings{System: "Configured."}},
		"tools":  {Agent: agent.Config{Tools: []agent.Tool{clock(t)}}},
	} {
		t.Run(name, func(t *testing.T) {
			script := llmtest.NewScript("One.")
			config.Model, config.ModelName = script, "llama3.2"
			s := session(t, open(t, mem.New(mem.Config{}), config), "s")
			given := prompt.Settings{System: "Be brief."}
			if _, err := s.Prompt(t.Context(), turnstone.PromptOptions{Model: "llama3.2", Settings: &given}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Say(t.Context(), "Hello."); err != nil {
				t.Fatal(err)
			}
			sent := script.Asked()[0]
			same(t, "system", systemOf(sent), config.Prompt.System)
			same(t, "tools", len(sent.Tools), len(config.Agent.Tools))
		})
	}
}

func TestSayWithSettings(t *testing.T) {
	script := llmtest.NewScript("One.", "Two.", "Three.", "Four.")
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{
		Model: script, ModelName: "llama3.2", Prompt: prompt.Settings{System: "Configured."}, Agent: agent.Config{Tools: []agent.Tool{clock(t)}},
	})
	s := session(t, eng, "s")
	brief := turnstone.WithSettings(prompt.Settings{System: "Be brief."})
	var epochs []int64
	for _, options := range [][]turnstone.SayOption{{brief}, {brief}, nil} {
		reply, err := s.Say(t.Context(), "Hello.", options...)
		if err != nil {
			t.Fatal(err)
		}
		epochs = append(epochs, reply.Prompt.Epoch)
	}
	same(t, "epochs", epochs, []int64{1, 1, 2})
	for i, want := range []string{"Be brief.", "Be brief.", "Configured."} {
		sent := script.Asked()[i]
		same(t, "system", systemOf(sent), want)
		same(t, "tools", len(sent.Tools), 1)
	}
	// What cannot be sent is refused before anything is said.
	var field *invalid.Field
	_, err := s.Say(t.Context(), "Hello.", turnstone.WithSettings(prompt.Settings{Checks: []string{""}}))
	if !errors.As(err, &field) || field.Name != "settings.checks[0]" || len(turnsOf(t, s)) != 6 {
		t.Errorf("%v, %d turns", err, len(turnsOf(t, s)))
	}
}
