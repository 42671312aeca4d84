package turnstone_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/litetest"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// onStores runs a test on every store.
func onStores(t *testing.T, f func(t *testing.T, st store.Store)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) (store.Store, error){
		"mem": func(*testing.T) (store.Store, error) { return mem.New(mem.Config{}), nil },
		"sqlite": func(t *testing.T) (store.Store, error) {
			return sqlite.Open(t.Context(), litetest.File(t, filepath.Join(t.TempDir(), "log.db")), sqlite.Config{})
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
			f(t, st)
		})
	}
}

// talking opens an engine whose model answers so.
func talking(t *testing.T, st store.Store, replies ...llmtest.Reply) (*turnstone.Engine, *turnstone.Session, *llmtest.Script) {
	t.Helper()
	script := llmtest.Replies(replies...)
	eng := open(t, st, turnstone.Config{Model: script, ModelName: "llama3.2", Context: 8192, Agent: agent.Config{Tools: []agent.Tool{clock(t)}}})
	return eng, session(t, eng, "talk"), script
}

type zone struct {
	Zone string `json:"zone" doc:"where"`
}

// clock is a tool that knows what time it is.
func clock(t testing.TB) agent.Tool {
	t.Helper()
	tool, err := agent.NewTool("clock", "Tells the time.", func(_ context.Context, z zone) (string, error) { return "noon in " + z.Zone, nil })
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func call(id, zone string) llm.Call {
	return llm.Call{ID: id, Name: "clock", Arguments: `{"zone":"` + zone + `"}`}
}

// turnsOf are the turns of a session without summaries, a line each.
func turnsOf(t *testing.T, s *turnstone.Session) (lines []string) {
	t.Helper()
	page, err := s.Query(t.Context(), turn.Query{Kind: turn.KindTurn, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range page.Turns {
		line := string(u.Role) + ": " + strings.ReplaceAll(u.Content.Searchable(), "\n", " ")
		if r, ok := u.Content.(turn.Result); ok {
			line += " " + string(r.Status)
		}
		if u.Meta.Interrupted {
			line += " [interrupted]"
		}
		lines = append(lines, line)
	}
	return lines
}

// statuses are the states that the session's exchanges ended in.
func statuses(t *testing.T, st store.Store, s *turnstone.Session) (states []string) {
	t.Helper()
	err := st.Dump(t.Context(), func(r store.Row) error {
		switch r.Table {
		case "exports":
			if r.Values[2] == s.ID() {
				states = append(states, r.Values[7].(string))
			}
		case "drafts":
			states = append(states, "open")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return states
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestSay(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		_, chat, script := talking(t, st,
			llmtest.Reply{Thinking: "A clock? ", Text: "Let me look.", Calls: []llm.Call{call("c1", "Lisbon"), call("c2", "Kyoto")}, Usage: llm.Usage{Prompt: 100, Answer: 10}},
			llmtest.Reply{Text: "It is noon.", Usage: llm.Usage{Prompt: 150, Answer: 5}},
			llmtest.Reply{Text: "You are welcome."})
		reply, err := chat.Say(t.Context(), "What time is it?")
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != "It is noon." || reply.Stop != llm.StopEnd || reply.Rounds != 2 || reply.Calls != 2 || reply.Usage.Prompt != 250 || reply.Usage.Answer != 15 {
			t.Errorf("%+v", reply)
		}
		if reply.Commit.Status != commit.Complete || reply.Commit.Reply != "It is noon." || reply.Prompt == nil || reply.Prompt.Model != "llama3.2" {
			t.Errorf("commit %+v, prompt %+v", reply.Commit, reply.Prompt)
		}
		if _, err := chat.Say(t.Context(), "Thanks."); err != nil {
			t.Fatal(err)
		}
		same(t, "log", turnsOf(t, chat), []string{
			"user: What time is it?", `agent: Let me look. clock {"zone":"Lisbon"} clock {"zone":"Kyoto"}`,
			`system: clock "noon in Lisbon" ok`, `system: clock "noon in Kyoto" ok`, "agent: It is noon.",
			"user: Thanks.", "agent: You are welcome.",
		})
		same(t, "exchanges", statuses(t, st, chat), []string{"complete", "complete"})
		asked := script.Asked()
		for i, r := range asked {
			if r.Context != 6963 || r.MaxTokens <= 0 || r.MaxTokens > r.Context || len(r.Tools) != 1 || r.Tools[0].Name != "clock" {
				t.Errorf("request %d: context %d, at most %d, tools %v", i, r.Context, r.MaxTokens, r.Tools)
			}
		}
		var roles []llm.Role
		for _, m := range asked[2].Messages {
			roles = append(roles, m.Role)
		}
		same(t, "roles", roles, []llm.Role{llm.User, llm.Assistant, llm.ToolResult, llm.ToolResult, llm.Assistant, llm.User})
		if m := asked[2].Messages[3]; m.Name != "clock" || m.Text != "noon in Kyoto" {
			t.Errorf("%+v", m)
		}
		if l, err := chat.Acquire(t.Context()); err != nil || l.Release(t.Context()) != nil {
			t.Errorf("the lease was not given back: %v", err)
		}
		calls, err := chat.Prompts(t.Context(), 0, 10)
		if err != nil || len(calls) != 3 {
			t.Errorf("%d prompts: %v", len(calls), err)
		}
	})
}

func TestStream(t *testing.T) {
	_, chat, _ := talking(t, mem.New(mem.Config{}),
		llmtest.Reply{Thinking: "Hm. ", Text: "Let me", Calls: []llm.Call{call("c1", "Lisbon")}, Usage: llm.Usage{Prompt: 150, Answer: 4}},
		llmtest.Reply{Text: "It is noon.", Usage: llm.Usage{Prompt: 200, Answer: 4}})
	var told []string
	for piece, err := range chat.Stream(t.Context(), "What time is it?") {
		switch {
		case err != nil:
			t.Fatal(err)
		case piece.Call != nil:
			told = append(told, "call "+piece.Call.Name)
		case piece.Result != nil:
			told = append(told, "result "+piece.Result.Result)
		case piece.Reply != nil:
			told = append(told, "reply "+piece.Reply.Text)
		case piece.Thinking != "":
			told = append(told, "thinks "+piece.Thinking)
		default:
			told = append(told, piece.Text)
		}
	}
	same(t, "pieces", told, []string{"thinks Hm. ", "Let ", "me", "call clock", `result "noon in Lisbon"`, "It ", "is ", "noon.", "reply It is noon."})
}

func TestWhoHangsUpLosesNothing(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		_, chat, _ := talking(t, st, llmtest.Reply{Text: "One two three four five six."}, llmtest.Reply{Text: "Yes."})
		heard := ""
		for piece, err := range chat.Stream(t.Context(), "Count.") {
			if err != nil {
				t.Fatal(err)
			}
			if heard += piece.Text; heard == "One two three " {
				break
			}
		}
		same(t, "states", statuses(t, st, chat), []string{"interrupted"})
		reply, err := chat.Say(t.Context(), "Still there?")
		if err != nil || reply.Text != "Yes." {
			t.Fatal(reply, err)
		}
		same(t, "states", statuses(t, st, chat), []string{"interrupted", "complete"})
		log := turnsOf(t, chat)
		if len(log) != 4 || !strings.HasPrefix(log[1], "agent: One two three ") || !strings.HasSuffix(log[1], " [interrupted]") {
			t.Errorf("log %q", log)
		}
	})
}

func TestSayFails(t *testing.T) {
	dies := &llm.Error{Kind: llm.ErrInterrupted, Problem: "the server died", Fix: "start it"}
	for _, test := range []struct {
		name   string
		reply  llmtest.Reply
		want   error
		states []string
		log    []string
	}{
		{"in the middle", llmtest.Reply{Text: "One two ", Err: dies}, llm.ErrInterrupted, []string{"interrupted", "complete"}, []string{"user: Count.", "agent: One two  [interrupted]"}},
		{"at once", llmtest.Reply{Err: &llm.Error{Kind: llm.ErrUnreachable}}, llm.ErrUnreachable, []string{"failed", "complete"}, []string{"user: Count."}},
		{"without a word", llmtest.Reply{}, agent.ErrNoAnswer, []string{"failed", "complete"}, []string{"user: Count."}},
	} {
		t.Run(test.name, func(t *testing.T) {
			onStores(t, func(t *testing.T, st store.Store) {
				_, chat, _ := talking(t, st, test.reply, llmtest.Reply{Text: "Yes."})
				reply, err := chat.Say(t.Context(), "Count.")
				if !errors.Is(err, test.want) || reply.Text != test.reply.Text {
					t.Errorf("%+v, %v", reply, err)
				}
				if _, err := chat.Say(t.Context(), "And now?"); err != nil {
					t.Fatal(err)
				}
				same(t, "log", turnsOf(t, chat), append(test.log, "user: And now?", "agent: Yes."))
				same(t, "states", statuses(t, st, chat), test.states)
			})
		})
	}
}

func TestAModelThatNeverStops(t *testing.T) {
	script := llmtest.Replies(llmtest.Reply{Endless: true}, llmtest.Reply{Text: "Yes."})
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{Model: script, ModelName: "llama3.2", Agent: agent.Config{MaxAnswer: 3000}})
	chat := session(t, eng, "talk")
	_, err := chat.Say(t.Context(), "Go.")
	var limit *agent.LimitError
	if !errors.As(err, &limit) {
		t.Errorf("%v", err)
	}
	if _, err := chat.Say(t.Context(), "And now?"); err != nil {
		t.Error(err)
	}
	log := turnsOf(t, chat)
	if len(log) != 4 || len(log[1]) < 2900 || len(log[1]) > 3100 {
		t.Errorf("%d turns, %.100q", len(log), log)
	}
	same(t, "states", statuses(t, st, chat), []string{"interrupted", "complete"})
}

// A reply ends at what a turn may hold, also in a loop of the caller's own that would let it go on.
func TestAReplyLargerThanATurn(t *testing.T) {
	loop, err := agent.NewLoop(agent.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		say   func(*turnstone.Session, llm.Model) error
		wrong func(error) bool
	}{
		"say": {
			func(chat *turnstone.Session, _ llm.Model) error {
				_, err := chat.Say(t.Context(), "Go.")
				return err
			},
			func(err error) bool {
				var limit *agent.LimitError
				return errors.As(err, &limit) && limit.Limit == "MaxAnswer" && limit.Most == 2001
			},
		},
		"own loop": {
			func(chat *turnstone.Session, m llm.Model) error {
				_, err := agent.NewWorker("w", "llama3.2", m).Ask(t.Context(), loop, chat.Conversation(), "Go.")
				return err
			},
			func(err error) bool {
				var field *turn.FieldError
				return errors.As(err, &field) && field.Name == "reply"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			script := llmtest.Replies(llmtest.Reply{Text: "é", Endless: true}, llmtest.Reply{Text: "Yes."})
			eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: script, ModelName: "llama3.2", Limits: turn.Limits{Text: 2001}})
			chat := session(t, eng, "talk")
			if err := tt.say(chat, script); !tt.wrong(err) {
				t.Errorf("%v", err)
			}
			if _, err := chat.Say(t.Context(), "And now?"); err != nil {
				t.Error(err)
			}
			if log := turnsOf(t, chat); len(log) != 4 || log[1] != "agent: "+strings.Repeat("é", 1000)+" [interrupted]" {
				t.Errorf("%.100q", log)
			}
		})
	}
}

func TestExchangesOfASessionComeOneAfterTheOther(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		script := llmtest.Respond(func(r llm.Request) llmtest.Reply {
			return llmtest.Reply{Text: "Answer to " + r.Messages[len(r.Messages)-1].Text}
		})
		eng := open(t, st, turnstone.Config{Model: script, ModelName: "llama3.2"})
		chat := session(t, eng, "talk")
		const many = 8
		errs := make(chan error, many)
		for i := range many {
			go func() {
				question := "question " + string(rune('a'+i))
				reply, err := chat.Say(t.Context(), question)
				if err == nil && reply.Text != "Answer to "+question {
					err = errors.New(reply.Text)
				}
				errs <- err
			}()
		}
		for range many {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		log := turnsOf(t, chat)
		if len(log) != 2*many {
			t.Fatalf("log %q", log)
		}
		for pair := range slices.Chunk(log, 2) {
			if "agent: Answer to "+strings.TrimPrefix(pair[0], "user: ") != pair[1] {
				t.Errorf("%q", pair)
			}
		}
	})
}

func TestASecondSayWaitsNoLongerThanItsContext(t *testing.T) {
	st := mem.New(mem.Config{})
	_, chat, _ := talking(t, st, llmtest.Reply{Text: "One two."})
	for piece, err := range chat.Stream(t.Context(), "Count.") {
		if err != nil {
			t.Fatal(err)
		}
		if piece.Text == "One " {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := chat.Say(ctx, "Me too.")
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
	}
	same(t, "log", turnsOf(t, chat), []string{"user: Count.", "agent: One two."})
	same(t, "states", statuses(t, st, chat), []string{"complete"})
}

func TestSayNeedsAModelAndWords(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	chat := session(t, eng, "talk")
	var field *turn.FieldError
	if _, err := chat.Say(t.Context(), "Hello."); !errors.As(err, &field) || field.Name != "model" {
		t.Error(err)
	}
	with := turnstone.WithModel("llama3.2", llmtest.NewScript("Hello."), 0)
	if _, err := chat.Say(t.Context(), "", with); !errors.As(err, &field) {
		t.Error(err)
	}
	for _, blank := range []string{"   ", "\n\t"} {
		if _, err := chat.Say(t.Context(), blank, with); !errors.As(err, &field) {
			t.Errorf("%q: %v", blank, err)
		}
		part := turnstone.WithParts(turn.Draft{Role: turn.User, Content: turn.Text{Text: blank}})
		if _, err := chat.Say(t.Context(), "", with, part); !errors.As(err, &field) {
			t.Errorf("%q as a part: %v", blank, err)
		}
	}
	for _, err := range chat.Stream(t.Context(), "\x00", with) {
		if !errors.As(err, &field) {
			t.Error(err)
		}
	}
	if log := turnsOf(t, chat); len(log) != 0 {
		t.Errorf("%q", log)
	}
	nobody, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{Agent: agent.Config{MaxRounds: -1}})
	if !errors.As(err, &field) || nobody != nil {
		t.Error(err)
	}
}

// The engine's context is its own model's: another that is named without one has that of its profile.
func TestTheContextOfAnotherModel(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("Yes.", "Yes."), ModelName: "gpt-4o", Context: 100_000})
	for _, test := range []struct {
		name string
		give []turnstone.SayOption
		want int
	}{
		{"the engine's", nil, 100_000},
		{"of few tokens", []turnstone.SayOption{turnstone.WithModel("llama3", llmtest.NewScript("No."), 0)}, 8192},
		{"on the own machine", []turnstone.SayOption{turnstone.WithModel("llama3.2", llmtest.NewScript("No."), 0)}, 8192},
		{"with a context", []turnstone.SayOption{turnstone.WithModel("llama3.2", llmtest.NewScript("No."), 16_384)}, 16_384},
		{"without a name", []turnstone.SayOption{turnstone.WithModel("", llmtest.NewScript("No."), 0)}, 100_000},
	} {
		if reply, err := session(t, eng, "talk").Say(t.Context(), "Hello.", test.give...); err != nil || reply.Prompt.Window.Context != test.want {
			t.Errorf("%s: %+v, %v", test.name, reply.Prompt, err)
		}
	}
}

func TestWhatOneSayHasOfItsOwn(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript(), Prompt: prompt.Settings{System: "Be brief."}})
	chat := session(t, eng, "talk")
	script := llmtest.NewScript("A cat.")
	reply, err := chat.Say(t.Context(), "What is this?", turnstone.WithModel("llama3.2", script, 4096), turnstone.WithLate("Cats purr."),
		turnstone.WithParts(turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Alt: "a cat", Blob: turn.Blob{Data: []byte("meow")}}}))
	if err != nil || reply.Text != "A cat." {
		t.Fatal(reply, err)
	}
	r := script.Asked()[0]
	if r.Context != 3482 {
		t.Errorf("context %d", r.Context)
	}
	var shown []string
	var images []llm.Image
	for _, m := range r.Messages {
		shown = append(shown, string(m.Role)+": "+m.Text)
		images = append(images, m.Images...)
	}
	if len(shown) != 3 || shown[0] != "system: Be brief." || shown[1] != "user: What is this?" || !strings.Contains(shown[2], "Cats purr.") {
		t.Errorf("%q", shown)
	}
	same(t, "images", images, []llm.Image{{MediaType: "image/png", Alt: "a cat", Data: []byte("meow")}})
}

func TestTheModelOfTheSessionGoesFirst(t *testing.T) {
	_, chat, _ := talking(t, mem.New(mem.Config{}), llmtest.Reply{Text: "One."}, llmtest.Reply{Text: "Two."}, llmtest.Reply{Text: "Three."}, llmtest.Reply{Text: "Four."})
	for i, want := range []string{"llama3.2", "llama3.2", "qwen3", "qwen3"} {
		if i == 2 {
			if err := chat.Describe(t.Context(), turn.SessionInfo{Model: "qwen3"}); err != nil {
				t.Fatal(err)
			}
		}
		reply, err := chat.Say(t.Context(), "Who is it?")
		if err != nil || reply.Prompt.Model != want {
			t.Errorf("exchange %d is answered by %s: %v", i, reply.Prompt.Model, err)
		}
	}
	page, err := chat.Query(t.Context(), turn.Query{Role: turn.Agent})
	if err != nil || page.Turns[1].Meta.Model != "llama3.2" || page.Turns[2].Meta.Model != "qwen3" {
		t.Errorf("%+v, %v", page.Turns, err)
	}
}

// named is a model that knows what it is called.
type named struct{ llm.Model }

func (named) Name() string { return "llama3.2" }

func TestAModelMayNameItself(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: named{llmtest.NewScript("Yes.")}})
	reply, err := session(t, eng, "talk").Say(t.Context(), "Do you know your name?")
	if err != nil || reply.Prompt.Model != "llama3.2" {
		t.Errorf("%+v, %v", reply, err)
	}
}
