package turnstone_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/transcripts"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

func compiled(t *testing.T, s *turnstone.Session, o turnstone.PromptOptions) *prompt.Prompt {
	t.Helper()
	p, err := s.Prompt(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// lines is a prompt as text, one message a line.
func lines(p *prompt.Prompt) string {
	var b strings.Builder
	for i := range p.Messages {
		b.Write(append(p.Messages[i].AppendJSON(nil), '\n'))
	}
	return b.String()
}

func TestPromptsGrowAtTheirEnd(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Prompt: prompt.Settings{System: "Be brief."}})
	s := session(t, eng, "s")
	o := turnstone.PromptOptions{Context: 4096, Model: "gpt-4o"}
	var before string
	epochs := 0
	for i := range 200 {
		role := []turn.Role{turn.User, turn.Agent}[i%2]
		seq := say(t, s, role, fmt.Sprintf("turn %d: %s", i+1, strings.Repeat("words and more ", i%7*5+1))).Seq
		p := compiled(t, s, o)
		if p.Account.Free() < 0 || p.Count.Upper() > p.Window.Usable-p.Window.Reserve {
			t.Fatalf("turn %d: %+v does not fit", i+1, p.Account)
		}
		now := lines(p)
		if p.Opened != "" {
			epochs++
		} else if !strings.HasPrefix(now, before) {
			t.Fatalf("turn %d changed the beginning:\n%s\n%s", i+1, before, now)
		}
		before = now
		again, recorded, err := s.PromptAt(t.Context(), seq, turnstone.PromptOptions{})
		if err != nil || !recorded || lines(again) != now || again.Model != "gpt-4o" {
			t.Fatalf("turn %d made again: %v, %v", i+1, recorded, err)
		}
	}
	if epochs < 3 || epochs > 30 {
		t.Errorf("%d epochs in 200 turns", epochs)
	}
}

func TestPromptsAreTheSameOnAllStoresAndAfterARestart(t *testing.T) {
	path, url := filepath.Join(t.TempDir(), "same.db"), pgstore.URL(t)
	memory := mem.New(mem.Config{})
	stores := map[string]func() (store.Store, error){
		"mem":      func() (store.Store, error) { return memory, nil },
		"sqlite":   func() (store.Store, error) { return sqlite.Open(t.Context(), path, sqlite.Config{}) },
		"postgres": func() (store.Store, error) { return postgres.Open(t.Context(), url, postgres.Config{}) },
	}
	want, wantEnd := make(map[uint64]string), make(map[uint64]string)
	const seeds = 12
	for _, name := range []string{"mem", "sqlite", "postgres"} {
		st, err := stores[name]()
		if err != nil {
			t.Fatal(err)
		}
		eng, err := turnstone.Open(t.Context(), st, transcripts.Config)
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(seeds) {
			stats, err := transcripts.Compile(t.Context(), eng, seed)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if name == "mem" {
				want[seed] = stats.Digest
			} else if stats.Digest != want[seed] {
				t.Errorf("%s: the prompts of seed %d are not those of mem", name, seed)
			}
		}
		if name != "mem" {
			if err := eng.Close(); err != nil {
				t.Fatal(err)
			}
			if st, err = stores[name](); err != nil {
				t.Fatal(err)
			}
			eng = open(t, st, transcripts.Config)
		} else {
			defer eng.Close()
		}
		for seed := range uint64(seeds) {
			p, err := session(t, eng, transcripts.Session(seed)).Prompt(t.Context(), turnstone.PromptOptions{Preview: true, Context: 100_000})
			if err != nil {
				t.Fatal(err)
			}
			if name == "mem" {
				wantEnd[seed] = lines(p)
			} else if lines(p) != wantEnd[seed] {
				t.Errorf("%s: after a restart the prompt of seed %d is another", name, seed)
			}
		}
	}
}

// calls is how many prompts of a session were kept.
func calls(t *testing.T, st store.Store, s *turnstone.Session) (n int) {
	t.Helper()
	err := st.View(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: s.ID()})
		if err != nil {
			return err
		}
		rows, err := tx.Prompt().Calls(t.Context(), turn.DefaultTenant, info.Lineage(info.Head), 0, 1000)
		n = len(rows)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAPromptIsKeptOnce(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	say(t, s, turn.User, "hello")
	if compiled(t, s, turnstone.PromptOptions{Preview: true}); calls(t, st, s) != 0 {
		t.Error("a preview was kept")
	}
	first := compiled(t, s, turnstone.PromptOptions{})
	if again := compiled(t, s, turnstone.PromptOptions{}); again.SHA256 != first.SHA256 || calls(t, st, s) != 1 {
		t.Errorf("the same prompt was kept %d times", calls(t, st, s))
	}
	if compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o"}); calls(t, st, s) != 2 {
		t.Error("a prompt for another model was not kept")
	}
	say(t, s, turn.Agent, "hi")
	if compiled(t, s, turnstone.PromptOptions{Late: []string{"recalled"}}); calls(t, st, s) != 3 {
		t.Error("a prompt with one more turn was not kept")
	}
}

// TestPromptsWhileOthersWrite: two engines compile and append to one session, each with another beginning, so
// that epochs are opened all the time. Every prompt is kept, in the order of the log, and can be made again.
func TestPromptsWhileOthersWrite(t *testing.T) {
	engines := twoEngines(t)
	say(t, session(t, engines[0], "shared"), turn.User, "hello")
	var mu sync.Mutex // guards made
	made := make(map[string]bool)
	var wait sync.WaitGroup
	for i, eng := range engines {
		wait.Go(func() {
			s, err := eng.Session(t.Context(), "shared")
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 15 {
				if _, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: fmt.Sprint(i, " says ", n)}}); err != nil {
					t.Error(err)
				}
				p, err := s.Prompt(t.Context(), turnstone.PromptOptions{Settings: &prompt.Settings{System: fmt.Sprint("system ", (i+n)%2)}})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				made[p.SHA256] = true
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	s := session(t, engines[0], "shared")
	kept, err := s.Prompts(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	end := int64(0)
	for i, call := range kept {
		if call.Number != int64(i+1) || call.End < end {
			t.Errorf("prompt %d of turn %d stands after one of turn %d", call.Number, call.End, end)
		}
		end = call.End
		p, err := s.Again(t.Context(), call)
		if err != nil || p.SHA256 != call.SHA256 {
			t.Errorf("prompt %d made again: %v", call.Number, err)
		}
		delete(made, call.SHA256)
	}
	if len(made) > 0 || end != 31 {
		t.Errorf("%d prompts were not kept, the last is of turn %d", len(made), end)
	}
}

func TestAForkKeepsItsPromptWhateverItsParentDoes(t *testing.T) {
	engines := twoEngines(t)
	parent := session(t, engines[0], "parent")
	say(t, parent, turn.User, "hello")
	compiled(t, parent, turnstone.PromptOptions{Settings: &prompt.Settings{System: "old"}})
	child, err := session(t, engines[1], "parent").Fork(t.Context(), turnstone.Head, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	compiled(t, parent, turnstone.PromptOptions{Settings: &prompt.Settings{System: "new"}})
	if p := compiled(t, child, turnstone.PromptOptions{}); p.Opened != "" || !strings.Contains(lines(p), "old") {
		t.Errorf("opened %q:\n%s", p.Opened, lines(p))
	}
}

func TestPromptAt(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
	say(t, s, turn.User, "one")
	compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o", Settings: &prompt.Settings{System: "old"}})
	say(t, s, turn.Agent, "two")
	say(t, s, turn.User, "three")
	compiled(t, s, turnstone.PromptOptions{Settings: &prompt.Settings{System: "new"}, Late: []string{"recalled: x"}})
	for _, test := range []struct {
		at        int64
		recorded  bool
		want, not string
	}{{1, true, "old", "two"}, {2, false, "two", "three"}, {3, true, "recalled: x", "old"}, {turnstone.Head, true, "recalled: x", "old"}, {0, false, "", "one"}} {
		p, recorded, err := s.PromptAt(t.Context(), test.at, turnstone.PromptOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if text := lines(p); recorded != test.recorded || !strings.Contains(text, test.want) || strings.Contains(text, test.not) {
			t.Errorf("at %d: recorded %v\n%s", test.at, recorded, text)
		}
	}
	if _, _, err := s.PromptAt(t.Context(), 4, turnstone.PromptOptions{}); err == nil || !strings.Contains(err.Error(), "up to 3") {
		t.Errorf("a turn that is not there: %v", err)
	}
	fork, err := s.Fork(t.Context(), 3, turn.SessionInfo{})
	if err != nil {
		t.Fatal(err)
	}
	p, recorded, err := fork.PromptAt(t.Context(), 3, turnstone.PromptOptions{})
	if err != nil || !recorded || !strings.Contains(lines(p), "recalled: x") {
		t.Errorf("in a fork: %v, %v", recorded, err)
	}
}

func TestAWindowThatIsTooSmall(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	say(t, s, turn.User, "hello")
	for name, o := range map[string]turnstone.PromptOptions{
		"system prompt": {Context: 2048, Settings: &prompt.Settings{System: strings.Repeat("rules ", 5000)}},
		"tools":         {Context: 2048, Settings: &prompt.Settings{Tools: []prompt.Definition{{Name: "x", Schema: `{"a":"` + strings.Repeat("y z ", 5000) + `"}`}}}},
	} {
		_, err := s.Prompt(t.Context(), o)
		var over *budget.OverBudgetError
		if !errors.As(err, &over) || !errors.Is(err, budget.ErrOverBudget) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	say(t, s, turn.User, strings.Repeat("much to say ", 5000))
	_, err := s.Prompt(t.Context(), turnstone.PromptOptions{Context: 2048})
	if !errors.Is(err, budget.ErrOverBudget) || calls(t, st, s) != 0 {
		t.Errorf("one message larger than the window: %v, %d kept", err, calls(t, st, s))
	}
	// Nothing is lost: a larger window takes it.
	if p := compiled(t, s, turnstone.PromptOptions{Context: 65536}); p.Epoch != 1 || len(p.Messages) != 2 {
		t.Errorf("epoch %d, %d messages", p.Epoch, len(p.Messages))
	}
	for _, o := range []turnstone.PromptOptions{{Context: 12}, {Context: 1_000_000, Model: "gpt-4"}} {
		if _, err := s.Prompt(t.Context(), o); err == nil || !strings.Contains(err.Error(), "context") {
			t.Errorf("a window of %d tokens: %v", o.Context, err)
		}
	}
}

func TestACompressionThatIsOffLetsNothingLeave(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Compression: budget.Compression{Off: true}}), "s")
	o := turnstone.PromptOptions{Context: 2048, Model: "gpt-4o"}
	for n := 1; ; n++ {
		say(t, s, turn.User, "we go on and on about the same thing")
		p, err := s.Prompt(t.Context(), o)
		if errors.Is(err, budget.ErrOverBudget) {
			break
		}
		if err != nil || p.Shown != int64(n) || p.Epoch != 1 || n > 1000 {
			t.Fatalf("turn %d: %+v, %v", n, p, err)
		}
	}
	var many []turn.Draft
	for range 2000 {
		many = append(many, turn.Draft{Role: turn.User, Content: turn.Text{Text: "and on"}})
	}
	if _, err := s.Append(t.Context(), many...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prompt(t.Context(), o); !errors.Is(err, budget.ErrOverBudget) {
		t.Errorf("far behind: %v", err)
	}
	if p := compiled(t, s, turnstone.PromptOptions{Context: 100_000}); p.Shown < 2000 || p.Epoch != 1 {
		t.Errorf("a larger window shows %d turns in epoch %d", p.Shown, p.Epoch)
	}
}
