package turnstone_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// Who hangs up while what another left is being recovered keeps nobody from the session.
func TestALeaseIsGivenBackWhenTheCallerHangsUp(t *testing.T) {
	for name, come := range map[string]func(context.Context, *turnstone.Engine, *turnstone.Session) error{
		"acquire": func(ctx context.Context, _ *turnstone.Engine, s *turnstone.Session) error {
			_, err := s.Acquire(ctx)
			return err
		},
		"end": func(ctx context.Context, _ *turnstone.Engine, s *turnstone.Session) error {
			_, err := s.End(ctx)
			return err
		},
		"undo": func(ctx context.Context, _ *turnstone.Engine, s *turnstone.Session) error {
			_, err := s.Undo(ctx, 0, turnstone.PromptOptions{})
			return err
		},
		"recover": func(ctx context.Context, e *turnstone.Engine, _ *turnstone.Session) error {
			_, err := e.Recover(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := faulty.New(mem.New(mem.Config{}))
				background := context.WithValue(t.Context(), byItself{}, true)
				eng, err := turnstone.Open(background, patient{st}, turnstone.Config{Model: llmtest.NewScript("Yes."), ModelName: "llama3.2"})
				if err != nil {
					t.Fatal(err)
				}
				chat := session(t, eng, "talk")
				begun(t, st, chat, `{"text":"One two "}`)
				ctx, cancel := context.WithCancel(t.Context())
				st.Set(func(at string) error {
					if at != "InsertExport" {
						return nil
					}
					cancel()
					return ctx.Err()
				})
				if err := come(ctx, eng, chat); !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				st.Set(nil)
				start := time.Now()
				if _, err := chat.Say(t.Context(), "And now?"); err != nil || time.Since(start) != 0 {
					t.Errorf("%v after %s", err, time.Since(start))
				}
				same(t, "log", turnsOf(t, chat), []string{"user: Count.", "agent: One two  [interrupted]", "user: And now?", "agent: Yes."})
				if err := eng.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
