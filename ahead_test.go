package turnstone_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// Nobody waits for a pass: it is made after the reply, and the next prompt begins with it.
func TestPassesAreMadeAfterTheReply(t *testing.T) {
	script := llmtest.Respond(func(r llm.Request) llmtest.Reply {
		return llmtest.Reply{Text: strings.Repeat("something follows from that ", 20) + fmt.Sprint(len(r.Messages)), Usage: llm.Usage{Answer: 1}}
	})
	slowly(t, turnstone.Config{Model: script, Context: 4096}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		var passes int64
		for n := range 80 {
			reply, err := chat.Say(t.Context(), fmt.Sprintf("And what follows from part %d of the plan?", n))
			if err != nil {
				t.Fatal(err)
			}
			if opened := reply.Prompt.Opened; n > 0 && opened != "" {
				t.Errorf("exchange %d opened an epoch: %s", n, opened)
			}
			passes = reply.Prompt.Passes
			synctest.Wait()
		}
		if passes < 3 {
			t.Errorf("%d passes", passes)
		}
		calls, err := chat.Prompts(t.Context(), 0, 1000)
		if err != nil || len(calls) != 80 {
			t.Errorf("%d prompts were kept: %v", len(calls), err)
		}
		for _, c := range calls {
			if made, err := chat.Again(t.Context(), c); err != nil || made.SHA256 != c.SHA256 {
				t.Errorf("prompt %d cannot be made again: %v", c.Number, err)
			}
		}
		examined(t, st)
	})
}

// An exchange takes two updates: one that begins it, with its prompt, and one that ends it.
func TestAnExchangeTakesTwoUpdates(t *testing.T) {
	faults := faulty.New(mem.New(mem.Config{}))
	_, chat, _ := talking(t, faults, llmtest.Reply{Text: "One."}, llmtest.Reply{Text: "Two."},
		llmtest.Reply{Text: "Let me look.", Calls: []llm.Call{call("c", "Lisbon")}}, llmtest.Reply{Text: "Noon."})
	for n, most := range []int{9, 2, 4} {
		updates := 0
		faults.Set(func(at string) error {
			if at == "end" {
				updates++
			}
			return nil
		})
		reply, err := chat.Say(t.Context(), "Go on.")
		faults.Set(nil)
		if err != nil || updates > most {
			t.Errorf("exchange %d took %d updates, want %d: %v", n, updates, most, err)
		}
		if reply.Prompt.End == 0 || reply.Prompt.SHA256 == "" {
			t.Errorf("%+v", reply.Prompt)
		}
	}
}

func TestAPromptThatDoesNotFit(t *testing.T) {
	_, chat, script := talking(t, mem.New(mem.Config{}), llmtest.Reply{Text: "Yes."}, llmtest.Reply{Text: "Still."})
	if _, err := chat.Say(t.Context(), "Hello."); err != nil {
		t.Fatal(err)
	}
	_, err := chat.Say(t.Context(), strings.Repeat("far too much ", 20000))
	if !errors.Is(err, turnstone.ErrOverBudget) {
		t.Errorf("%.300v", err)
	}
	reply, err := chat.Say(t.Context(), "Still there?")
	if err != nil || reply.Text != "Still." || len(script.Asked()) != 2 {
		t.Errorf("%+v, %.300v", reply.Text, err)
	}
}

func TestEnginesOnOneDatabase(t *testing.T) {
	for name, where := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "log.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			place := where(t)
			one, err := openCrashStore(t.Context(), place)
			if err != nil {
				t.Fatal(err)
			}
			two, err := openCrashStore(t.Context(), place)
			if err != nil {
				t.Fatal(err)
			}
			_, here, _ := talking(t, one, llmtest.Reply{Text: "One two."})
			_, there, _ := talking(t, two, llmtest.Reply{Text: "Three."})
			for piece, err := range here.Stream(t.Context(), "Count.") {
				if err != nil {
					t.Fatal(err)
				}
				if piece.Text == "One " {
					if _, err := there.Say(t.Context(), "Me too."); !errors.Is(err, turnstone.ErrBusy) {
						t.Error(err)
					}
				}
			}
			if reply, err := there.Say(t.Context(), "And now?"); err != nil || reply.Text != "Three." {
				t.Error(reply.Text, err)
			}
			same(t, "log", turnsOf(t, here), []string{"user: Count.", "agent: One two.", "user: And now?", "agent: Three."})
		})
	}
}

func TestWorkersOfTheCallersOwn(t *testing.T) {
	st := mem.New(mem.Config{})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{ModelName: "llama3.2", Prompt: prompt.Settings{System: "Be brief."}})
	if err != nil {
		t.Fatal(err)
	}
	chat := session(t, eng, "talk")
	loop, err := agent.NewLoop(agent.Config{Tools: []agent.Tool{clock(t)}})
	if err != nil {
		t.Fatal(err)
	}
	script := llmtest.Replies(llmtest.Reply{Calls: []llm.Call{call("c", "Lisbon")}}, llmtest.Reply{Text: "Noon."}, llmtest.Reply{Text: "Bye."}, llmtest.Reply{Endless: true})
	ann := agent.NewWorker("w1", "Ann", script)
	for _, want := range []string{"Noon.", "Bye."} {
		if reply, err := ann.Ask(t.Context(), loop, chat.Conversation(), "Ann?"); err != nil || reply.Text != want {
			t.Error(reply, err)
		}
	}
	for i, r := range script.Asked() {
		if len(r.Tools) != 1 || r.Messages[0].Text != "Be brief." {
			t.Errorf("request %d: %+v", i, r)
		}
	}
	job, err := loop.Start(t.Context(), ann, chat.Conversation(), agent.RunOptions{Input: []turn.Draft{agent.Input("Go on.")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := eng.Close(); err != nil {
		t.Error(err)
	}
	if result, err := job.Wait(t.Context()); err != nil || !errors.Is(result.Err, turnstone.ErrClosed) {
		t.Error(result.Err, err)
	}
	if _, err := ann.Ask(t.Context(), loop, chat.Conversation(), "Ann?"); !errors.Is(err, turnstone.ErrClosed) {
		t.Error(err)
	}
}
