package turnstone_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// The model reads the prompt while the disk is written to, the first one of a session too. Nothing of its reply is told
// before that is done.
func TestTheModelIsAskedWhileTheInputBecomesDurable(t *testing.T) {
	script := llmtest.Respond(func(llm.Request) llmtest.Reply { return llmtest.Reply{Text: "Yes."} })
	slowly(t, turnstone.Config{Model: script}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		for i, text := range []string{"One.", "Two."} {
			disk, writes := make(chan struct{}), 0
			st.Set(func(at string) error {
				if at == "durable" {
					writes++
					if writes == 1 {
						<-disk
					}
				}
				return nil
			})
			heard, done := make(chan string, 10), make(chan error, 1)
			go func() {
				var last error
				for piece, err := range chat.Stream(t.Context(), text) {
					heard <- piece.Text
					last = errors.Join(last, err)
				}
				done <- last
			}()
			synctest.Wait()
			if asked := len(script.Asked()); asked != i+1 || len(heard) != 0 {
				t.Errorf("%s the model was asked %d times, and %d pieces were told, while the disk was busy", text, asked, len(heard))
			}
			close(disk)
			if first := <-heard; first != "Yes." {
				t.Errorf("heard %q", first)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			if writes != 2 {
				t.Errorf("%s %d updates, not one for the input and its prompt and one for the rest", text, writes)
			}
		}
		same(t, "log", turnsOf(t, chat), []string{"user: One.", "agent: Yes.", "user: Two.", "agent: Yes."})
	})
}

// A model that is silent is not waited for when there is nothing that it could answer.
func TestAnInputThatDoesNotBecomeDurableEndsTheRequest(t *testing.T) {
	boom := errors.New("boom")
	// It need not be asked at all: the update may have failed before anybody looked at the prompt.
	script := llmtest.Respond(func(r llm.Request) llmtest.Reply {
		if strings.Contains(r.Messages[len(r.Messages)-1].Text, "Two.") {
			return llmtest.Reply{Text: "Never heard.", Delay: time.Minute}
		}
		return llmtest.Reply{Text: "Yes."}
	})
	slowly(t, turnstone.Config{Model: script}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		if _, err := chat.Say(t.Context(), "One."); err != nil {
			t.Fatal(err)
		}
		st.Set(func(at string) error {
			if at == "end" {
				return boom
			}
			return nil
		})
		start := time.Now()
		reply, err := chat.Say(t.Context(), "Two.")
		if !errors.Is(err, boom) || errors.Is(err, context.Canceled) || time.Since(start) != 0 || reply.Text != "" {
			t.Errorf("%q, %v after %s", reply.Text, err, time.Since(start))
		}
		st.Set(nil)
		if reply, err := chat.Say(t.Context(), "Three."); err != nil || reply.Text != "Yes." {
			t.Errorf("%q: %v", reply.Text, err)
		}
		same(t, "log", turnsOf(t, chat), []string{"user: One.", "agent: Yes.", "user: Three.", "agent: Yes."})
		examined(t, st)
	})
}

// forgetful is a store that loses a transaction when it is told to, and runs its update again.
type forgetful struct {
	store.Store
	between func() error // runs where one was lost; nil loses none
}

func (f *forgetful) Update(ctx context.Context, fn func(store.Tx) error) error {
	lost := errors.New("the transaction was lost")
	if between := f.between; between != nil {
		f.between = nil
		err := f.Store.Update(ctx, func(tx store.Tx) error {
			if err := fn(tx); err != nil {
				return err
			}
			return lost
		})
		if err != lost {
			return err
		}
		if err := between(); err != nil {
			return err
		}
	}
	return f.Store.Update(ctx, fn)
}

func TestAnOpeningThatIsRunAgain(t *testing.T) {
	for name, test := range map[string]struct {
		between func(context.Context, *turnstone.Session) error
		asked   int
	}{
		"as it was": {func(context.Context, *turnstone.Session) error { return nil }, 2},
		"after somebody else said something": {func(ctx context.Context, chat *turnstone.Session) error {
			_, err := chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Meanwhile."}})
			return err
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			st := &forgetful{Store: mem.New(mem.Config{})}
			asked := make(chan struct{}, 10)
			script := llmtest.Respond(func(llm.Request) llmtest.Reply {
				asked <- struct{}{}
				return llmtest.Reply{Text: "Two."}
			})
			chat := session(t, open(t, st, turnstone.Config{Model: script, ModelName: "llama3.2", Context: 8192}), "talk")
			if _, err := chat.Say(t.Context(), "Go."); err != nil {
				t.Fatal(err)
			}
			<-asked
			st.between = func() error {
				<-asked // before anything is durable
				return test.between(t.Context(), chat)
			}
			reply, err := chat.Say(t.Context(), "Go on.")
			if err != nil || reply.Text != "Two." || len(script.Asked()) != test.asked {
				t.Errorf("%q after %d requests: %v", reply.Text, len(script.Asked()), err)
			}
			calls, err := chat.Prompts(t.Context(), 0, 10)
			if err != nil || len(calls) != 2 || calls[1].SHA256 != reply.Prompt.SHA256 {
				t.Fatalf("%d prompts were kept: %v", len(calls), err)
			}
			if made, err := chat.Again(t.Context(), calls[1]); err != nil || made.SHA256 != reply.Prompt.SHA256 {
				t.Errorf("what the model saw cannot be made again: %v", err)
			}
		})
	}
}
