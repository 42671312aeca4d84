package turnstone_test

import (
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// An exchange that cannot begin leaves nothing behind that the next one would wait for.
func TestWhatAnExchangeThatCannotBeginLeaves(t *testing.T) {
	boom := errors.New("boom")
	ask := map[string]func(*testing.T, *turnstone.Session) error{
		"say": func(t *testing.T, chat *turnstone.Session) error {
			_, err := chat.Say(t.Context(), "Two.")
			return err
		},
		"own worker": func(t *testing.T, chat *turnstone.Session) error {
			loop, err := agent.NewLoop(agent.Config{})
			if err == nil {
				_, err = agent.NewWorker("w", "w", llmtest.NewScript("Yes.")).Ask(t.Context(), loop, chat.Conversation(), "Two.")
			}
			return err
		},
	}
	for _, test := range []struct {
		at     string
		err    error
		panics bool
		kept   []string
	}{
		{"durable", store.ErrUnknown, false, []string{"user: Two."}},
		{"InsertTurns", boom, false, nil},
		{"PutExchange", boom, true, nil},
	} {
		for by, ask := range ask {
			t.Run(test.at+" by "+by, func(t *testing.T) {
				slowly(t, turnstone.Config{Model: llmtest.NewScript("Yes.", "Yes.", "Yes.")}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
					if _, err := chat.Say(t.Context(), "One."); err != nil {
						t.Fatal(err)
					}
					met := false
					st.Set(func(at string) error {
						if at != test.at || met {
							return nil
						}
						if met = true; test.panics {
							panic(test.err)
						}
						return test.err
					})
					var panicked *agent.PanicError
					if err := ask(t, chat); !errors.Is(err, test.err) || errors.As(err, &panicked) != test.panics {
						t.Error(err)
					}
					st.Set(nil)
					start := time.Now()
					if _, err := chat.Say(t.Context(), "Three."); err != nil || time.Since(start) != 0 {
						t.Errorf("%v after %s", err, time.Since(start))
					}
					want := append([]string{"user: One.", "agent: Yes."}, test.kept...)
					same(t, "log", turnsOf(t, chat), append(want, "user: Three.", "agent: Yes."))
					examined(t, st)
				})
			})
		}
	}
}

// A panic in the caller's code costs one exchange.
func TestAVocabularyThatPanics(t *testing.T) {
	var now atomic.Int64
	asked := 0
	config := turnstone.Config{
		Model: llmtest.NewScript("One.", "Three."), ModelName: "llama3.2", Context: 8192,
		Clock: func() time.Time { return time.Unix(now.Load(), 0) },
		Vocabulary: func(context.Context, string) (*bpe.Encoding, error) {
			if asked++; asked == 2 {
				panic("vocabulary")
			}
			return nil, errors.New("not now")
		},
	}
	slowly(t, config, func(t *testing.T, _ *faulty.Store, chat *turnstone.Session) {
		for n, panics := range []bool{false, true, false} {
			now.Add(120)
			_, err := chat.Say(t.Context(), "Go on.")
			var panicked *agent.PanicError
			if errors.As(err, &panicked) != panics || (err != nil) != panics {
				t.Errorf("exchange %d: %v", n, err)
			}
		}
	})
}

func TestAnInputThatWasSaidBefore(t *testing.T) {
	st := mem.New(mem.Config{})
	_, chat, script := talking(t, st, llmtest.Reply{Text: "Paid."}, llmtest.Reply{Text: "Yes."})
	part := turnstone.WithParts(turn.Draft{Role: turn.User, Content: turn.Text{Text: "Pay the bill."}, IdempotencyKey: "k1"})
	if _, err := chat.Say(t.Context(), "", part); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := chat.Say(t.Context(), "", part); !errors.Is(err, turn.ErrConflict) || errors.Is(err, turn.ErrLeaseLost) {
			t.Error(err)
		}
	}
	if l, err := chat.Acquire(t.Context()); err != nil || l.Release(t.Context()) != nil {
		t.Error(err)
	}
	if _, err := chat.Say(t.Context(), "Was it paid?"); err != nil || len(script.Asked()) != 2 {
		t.Errorf("asked %d times: %v", len(script.Asked()), err)
	}
	same(t, "log", turnsOf(t, chat), []string{"user: Pay the bill.", "agent: Paid.", "user: Was it paid?", "agent: Yes."})
	same(t, "states", statuses(t, st, chat), []string{"complete", "complete"})
}

// A key goes with the turn that was said under it: when that is forgotten, the same may be said under it once more.
func TestAKeyWhoseTurnIsForgotten(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		_, chat, _ := talking(t, st, llmtest.Reply{Text: "Paid."}, llmtest.Reply{Text: "Paid again."})
		part := turnstone.WithParts(turn.Draft{Role: turn.User, Content: turn.Text{Text: "Pay the bill."}, IdempotencyKey: "k1"})
		for n, want := range []string{"Paid.", "Paid again."} {
			said, err := chat.Say(t.Context(), "", part)
			if err != nil || said.Text != want {
				t.Fatalf("%d: %q, %v", n, said.Text, err)
			}
			if _, err := chat.Say(t.Context(), "", part); !errors.Is(err, turn.ErrConflict) {
				t.Errorf("%d: said twice: %v", n, err)
			}
			turns := turnsOf(t, chat)
			if _, err := chat.Forget(t.Context(), turnstone.Target{Seqs: []int64{int64(len(turns) - 1)}}); err != nil {
				t.Fatal(err)
			}
		}
		same(t, "states", statuses(t, st, chat), []string{"complete", "complete"})
	})
}

// Every part of what is said is held against the keys of exchanges, not only the first.
func TestALaterPartUnderTheKeyOfAnExchange(t *testing.T) {
	_, chat, script := talking(t, mem.New(mem.Config{}), llmtest.Reply{Text: "Yes."})
	ex := commit.Exchange{Key: "k2", Turns: []turn.Draft{
		{Role: turn.User, Content: turn.Text{Text: "Pay the bill."}}, {Role: turn.Agent, Content: turn.Text{Text: "Paid."}},
	}}
	if _, err := chat.Commit(t.Context(), ex); err != nil {
		t.Fatal(err)
	}
	parts := turnstone.WithParts(
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "Look."}, IdempotencyKey: "k1"},
		turn.Draft{Role: turn.User, Content: turn.Text{Text: "Here."}, IdempotencyKey: "k2"})
	if _, err := chat.Say(t.Context(), "", parts); !errors.Is(err, turn.ErrConflict) || len(script.Asked()) != 0 {
		t.Errorf("asked %d times: %v", len(script.Asked()), err)
	}
}

// hungDisk is files that cannot be read until it is free.
type hungDisk struct {
	fs.FS
	free chan struct{}
}

func (d hungDisk) Open(name string) (fs.File, error) {
	<-d.free
	return d.FS.Open(name)
}

// A disk that does not answer under sticky files holds nobody who hangs up.
func TestAHungDiskUnderStickyFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := hungDisk{FS: fstest.MapFS{"rules.md": {Data: []byte("Be brief.")}}, free: make(chan struct{})}
		sticky, err := agent.NewSticky(agent.StickyConfig{Files: disk, Names: []string{"rules.md"}})
		if err != nil {
			t.Fatal(err)
		}
		eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{
			Model: llmtest.NewScript("Yes."), ModelName: "llama3.2", Agent: agent.Config{Sticky: sticky},
		})
		if err != nil {
			t.Fatal(err)
		}
		chat := session(t, eng, "talk")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		over, begin := make(chan error, 1), time.Now()
		go func() {
			_, err := chat.Say(ctx, "Hello.")
			over <- err
		}()
		select {
		case err := <-over:
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > time.Minute+2*time.Second {
				t.Errorf("%v after %s", err, time.Since(begin))
			}
		case <-time.After(time.Hour):
			t.Error("it waits for the disk")
		}
		close(disk.free)
		if reply, err := chat.Say(t.Context(), "Hello."); err != nil || reply.Text != "Yes." {
			t.Error(reply.Text, err)
		}
		same(t, "log", turnsOf(t, chat), []string{"user: Hello.", "agent: Yes."})
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A vocabulary that does not come, and does not heed the context, holds nobody who hangs up.
func TestAVocabularyThatDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{
			Model: llmtest.NewScript("Yes."), ModelName: "llama3.2",
			Vocabulary: func(context.Context, string) (*bpe.Encoding, error) {
				<-free
				return nil, errors.New("too late")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		chat := session(t, eng, "talk")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		over := make(chan error, 1)
		go func() {
			_, err := chat.Say(ctx, "Hello.")
			over <- err
		}()
		select {
		case err := <-over:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		case <-time.After(time.Hour):
			t.Error("it waits for the vocabulary")
		}
		close(free)
		if reply, err := chat.Say(t.Context(), "Hello."); err != nil || reply.Text != "Yes." {
			t.Error(reply.Text, err)
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Closing the engine ends what a worker of the caller's own waits for.
func TestCloseWhileAnOwnWorkersModelIsSilent(t *testing.T) {
	asked := make(chan struct{})
	script := llmtest.Respond(func(llm.Request) llmtest.Reply {
		close(asked)
		return llmtest.Reply{Text: "Well.", Delay: time.Hour}
	})
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{ModelName: "llama3.2"})
	if err != nil {
		t.Fatal(err)
	}
	loop, err := agent.NewLoop(agent.Config{First: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	chat := session(t, eng, "talk")
	job, err := loop.Start(t.Context(), agent.NewWorker("w", "w", script), chat.Conversation(), agent.RunOptions{Input: []turn.Draft{agent.Input("Go.")}})
	if err != nil {
		t.Fatal(err)
	}
	<-asked
	if err := eng.Close(); err != nil {
		t.Error(err)
	}
	if result, err := job.Wait(t.Context()); err != nil || !errors.Is(result.Err, turnstone.ErrClosed) || result.Outcome != agent.Cancelled {
		t.Error(result, err)
	}
}

// Who waits for the floor gets the context's own error, whatever its cause.
func TestTheErrorOfAContextWithACause(t *testing.T) {
	_, chat, _ := talking(t, mem.New(mem.Config{}), llmtest.Reply{Text: "One two."})
	left := errors.New("the user left")
	for piece, err := range chat.Stream(t.Context(), "Count.") {
		if err != nil {
			t.Fatal(err)
		}
		if piece.Text != "One " {
			continue
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(left) })
		for range 2 {
			if _, err := chat.Say(ctx, "Me too."); !errors.Is(err, context.Canceled) || !errors.Is(err, left) {
				t.Error(err)
			}
		}
		if _, err := chat.Forget(ctx, turnstone.Target{All: true}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err := chat.End(ctx); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
