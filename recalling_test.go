package turnstone_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// early is what is said once, long ago, and no summary has room for.
const early = "It lies under the third flowerpot behind the heron."

// wornTalk opens an engine with a session of a long conversation, most of which has left its prompt.
func wornTalk(t *testing.T, st store.Store, config turnstone.Config, replies ...llmtest.Reply) (*turnstone.Session, *llmtest.Script) {
	t.Helper()
	for i := range replies {
		replies[i].Usage.Answer = 1 // and no word of the prompt, which would be less than was sent
	}
	script := llmtest.Replies(replies...)
	config.Model, config.ModelName, config.Context = script, "llama3.2", 8192
	config.Agent.Tools = []agent.Tool{clock(t)}
	s := session(t, open(t, st, config), "s")
	say(t, s, turn.User, "Where did you put my spare key?")
	say(t, s, turn.Agent, early)
	for i := range 480 {
		say(t, s, turn.User, fmt.Sprintf("Question %d?", i))
		say(t, s, turn.Agent, fmt.Sprintf("Answer %d, and some more words to fill the window.", i))
	}
	if p := compiled(t, s, turnstone.PromptOptions{}); p.From < 100 || strings.Contains(lines(p), early) {
		t.Fatalf("the prompt begins at turn %d:\n%s", p.From, lines(p))
	}
	return s, script
}

// late is the last message of a request, if the engine says it.
func late(r llm.Request) string {
	if text := r.Messages[len(r.Messages)-1].Text; strings.HasPrefix(text, "[Turnstone note") {
		return text
	}
	return ""
}

func TestSayRecallsWhatThePromptDoesNotShow(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		s, script := wornTalk(t, st, turnstone.Config{Recall: &turnstone.RecallOptions{}},
			llmtest.Reply{Calls: []llm.Call{call("c1", "Lisbon")}}, llmtest.Reply{Text: "Under the flowerpot."}, llmtest.Reply{Text: "Yes."})
		reply, err := s.Say(t.Context(), "I need the spare key. Where is it?")
		if err != nil || len(reply.Warnings) > 0 {
			t.Fatalf("%v, %q", err, reply.Warnings)
		}
		asked := script.Asked()
		first, second := late(asked[0]), late(asked[1])
		if !strings.Contains(first, "[Recalled from turn 2, said by the agent on ") || !strings.Contains(first, early) {
			t.Errorf("late block: %s", first)
		}
		if first != second {
			t.Errorf("it is another one when the tool has answered: %s", second)
		}
		if strings.Contains(first, "Question 1?") {
			t.Errorf("far from what was asked for: %s", first)
		}
		for _, line := range reply.Prompt.Account.Lines {
			if line.Part == budget.Late && (line.Count.Tokens == 0 || line.Count.Tokens > reply.Prompt.Window.Usable*3/100) {
				t.Errorf("the late block has %d tokens of %d", line.Count.Tokens, reply.Prompt.Window.Usable)
			}
		}
		again, recorded, err := s.PromptAt(t.Context(), reply.Prompt.End, turnstone.PromptOptions{})
		if err != nil || !recorded || again.SHA256 != reply.Prompt.SHA256 {
			t.Errorf("the same prompt again: %v, %v", recorded, err)
		}
		// Nothing of it is taken for something that was said, nor comes back where it is not asked for.
		if got := turnsOf(t, s); strings.Count(strings.Join(got, "\n"), early) != 1 {
			t.Errorf("%q", got)
		}
		if _, err := s.Say(t.Context(), "Is that so?"); err != nil {
			t.Fatal(err)
		}
		if text := late(script.Asked()[2]); text != "" {
			t.Errorf("recalled for nothing: %s", text)
		}
		healthy(t, st)
	})
}

func TestNothingIsRecalledUnlessAskedFor(t *testing.T) {
	s, script := wornTalk(t, mem.New(mem.Config{}), turnstone.Config{}, llmtest.Reply{Text: "No idea."})
	if _, err := s.Say(t.Context(), "Where is the spare key?"); err != nil {
		t.Fatal(err)
	}
	if text := late(script.Asked()[0]); text != "" {
		t.Error(text)
	}
}

func TestNothingIsRecalledThatThePromptShows(t *testing.T) {
	script := llmtest.NewScript("Under the flowerpot.")
	st := &searched{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{Model: script, ModelName: "llama3.2", Context: 4096, Recall: &turnstone.RecallOptions{}})
	s := session(t, eng, "s")
	say(t, s, turn.User, "Where did you put my spare key?")
	say(t, s, turn.Agent, early)
	compiled(t, s, turnstone.PromptOptions{})
	if _, err := s.Say(t.Context(), "Where is the spare key?"); err != nil {
		t.Fatal(err)
	}
	if text := late(script.Asked()[0]); text != "" || st.times > 0 {
		t.Errorf("%d searches: %s", st.times, text)
	}
}

// searched counts searches, and fails them where it is to.
type searched struct {
	store.Store
	times int
	err   error
}

func (s *searched) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(searchedTx{tx, s}) })
}

type searchedTx struct {
	store.Tx
	searched *searched
}

func (tx searchedTx) Log() turn.Rows { return searchedLog{tx.Tx.Log(), tx.searched} }

type searchedLog struct {
	turn.Rows
	searched *searched
}

func (l searchedLog) TextTails(ctx context.Context, tenant string, spans []turn.Span) ([]turn.Span, error) {
	if l.searched.times++; l.searched.err != nil {
		return nil, l.searched.err
	}
	return l.Rows.TextTails(ctx, tenant, spans)
}

func TestAnExchangeGoesOnWhereNothingCanBeRecalled(t *testing.T) {
	st, log := &searched{Store: mem.New(mem.Config{})}, &bytes.Buffer{}
	config := turnstone.Config{Recall: &turnstone.RecallOptions{}, Log: slog.NewTextHandler(log, nil)}
	s, script := wornTalk(t, st, config, llmtest.Reply{Text: "No idea."}, llmtest.Reply{Text: "No idea."})
	st.err = errors.New("the index is torn")
	reply, err := s.Say(t.Context(), "Where is the spare key?")
	if err != nil || reply.Text != "No idea." || len(reply.Warnings) != 1 || !strings.Contains(reply.Warnings[0], "the index is torn") {
		t.Errorf("%q, %v, warnings %q", reply.Text, err, reply.Warnings)
	}
	if text := late(script.Asked()[0]); text != "" {
		t.Error(text)
	}
	var warned []string
	for piece, err := range s.Stream(t.Context(), "The spare key?") {
		if err != nil {
			t.Fatal(err)
		}
		if piece.Warning != "" {
			warned = append(warned, piece.Warning)
		}
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "the index is torn") {
		t.Errorf("warned %q", warned)
	}
	// The log is told too, and not of every exchange.
	if said := log.String(); strings.Count(said, "level=WARN") != 1 || !strings.Contains(said, "the index is torn") {
		t.Errorf("log: %s", said)
	}
}

// embedding is a model that embeds texts.
type embedding func(texts []string) ([][]float32, error)

func (e embedding) Embed(_ context.Context, texts []string) ([][]float32, error) { return e(texts) }

func TestAnEmbedderThatFailsIsDoneWithout(t *testing.T) {
	for name, e := range map[string]embedding{
		"error": func([]string) ([][]float32, error) { return nil, errors.New("no such model") },
		"panic": func([]string) ([][]float32, error) { panic("no such model") },
	} {
		t.Run(name, func(t *testing.T) {
			s, script := wornTalk(t, mem.New(mem.Config{}), turnstone.Config{Recall: &turnstone.RecallOptions{}, Embedder: e}, llmtest.Reply{Text: "Under the flowerpot."})
			reply, err := s.Say(t.Context(), "Where is the spare key?")
			if err != nil || len(reply.Warnings) != 1 || !strings.Contains(reply.Warnings[0], "no such model") {
				t.Errorf("%v, %q", err, reply.Warnings)
			}
			if text := late(script.Asked()[0]); !strings.Contains(text, early) {
				t.Errorf("late block: %s", text)
			}
		})
	}
}

func TestTheEngineHasAnEmbedder(t *testing.T) {
	var asked [][]string
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Embedder: embedding(func(texts []string) ([][]float32, error) {
		asked = append(asked, texts)
		vectors := make([][]float32, len(texts))
		for i, text := range texts {
			vectors[i] = []float32{1, float32(len(text))}
		}
		return vectors, nil
	})})
	s := session(t, eng, "s")
	say(t, s, turn.User, "A heron.")
	if hits := recalled(t, s, "heron", turnstone.RecallOptions{}); len(hits) != 1 || len(asked) != 1 || asked[0][0] != "heron" || asked[0][1] != "A heron." {
		t.Errorf("%v, asked %q", cited(hits), asked)
	}
	own := embedding(func([]string) ([][]float32, error) { return nil, errors.New("own") })
	if _, err := s.Recall(t.Context(), "heron", turnstone.RecallOptions{Embedder: own}); err == nil || len(asked) != 1 {
		t.Errorf("%v, asked %q", err, asked)
	}
}

// What is too long for the late block is cut there, as little as is needed.
func TestALongTurnIsRecalledInPart(t *testing.T) {
	st := mem.New(mem.Config{})
	script := llmtest.NewScript("There.")
	eng := open(t, st, turnstone.Config{Model: script, ModelName: "llama3.2", Context: 4096, Recall: &turnstone.RecallOptions{Limit: 1}})
	s := session(t, eng, "s")
	say(t, s, turn.User, "Tell me.")
	say(t, s, turn.Agent, "The walrus is in the lake. "+strings.Repeat("It swims to and fro, and sleeps at noon. ", 20))
	for i := range 480 {
		say(t, s, turn.User, fmt.Sprintf("Question %d?", i))
		say(t, s, turn.Agent, fmt.Sprintf("Answer %d, and some more words to fill the window.", i))
	}
	compiled(t, s, turnstone.PromptOptions{})
	if _, err := s.Say(t.Context(), "What about the walrus?"); err != nil {
		t.Fatal(err)
	}
	if text := late(script.Asked()[0]); !strings.Contains(text, "The walrus is in the lake. It swims to") || !strings.Contains(text, " more bytes]") {
		t.Errorf("late block: %s", text)
	}
}

// However long it is and whatever it is made of, as much of it as has room is shown.
func TestALongTurnIsRecalledWhateverItsLength(t *testing.T) {
	kinds := []string{"It swims to and fro, and sleeps at noon. ", `{"at": [1, 2], "to": {"x": 17}},` + "\n", "if x == nil { return y[i+1]; }\n", "Он спит в полдень. ", "今日は雨です。"}
	for _, model := range []string{"llama3.2", "gpt-4o"} {
		script := llmtest.Replies(slices.Repeat([]llmtest.Reply{{Text: "There.", Usage: llm.Usage{Answer: 1}}}, 60)...)
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: script, ModelName: model, Context: 4096, Recall: &turnstone.RecallOptions{Limit: 1}})
		s := session(t, eng, "s")
		for i := range 60 {
			filled := strings.Repeat(kinds[i%len(kinds)], 20)
			say(t, s, turn.User, "Tell me.")
			say(t, s, turn.Agent, strings.ToValidUTF8(filled[:200+3*i], "")+fmt.Sprintf("\nThe walrus%d is in the lake.\n", i)+filled)
		}
		for i := range 300 {
			say(t, s, turn.User, fmt.Sprintf("Question %d?", i))
			say(t, s, turn.Agent, fmt.Sprintf("Answer %d, and some more words to fill the window.", i))
		}
		compiled(t, s, turnstone.PromptOptions{})
		shown := 0
		for i := range 60 {
			reply, err := s.Say(t.Context(), fmt.Sprintf("Where is walrus%d?", i))
			if err != nil {
				t.Fatal(err)
			}
			text, share := late(script.Asked()[i]), reply.Prompt.Window.Usable*3/100
			if text == "" && len(reply.Warnings) == 1 && (reply.Prompt.Account.Free() < share || strings.Contains(reply.Warnings[0], "deadline exceeded")) {
				continue // the turns before it fill the window, or this machine is busy
			}
			shown++
			if !strings.Contains(text, fmt.Sprintf("walrus%d is in the lake.", i)) || !strings.Contains(text, " more bytes]") || len(reply.Warnings) > 0 {
				t.Errorf("%s, %d: %q, late block: %s", model, i, reply.Warnings, text)
			}
			for _, line := range reply.Prompt.Account.Lines {
				if line.Part == budget.Late && (line.Count.Tokens < share*2/3 || line.Count.Upper() > share) {
					t.Errorf("%s, %d: %d tokens: %s", model, i, line.Count.Tokens, text)
				}
			}
		}
		if shown < 50 {
			t.Errorf("%s: only %d were shown", model, shown)
		}
	}
}

// Where nothing of what was found has room, that is said once.
func TestWhatHasNoRoomIsSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		context int
		late    string
	}{
		"little context": {2048, ""},
		"other items":    {4096, strings.Repeat("The weather is fine. ", 10)},
	} {
		silent := llm.Usage{Answer: 1}
		script := llmtest.Replies(llmtest.Reply{Text: "No idea.", Usage: silent}, llmtest.Reply{Text: "No idea.", Usage: silent})
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: script, ModelName: "llama3.2", Context: tt.context, Recall: &turnstone.RecallOptions{}})
		s := session(t, eng, "s")
		say(t, s, turn.User, "Where did you put my spare key?")
		say(t, s, turn.Agent, early+" "+strings.Repeat("It swims to and fro, and sleeps at noon. ", 20))
		for i := range 300 {
			say(t, s, turn.User, fmt.Sprintf("Question %d?", i))
			say(t, s, turn.Agent, fmt.Sprintf("Answer %d, and some more words to fill the window.", i))
		}
		compiled(t, s, turnstone.PromptOptions{})
		var options []turnstone.SayOption
		if tt.late != "" {
			options = append(options, turnstone.WithLate(tt.late))
		}
		reply, err := s.Say(t.Context(), "Where is the spare key?", options...)
		if err != nil || len(reply.Warnings) != 1 || !strings.Contains(reply.Warnings[0], "no room") {
			t.Errorf("%s: %v, %q, late block: %s", name, err, reply.Warnings, late(script.Asked()[0]))
		}
		reply, err = s.Say(t.Context(), "Which zebra?", options...)
		if err != nil || len(reply.Warnings) > 0 {
			t.Errorf("%s: nothing was found: %v, %q", name, err, reply.Warnings)
		}
	}
}

// What leaves the prompt in an exchange is recalled in that exchange.
func TestWhatJustLeftIsRecalled(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		silent := llm.Usage{Answer: 1}
		script := llmtest.Replies(llmtest.Reply{Text: "Under the flowerpot.", Usage: silent})
		eng := open(t, st, turnstone.Config{Model: script, ModelName: "llama3.2", Context: 8192, Recall: &turnstone.RecallOptions{}})
		s := session(t, eng, "s")
		say(t, s, turn.User, "Where did you put my spare key?")
		say(t, s, turn.Agent, early)
		compiled(t, s, turnstone.PromptOptions{})
		for i := range 480 {
			say(t, s, turn.User, fmt.Sprintf("Question %d?", i))
			say(t, s, turn.Agent, fmt.Sprintf("Answer %d, and some more words to fill the window.", i))
		}
		reply, err := s.Say(t.Context(), "Where is the spare key?")
		if err != nil || len(reply.Warnings) > 0 || reply.Prompt.From < 100 || reply.Prompt.Opened != prompt.ReasonFull {
			t.Fatalf("%v, %q, from %d, %q", err, reply.Warnings, reply.Prompt.From, reply.Prompt.Opened)
		}
		if text := late(script.Asked()[0]); !strings.Contains(text, early) {
			t.Errorf("late block: %s", text)
		}
		again, recorded, err := s.PromptAt(t.Context(), reply.Prompt.End, turnstone.PromptOptions{})
		if err != nil || !recorded || again.SHA256 != reply.Prompt.SHA256 {
			t.Errorf("the prompt is not the one that was sent: %v, %v", recorded, err)
		}
		healthy(t, st)
	})
}

// What is recalled has its room in a prompt that what the user says all but fills: other turns leave it, also where their summary is still
// being made, and where turns came back by an undo and stay while there is room.
func TestWhatIsRecalledHasItsRoomInAFullPrompt(t *testing.T) {
	for name, tt := range map[string]struct {
		summariser compress.Summariser
		undo       bool
	}{"at once": {}, "with a model that summarises": {summariser: slowSummariser{}}, "after an undo": {undo: true}} {
		for short := 0; short < 400; short += 50 {
			s, script := wornTalk(t, mem.New(mem.Config{}), turnstone.Config{Recall: &turnstone.RecallOptions{}, Summariser: tt.summariser},
				llmtest.Reply{Text: "Yes."}, llmtest.Reply{Text: "Under the flowerpot."})
			if tt.undo {
				for i := range 40 {
					say(t, s, turn.User, fmt.Sprintf("Question %d?", 480+i))
					say(t, s, turn.Agent, fmt.Sprintf("Answer %d, and some more words to fill the window.", 480+i))
				}
				if _, err := s.Compress(t.Context(), turnstone.PromptOptions{}); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Undo(t.Context(), 0, turnstone.PromptOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			reply, err := s.Say(t.Context(), "Is that so?")
			if err != nil {
				t.Fatal(err)
			}
			free := reply.Prompt.Account.Free() - 100 - short
			reply, err = s.Say(t.Context(), "I need the spare key. Where is it?"+strings.Repeat(" la", free*9/10))
			if err != nil || len(reply.Warnings) > 0 {
				t.Errorf("%s, with %d tokens less: %v, %q, free %d, left out %d", name, short, err, reply.Warnings, reply.Prompt.Account.Free(), len(reply.Prompt.LeftOut))
				continue
			}
			if text := late(script.Asked()[1]); !strings.Contains(text, early) {
				t.Errorf("%s, with %d tokens less: %s", name, short, text)
			}
		}
	}
}

// slowSummariser answers nobody.
type slowSummariser struct{}

func (slowSummariser) Summarise(ctx context.Context, _ compress.Request) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestRecallIsChecked(t *testing.T) {
	for name, o := range map[string]turnstone.RecallOptions{"limit": {Limit: 101}, "tokens": {Tokens: -1}, "Recall": {Scope: "all"}} {
		_, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{Recall: &o})
		var refused *recall.FieldError
		if !errors.As(err, &refused) || refused.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A relay recalls where it is asked to, and where it makes a prompt.
func TestARelayRecallsWhereItIsAskedTo(t *testing.T) {
	s, _ := wornTalk(t, mem.New(mem.Config{}), turnstone.Config{Recall: &turnstone.RecallOptions{}})
	for _, o := range []turnstone.RelayOptions{{}, {Recall: &turnstone.RecallOptions{}}} {
		o.Model, o.Context, o.After = "llama3.2", 8192, turnstone.Head
		r := s.Relay(o)
		if err := r.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Where is the spare key?"}}); err != nil {
			t.Fatal(err)
		}
		request, err := r.Compile(t.Context(), agent.Offer{})
		if err != nil || strings.Contains(late(request), early) != (o.Recall != nil) {
			t.Errorf("%q, %v", late(request), err)
		}
		if _, err := r.Begun(t.Context()); err != nil {
			t.Error(err)
		}
		if err := r.End(t.Context(), agent.Ending{State: commit.Failed, Err: errors.New("enough")}); err != nil {
			t.Error(err)
		}
	}
}

// The sessions of a user are recalled in a new one, and one without a user recalls from itself alone.
func TestOtherSessionsAreRecalled(t *testing.T) {
	silent := llm.Usage{Answer: 1}
	script := llmtest.Replies(llmtest.Reply{Text: "Under the flowerpot.", Usage: silent}, llmtest.Reply{Text: "No idea.", Usage: silent})
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: script, ModelName: "llama3.2", Context: 4096, Recall: &turnstone.RecallOptions{Scope: recall.OfUser}})
	for _, id := range []string{"old", "new"} {
		if _, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: id}, User: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	say(t, session(t, eng, "old"), turn.User, "Where did you put my spare key?")
	say(t, session(t, eng, "old"), turn.Agent, early)
	for i, id := range []string{"new", "nobody"} {
		reply, err := session(t, eng, id).Say(t.Context(), "Where is the spare key?")
		if err != nil || len(reply.Warnings) > 0 {
			t.Fatalf("%v, %q", err, reply.Warnings)
		}
		if text := late(script.Asked()[i]); strings.Contains(text, "of session old") != (id == "new") {
			t.Errorf("%s: %s", id, text)
		}
	}
}
