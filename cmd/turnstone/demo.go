package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/demo"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	// demoModel is who the demo's prompts are for: its context has that size, and its tokens are counted exactly.
	demoModel  = "gpt-4"
	demoWindow = 8192
	// demoBegin is the bookmark of every demo, demoEnd that of one that was replayed to its end.
	demoBegin = "begin-of-demo"
	demoEnd   = "end-of-demo"
)

type demoOptions struct {
	session string
	again   bool
}

func (a *app) demoCommand() *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Replay a long conversation through everything, to look at what comes of it",
		Long: `Replay a conversation of five weeks through everything that the engine does, in seconds, and leave its session
in your store to look at. Mara and an agent build a service for tide gauges: rules that were given on the first
evening, files, tests that fail, decisions and goals.

No model is needed and none is asked. What the user said is appended, a prompt for a context of 8,192 tokens is
compiled before everything that the agent says, what its tools answered is appended, and every exchange is committed
with what is to be remembered and the goals that it changed. Turns leave the prompt on the way; at the end, what was
said early is looked for in the last prompt.`,
		Example: "  turnstone demo\n  turnstone demo --again\n  turnstone demo --session second --json",
		Args:    arguments(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := exclusive(cmd, "session", "again"); err != nil {
				return err
			}
			return a.demo(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.session, "session", "", "what its session is called (default \"tidewatch\")")
	flags.BoolVar(&o.again, "again", false, "replay it once more, beside those that are there")
	return cmd
}

func (a *app) demo(ctx context.Context, o demoOptions) error {
	talk, err := demo.Shipped()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if o.session == "" {
		o.session = talk.Session
	}
	return a.withEngine(ctx, toMake, turnstone.Config{}, func(eng *turnstone.Engine) error {
		s, err := a.demoSession(ctx, eng, talk, o)
		if errors.Is(err, turn.ErrExists) && !o.again {
			return a.demoIsThere(ctx, eng, o.session, err)
		}
		if err != nil {
			return err
		}
		return a.replayDemo(ctx, s, talk)
	})
}

// demoSession makes the session, with --again under the first name that is free. It is marked before anything is said: one
// that is interrupted is a demo too.
func (a *app) demoSession(ctx context.Context, eng *turnstone.Engine, talk demo.Conversation, o demoOptions) (*turnstone.Session, error) {
	name := o.session
	for n := 2; ; n++ {
		s, err := eng.Create(ctx, turn.SessionInfo{Key: turn.Key{Session: name}, Title: talk.Title})
		if err == nil {
			_, err := s.Bookmark(ctx, demoBegin, turnstone.Head)
			return s, err
		}
		if !o.again || !errors.Is(err, turn.ErrExists) {
			return nil, err
		}
		name = fmt.Sprintf("%s-%d", o.session, n)
	}
}

// demoIsThere shows the way to a demo that was replayed earlier. Another session of its name is left alone.
func (a *app) demoIsThere(ctx context.Context, eng *turnstone.Engine, session string, exists error) error {
	s, err := eng.Find(ctx, session)
	if err != nil {
		return err
	}
	marks, err := s.Bookmarks(ctx)
	if err != nil {
		return err
	}
	for _, m := range marks {
		if m.Name != demoEnd {
			continue
		}
		summaries, err := summariesIn(ctx, s, 1, m.Seq, anyTurn)
		if err != nil {
			return err
		}
		turns := m.Seq - summaries // as many as the replay said
		if a.json {
			return a.printJSON(demoThereJSON{Session: session, Replayed: false, Turns: turns})
		}
		if err := a.printf("The demo is in your store already: session %s, %s. Replay it once more with: %s\n", session,
			progress.Count(turns, "turn"), a.line("demo --again")); err != nil {
			return err
		}
		return a.printNext(session, "")
	}
	return &advised{err: exists, next: "it is no demo that was replayed to its end; replay it beside it with: " + a.line("demo --again")}
}

func (a *app) replayDemo(ctx context.Context, s *turnstone.Session, talk demo.Conversation) error {
	k, err := a.known(modelFlags{})
	if err != nil {
		return err
	}
	profile, _ := k.profiles.Find(demoModel)
	k.server = nil // no server is asked for anything
	counter, err := a.counter(ctx, k, profile)
	if err != nil {
		return err
	}
	bar := a.bar(progress.Config{Label: "replaying", Unit: "exchanges", Total: int64(len(talk.Exchanges))})
	defer bar.Clear()
	began := time.Now()
	report, err := demo.Replay(ctx, s, talk, demo.Options{
		Model: demoModel, Window: demoWindow, Progress: bar.Set,
		Count: func(text string) int { return counter.Tokens(counter.Text(text)).Tokens },
	})
	if err != nil && ctx.Err() != nil {
		return &interrupted{err: err, left: "what was replayed stays in the session " + s.ID() + "; forget it with: " + a.line("forget session "+quoted(s.ID()))}
	}
	if err != nil {
		return err
	}
	took := time.Since(began)
	if _, err := s.Bookmark(ctx, demoEnd, turnstone.Head); err != nil {
		return err
	}
	a.stored = "the demo is stored as session " + s.ID()
	bar.Clear()
	if a.json {
		return a.printJSON(newDemoJSON(s.ID(), report, took))
	}
	return a.printDemo(s.ID(), report, took)
}
