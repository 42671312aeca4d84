package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/transcripts"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// engineOn opens an engine that ends with the test.
func engineOn(t *testing.T, st store.Store) *turnstone.Engine {
	t.Helper()
	eng, err := turnstone.Open(t.Context(), st, transcripts.Config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return eng
}

// shown is a prompt at a turn.
type shown struct {
	At       int64
	Recorded bool
	SHA256   string
	Text     string
}

// promptsOf makes the prompts at all turns of a session.
func promptsOf(t *testing.T, eng *turnstone.Engine, id string, head int64) (all []shown) {
	t.Helper()
	s, err := eng.Find(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range head + 1 {
		p, recorded, err := s.PromptAt(t.Context(), seq, turnstone.PromptOptions{})
		var over *budget.OverBudgetError
		if errors.As(err, &over) {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		var text []byte
		for i := range p.Messages {
			text = append(p.Messages[i].AppendJSON(text), '\n')
		}
		all = append(all, shown{seq, recorded, p.SHA256, string(text)})
	}
	return all
}

// lecture is a conversation that outgrows a small window again and again, with pins, goals, other settings
// and late items on the way, and a fork of it.
func lecture(t *testing.T, eng *turnstone.Engine) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	s, err := eng.Session(ctx, "lecture")
	must(err)
	epochs := make(map[prompt.Reason]int)
	say := func(s *turnstone.Session, o turnstone.PromptOptions) {
		t.Helper()
		for _, role := range []turn.Role{turn.User, turn.Agent} {
			_, err := s.Append(ctx, turn.Draft{Role: role, Content: turn.Text{Text: fmt.Sprintf("%s: %060d of many words", role, len(epochs))}})
			must(err)
			o.Model, o.Context = "gpt-4o", 2048
			p, err := s.Prompt(ctx, o)
			must(err)
			if p.Opened != "" {
				epochs[p.Opened]++
			}
		}
	}
	aim := func(title string) {
		t.Helper()
		_, err := s.Intend(ctx, cortex.Changes{Goals: []cortex.GoalChange{{ID: title, By: cortex.ActorUser, Title: &title}}})
		must(err)
	}
	say(s, turnstone.PromptOptions{Settings: &firstSettings})
	for i := range 40 {
		var o turnstone.PromptOptions
		switch i {
		case 5:
			aim("learn")
		case 12:
			o.Settings = &secondSettings
		case 30:
			must(s.Pin(ctx, 2))
		case 35:
			must(s.Unpin(ctx, 2))
		}
		if i%3 == 0 {
			o.Late = []string{fmt.Sprint("Recalled: ", i)}
		}
		say(s, o)
	}
	fork, err := s.Fork(ctx, 70, turn.SessionInfo{Key: turn.Key{Session: "aside"}})
	must(err)
	say(fork, turnstone.PromptOptions{Settings: &thirdSettings})
	say(s, turnstone.PromptOptions{})
	for _, r := range []prompt.Reason{prompt.ReasonStart, prompt.ReasonGoal, prompt.ReasonSettings, prompt.ReasonPin, prompt.ReasonFull} {
		if epochs[r] == 0 {
			t.Errorf("no epoch was opened for %q: %v", r, epochs)
		}
	}
}

// moved is a session as it was where its bundle was written.
type moved struct {
	turn.SessionInfo
	file    []byte
	prompts []shown
}

// written writes the bundles of an engine's sessions.
func written(t *testing.T, eng *turnstone.Engine, st store.Store) (all []moved) {
	t.Helper()
	sessions, err := eng.Sessions(t.Context(), turn.SessionFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range sessions {
		var file bytes.Buffer
		if err := st.View(t.Context(), func(tx store.Tx) error {
			file.Reset()
			_, err := replay.Write(t.Context(), tx, info.Key, &file, replay.WriteOptions{Compress: true})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		all = append(all, moved{info, file.Bytes(), promptsOf(t, eng, info.Session, info.Head)})
	}
	return all
}

// Every prompt that was ever compiled can be made again from a bundle, on any store and under any name.
func TestPromptsAreMadeAgainOnAnotherMachine(t *testing.T) {
	there := mem.New(mem.Config{})
	eng := engineOn(t, there)
	lecture(t, eng)
	for seed := range uint64(12) {
		if _, err := transcripts.Compile(t.Context(), eng, seed); err != nil {
			t.Fatal(err)
		}
	}
	sessions := written(t, eng, there)
	forks, recorded := 0, 0
	for _, s := range sessions {
		if s.Parent != "" {
			forks++
		}
		for _, p := range s.prompts {
			if p.Recorded {
				recorded++
			}
		}
	}
	if forks < 2 || recorded < 100 {
		t.Errorf("%d forks, %d prompts", forks, recorded)
	}
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"mem": func(*testing.T) (store.Store, error) { return mem.New(mem.Config{}), nil },
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "here.db")), sqlite.Config{})
		},
		"postgres": func(t *testing.T) (store.Store, error) {
			return postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			st, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			here := engineOn(t, st)
			for _, s := range sessions {
				for _, as := range []string{"", "copy-of-" + s.Session} {
					info, err := replay.Import(t.Context(), st, opener(s.file), replay.ImportOptions{As: as})
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(s.prompts, promptsOf(t, here, info.Session, info.Head)); diff != "" {
						t.Errorf("%s as %q (-there +here):\n%s", s.Session, as, diff)
					}
				}
			}
			(&world{tester: t, ctx: t.Context(), Store: st}).healthy()
		})
	}
}
