package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/chat"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// talk makes a conversation with a scripted model.
func talk(t *testing.T, model llm.Model, o chatOptions) *talking {
	t.Helper()
	a := &app{system: system{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, getenv: func(string) string { return "" }}}
	profile, _ := budget.Known().Find("gpt-4")
	k := &talking{
		app: a, options: o, notes: make(chan string, 16),
		voice: voice{name: "gpt-4", api: apiOllama, url: "http://there", model: model, known: known{profiles: budget.Known()}, profile: profile},
	}
	config, err := k.config()
	if err != nil {
		t.Fatal(err)
	}
	if k.engine, err = turnstone.Open(t.Context(), mem.New(mem.Config{}), config); err != nil {
		t.Fatal(err)
	}
	stop := k.engine.Listen(k.happened)
	t.Cleanup(func() {
		stop()
		if err := k.engine.Close(); err != nil {
			t.Error(err)
		}
	})
	if k.session, err = k.engine.Session(t.Context(), "work"); err != nil {
		t.Fatal(err)
	}
	return k
}

func streamed(ctx context.Context, k *talking, text string) (events []chat.Event, err error) {
	for e, err := range k.Stream(ctx, text) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func TestTalkStreams(t *testing.T) {
	model := llmtest.Replies(
		llmtest.Reply{Thinking: "Hm.", Calls: []llm.Call{{ID: "c", Name: "run", Arguments: `{"command":"echo so"}`}}},
		llmtest.Reply{Text: "It says so.", Usage: llm.Usage{Prompt: 4, Answer: 3}}, // most of the prompt was dropped
	)
	k := talk(t, model, chatOptions{shell: true, context: 8192})
	k.ask = func(_ context.Context, c llm.Call) error {
		if c.Name != "run" {
			return agent.ErrDenied
		}
		return nil
	}
	events, err := streamed(t.Context(), k, "Try it")
	if err != nil {
		t.Fatal(err)
	}
	want := []chat.Event{
		chat.Doing{What: "waiting for gpt-4"}, chat.Thinking{Text: "Hm."}, chat.Doing{What: "using run"},
		chat.Note{Text: `[run] ok: {"exit":0,"output":"so\n"}`},
		chat.Text{Text: "It "}, chat.Text{Text: "says "}, chat.Text{Text: "so."},
	}
	var cut chat.Note
	if len(events) > len(want) {
		cut, _ = events[len(want)].(chat.Note)
	}
	if want = append(want, cut); !strings.HasPrefix(cut.Text, "the model did not see all of the prompt: of the ") {
		t.Errorf("noted %q", cut.Text)
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	status, err := k.Status(t.Context())
	if err != nil || !strings.HasPrefix(status.Line, "Context: ") || status.Session != "work" || status.Model != "gpt-4" {
		t.Errorf("status %+v, %v", status, err)
	}
}

func TestTalkExplains(t *testing.T) {
	down := &llm.Error{Kind: llm.ErrUnreachable, Model: "gpt-4", Problem: "refused", Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}
	k := talk(t, llmtest.Replies(llmtest.Reply{Err: down}, llmtest.Reply{Text: "Hello."}), chatOptions{context: 8192})
	_, err := streamed(t.Context(), k, "Hello")
	if !errors.Is(err, llm.ErrUnreachable) || !strings.HasPrefix(err.Error(), "no Ollama server answers at http://there; start Ollama") {
		t.Errorf("got %v", err)
	}
	silent := &llm.Error{Kind: llm.ErrUnreachable, Problem: "nothing came for 15m0s"}
	if err := k.explained(silent); err != error(silent) {
		t.Errorf("a server that is there is not started: %v", err)
	}
	k.voice.api = apiOpenAI
	if err := k.explained(down); err != error(down) {
		t.Errorf("got %v", err)
	}
	_, err = streamed(t.Context(), k, strings.Repeat("word ", 20000))
	if !errors.Is(err, turnstone.ErrOverBudget) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "; send the last message in smaller pieces") {
		t.Errorf("got %v", err)
	}
	// There is one line for how it stands then, too.
	if _, err := k.Status(t.Context()); !errors.Is(err, turnstone.ErrOverBudget) || strings.Contains(err.Error(), "\n") {
		t.Errorf("status: got %v", err)
	}
	// The conversation goes on after both.
	if _, err := streamed(t.Context(), k, "Hello?"); err != nil {
		t.Error(err)
	}
}

// When turns leave the prompt the conversation says so, and who summarises them.
func TestTalkTellsOfCompression(t *testing.T) {
	summaries := 0
	model := llmtest.Respond(func(r llm.Request) llmtest.Reply {
		if len(r.Messages) > 0 && !strings.Contains(r.Messages[0].Text, "helpful assistant") {
			summaries++
			if r.Context != 3481 {
				return llmtest.Reply{Err: fmt.Errorf("a context of %d would have the model loaded again", r.Context)}
			}
			return llmtest.Reply{Text: "They talked about ports."}
		}
		return llmtest.Reply{Text: "The service listens on port 5433 and writes to /var/lib/service, as we decided. " + strings.Repeat("It is so. ", 30)}
	})
	k := talk(t, model, chatOptions{context: 4096})
	var notes []string
	for i := range 40 {
		if _, err := streamed(t.Context(), k, fmt.Sprintf("What about service %d?", i)); err != nil {
			t.Fatal(err)
		}
		if err := k.session.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		for len(k.notes) > 0 {
			notes = append(notes, <-k.notes)
		}
	}
	all := strings.Join(notes, "\n")
	if summaries == 0 || !strings.Contains(all, "compressing: gpt-4 summarises older turns in the background") {
		t.Errorf("%d summaries, told of %s", summaries, all)
	}
	if left, asked := strings.Count(all, "left the prompt"), strings.Count(all, "compressing: "); asked > left+1 {
		t.Errorf("told %d times of a summary, for %d passes", asked, left)
	}
	if !strings.Contains(all, "left the prompt, which has ") || !strings.Contains(all, "/undo takes it back") {
		t.Errorf("told of %s", all)
	}
}

func TestNotesDoNotHoldUp(t *testing.T) {
	k := talk(t, llmtest.NewScript(), chatOptions{context: 8192})
	for i := range 100 {
		k.tell(fmt.Sprint(i))
	}
	if len(k.notes) != cap(k.notes) || <-k.notes != "0" {
		t.Error("the first notes are not the ones that are kept")
	}
	for len(k.notes) > 0 {
		<-k.notes
	}
	k.happened(event.Event{Kind: event.SnapshotCreated, Data: `{}`})
	k.happened(event.Event{Kind: event.Compressed, Data: `no JSON`})
	if len(k.notes) != 0 {
		t.Errorf("told of %s", <-k.notes)
	}
}

func TestAsking(t *testing.T) {
	questions := make(chan chat.Question)
	ask := asking(questions)
	call := llm.Call{Name: "run", Arguments: `{"command":"make"}`}
	for _, allowed := range []bool{true, false} {
		go func() {
			q := <-questions
			if q.Text != `The model wants to call run with {"command":"make"}` {
				t.Errorf("asked %q", q.Text)
			}
			q.Answer(allowed)
		}()
		if err := ask(t.Context(), call); (err == nil) != allowed || !allowed && !errors.Is(err, agent.ErrDenied) {
			t.Errorf("allowed %t: %v", allowed, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := ask(ctx, call); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody is asked: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		<-questions
		cancel() // and no answer
	}()
	if err := ask(ctx, call); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody answers: %v", err)
	}
}

func TestWhatAServerSpeaks(t *testing.T) {
	for _, test := range []struct {
		url    string
		hosted bool
		want   string
	}{
		{"", false, apiOllama}, {"", true, apiOpenAI}, {"http://box:11434", true, apiOllama}, {"http://box/v1", false, apiOpenAI}, {"http://box/v1/", false, apiOpenAI},
	} {
		if got := apiOf(test.url, test.hosted); got != test.want {
			t.Errorf("%q, %t: %s", test.url, test.hosted, got)
		}
	}
}

func TestLastSession(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	st := mem.New(mem.Config{Clock: func() time.Time { return now }})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	a := &app{system: system{getenv: func(string) string { return "" }}}
	find := func(o chatOptions) string {
		t.Helper()
		if _, err := a.sessionToChat(t.Context(), st, &o); err != nil {
			t.Fatal(err)
		}
		return o.session
	}
	if got := find(chatOptions{}); got != "chat" {
		t.Errorf("the first session is %s", got)
	}
	for _, name := range []string{"chat", "old", "new", "chat-2"} {
		now = now.Add(time.Minute)
		if _, err := eng.Session(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Minute)
	old, err := eng.Session(t.Context(), "old")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Still here"}}); err != nil {
		t.Fatal(err)
	}
	if got := find(chatOptions{}); got != "old" {
		t.Errorf("the session that was used last is %s", got)
	}
	if got := find(chatOptions{fresh: true}); got != "chat-3" {
		t.Errorf("a new one is %s", got)
	}
	if got := find(chatOptions{session: "other"}); got != "other" {
		t.Errorf("the one that is named is %s", got)
	}
	if _, err := a.sessionToChat(t.Context(), st, &chatOptions{session: "no name!"}); err == nil {
		t.Error("that is no name")
	}
}

func TestReplyThatCannotBePrinted(t *testing.T) {
	k := talk(t, llmtest.NewScript("Hello there."), chatOptions{context: 8192})
	k.app.out = bufio.NewWriter(full{})
	if err := k.app.chatOnce(t.Context(), k, "Hello"); err == nil {
		t.Error("nobody notices")
	}
	turns, err := k.session.History(t.Context(), turn.HistoryOptions{Turns: 5})
	if err != nil || len(turns) != 2 {
		t.Errorf("%d turns are kept, %v", len(turns), err)
	}
}

// What is said before a call and after it are two things in a pipe too.
func TestCallEndsTheLine(t *testing.T) {
	calls := []llm.Call{{ID: "c", Name: "run", Arguments: `{"command":"true"}`}}
	k := talk(t, llmtest.Replies(llmtest.Reply{Text: "Let me look.", Calls: calls}, llmtest.Reply{Text: "Done."}), chatOptions{shell: true, context: 8192})
	var out strings.Builder
	k.app.out = bufio.NewWriter(&out)
	if err := k.app.chatOnce(t.Context(), k, "Look"); err != nil || out.String() != "Let me look.\nDone.\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// A reply that had no more room may look whole, so that it is told of.
func TestTalkTellsOfAReplyThatIsCutOff(t *testing.T) {
	cut := llmtest.Reply{Text: "Cut", Usage: llm.Usage{Prompt: 60, Answer: 1}, Stop: llm.StopLength}
	k := talk(t, llmtest.Replies(cut, llmtest.Reply{Text: "Whole", Usage: llm.Usage{Prompt: 60, Answer: 1}}, cut, llmtest.Reply{Text: "Whole"}), chatOptions{context: 8192})
	for _, want := range [][]chat.Event{
		{chat.Doing{What: "waiting for gpt-4"}, chat.Text{Text: "Cut"}, chat.Note{Text: cutOff}},
		{chat.Doing{What: "waiting for gpt-4"}, chat.Text{Text: "Whole"}},
	} {
		events, err := streamed(t.Context(), k, "Tell me all")
		if diff := cmp.Diff(want, events); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, want := range []int{1, 0} {
		var out, told strings.Builder
		k.app.out, k.app.stderr = bufio.NewWriter(&out), &told
		if err := k.app.chatOnce(t.Context(), k, "Tell me all"); err != nil || strings.Count(told.String(), cutOff) != want {
			t.Errorf("%q, told of %q, %v", out.String(), told.String(), err)
		}
	}
}

// What is kept of a reply that was interrupted is told, whatever the commit wrote behind it.
func TestWhatIsLeftOfAnInterruptedReply(t *testing.T) {
	for _, test := range []struct {
		reply llmtest.Reply
		want  string
	}{
		{llmtest.Reply{Endless: true}, "the message is kept, and what had come of the reply"},
		{llmtest.Reply{Err: context.Canceled}, "the message is kept, without a reply"},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		var k *talking
		k = talk(t, llmtest.Respond(func(llm.Request) llmtest.Reply {
			// The model may be asked before the message is kept.
			for info, err := k.session.Info(t.Context()); info.Head == 0 && err == nil; info, err = k.session.Info(t.Context()) {
				runtime.Gosched()
			}
			if !test.reply.Endless {
				cancel()
			}
			return test.reply
		}), chatOptions{context: 8192})
		k.app.out = bufio.NewWriter(&breaking{cancel})
		err := k.app.chatOnce(ctx, k, "Hello")
		var kept *interrupted
		if !errors.As(err, &kept) || kept.left != test.want {
			t.Errorf("%+v: %v", test.reply, err)
		}
	}
}

// breaking interrupts the run when something is printed.
type breaking struct{ interrupt func() }

func (b *breaking) Write(p []byte) (int, error) {
	b.interrupt()
	return len(p), nil
}

// The status is asked for beside a command that goes on in another session or with another model.
func TestStatusBesideACommand(t *testing.T) {
	k := talk(t, llmtest.NewScript(), chatOptions{})
	if k.current.Load() == &k.voice {
		t.Error("who summarises reads what commands change")
	}
	done := make(chan error, 1)
	go func() {
		_, err := k.Command(t.Context(), "/fork copy")
		done <- err
	}()
	for {
		status, err := k.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if status.Session == "copy" {
			break
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
