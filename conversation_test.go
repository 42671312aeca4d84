package turnstone_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// A loop of somebody else's may say more than one thing, and end before its calls have results.
func TestAConversationInOtherHands(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		chat := session(t, open(t, st, turnstone.Config{}), "talk")
		c := chat.Conversation(turnstone.WithModel("llama3.2", nil, 4096))
		step := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		step(c.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Go."}}))
		r, err := c.Compile(t.Context(), agent.Offer{})
		step(err)
		if r.Context != 3482 || len(r.Messages) != 1 {
			t.Errorf("%+v", r)
		}
		step(c.Receive(t.Context(), llm.Chunk{Text: "First."}))
		step(c.Answer(t.Context(), llm.Answer{Text: "First.", Stop: llm.StopLength, Usage: llm.Usage{Prompt: 10, Answer: 2}}))
		r, err = c.Compile(t.Context(), agent.Offer{})
		step(err)
		if len(r.Messages) != 2 || r.Messages[1].Text != "First." {
			t.Errorf("%+v", r.Messages)
		}
		step(c.Answer(t.Context(), llm.Answer{Text: "Then.", Calls: []llm.Call{{ID: "c", Name: "x", Arguments: "{}"}}, Stop: llm.StopCalls}))
		step(c.End(t.Context(), agent.Ending{State: commit.Failed, Err: errors.New("no \x00 tools"), Warnings: []string{"careful"}}))
		same(t, "log", turnsOf(t, chat), []string{"user: Go.", "agent: First.", "agent: Then. x {}", "system: x cancelled"})
		same(t, "states", statuses(t, st, chat), []string{"failed"})
		examined(t, st)
		if l, err := chat.Acquire(t.Context()); err != nil || l.Release(t.Context()) != nil {
			t.Error(err)
		}
	})
}

// A reply that was taken for the last one, and could not be written when it was not, is written in the end.
func TestAReplyThatCouldNotBeWrittenAtFirst(t *testing.T) {
	boom := errors.New("boom")
	for _, fault := range []struct {
		at  string
		err error
		end error
	}{{"InsertTurns", boom, nil}, {"durable", store.ErrUnknown, turn.ErrConflict}} {
		slowly(t, turnstone.Config{}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
			c := chat.Conversation()
			if err := c.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Go."}}); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Compile(t.Context(), agent.Offer{}); err != nil {
				t.Fatal(err)
			}
			if err := c.Answer(t.Context(), llm.Answer{Text: "Done.", Stop: llm.StopEnd}); err != nil {
				t.Fatal(err)
			}
			st.Set(func(at string) error {
				if at == fault.at {
					return fault.err
				}
				return nil
			})
			if _, err := c.Compile(t.Context(), agent.Offer{}); !errors.Is(err, fault.err) {
				t.Error(err)
			}
			st.Set(nil)
			if err := c.End(t.Context(), agent.Ending{State: commit.Failed, Err: boom}); !errors.Is(err, fault.end) {
				t.Error(err)
			}
			same(t, "log", turnsOf(t, chat), []string{"user: Go.", "agent: Done."})
			examined(t, st)
		})
	}
}

func TestAConversationThatCannotBegin(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("Yes."), ModelName: "llama3.2"})
	chat := session(t, eng, "talk")
	var field *turn.FieldError
	if err := chat.Conversation().Begin(t.Context()); !errors.As(err, &field) || field.Name != "input" {
		t.Error(err)
	}
	// The floor is free again.
	if _, err := chat.Say(t.Context(), "Hello?"); err != nil {
		t.Error(err)
	}
}

func TestStickyFilesStandInEveryPrompt(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "rules.md")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("Be kind.")
	sticky, err := agent.NewSticky(agent.StickyConfig{Files: os.DirFS(folder), Names: []string{"rules.md"}})
	if err != nil {
		t.Fatal(err)
	}
	script := llmtest.NewScript("One.", "Two.", "Three.")
	chat := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Model: script, ModelName: "llama3.2", Agent: agent.Config{Sticky: sticky}}), "talk")
	for i := range 3 {
		if i == 2 {
			write("Be very kind, always.")
		}
		if _, err := chat.Say(t.Context(), "Hello."); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"Be kind.", "Be kind.", "Be very kind, always."} {
		if system := script.Asked()[i].Messages[0].Text; !strings.Contains(system, want) {
			t.Errorf("prompt %d begins with %q", i, system)
		}
	}
}
