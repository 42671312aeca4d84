package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/chat"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/tools"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// chatSystem is the system prompt of those who give none.
const chatSystem = "You are a helpful assistant in a terminal. Answer in Markdown, as short as the question allows. " +
	"If you do not know something, say so."

// maxResult is how many bytes a tool returns at most, however large the window is.
const maxResult = 64 << 10

// talking is a conversation on the command line: a session, and the model that talks in it.
type talking struct {
	app     *app
	options chatOptions
	engine  *turnstone.Engine

	// changing guards session and voice, which commands change while the status is asked for. Whatever else reads them
	// does not run beside a command.
	changing sync.RWMutex
	session  *turnstone.Session
	voice    voice

	// untried is set while a model that /model named has not answered, and nobody else says that it is there: only then is it
	// the session's.
	untried bool

	ask     agent.Confirm // who confirms calls; nil where nobody is there
	notes   chan string
	current atomic.Pointer[voice] // for who summarises in the background
	// compressing is set from the first question of the summariser until turns have left the prompt.
	compressing atomic.Bool
}

// config is for an engine in which the conversation can be held.
func (t *talking) config() (turnstone.Config, error) {
	settings := prompt.Settings{System: chatSystem}
	if t.options.system != "" {
		text, err := readText(t.options.system, prompt.MaxSystem)
		if err != nil {
			return turnstone.Config{}, fmt.Errorf("--system: %w", err)
		}
		settings.System = text
	}
	if err := settings.Check(); err != nil {
		return turnstone.Config{}, err
	}
	config := turnstone.Config{Model: t.voice.model, ModelName: t.voice.name, Prompt: settings, Context: t.options.context, Profiles: t.voice.known.profiles}
	if server := t.voice.known.server; server != nil {
		config.Vocabulary = server.vocabulary
	}
	t.options.compression.configure(&config)
	if !t.options.noRecall {
		config.Recall = &turnstone.RecallOptions{}
	}
	if name := t.options.embedModel; name != "" {
		config.Embedder = t.app.modelAt(t.app.modelClient(t.voice.api, t.voice.url, t.options.voice.keyEnv), t.voice.api, t.voice.url, t.options.voice.keyEnv, name)
	}
	first := t.voice // a copy: who summarises reads it while /model puts another in its place
	t.current.Store(&first)
	if !t.options.noSummary {
		config.Summariser = summariser{t}
	}
	window, err := chatWindow(t.voice.profile, t.options.context)
	if err != nil {
		return config, err
	}
	if config.Agent.Sticky, err = sticky(t.options.sticky, window.Usable); err != nil {
		return config, err
	}
	config.Agent.Tools, err = chatTools(t.options, window)
	config.Agent.Confirm = t.confirm
	return config, err
}

// sticky are the files that stay in every prompt, of so many bytes together.
func sticky(names []string, most int) (*agent.Sticky, error) {
	if len(names) == 0 {
		return nil, nil
	}
	inside := make([]string, len(names))
	for i, name := range names {
		inside[i] = filepath.ToSlash(filepath.Clean(name))
		if !fs.ValidPath(inside[i]) {
			return nil, usage("give a file below this folder", "--sticky: %q is outside", name)
		}
		if _, err := os.Stat(name); err != nil {
			return nil, fmt.Errorf("--sticky: %w", err)
		}
	}
	return agent.NewSticky(agent.StickyConfig{Files: os.DirFS("."), Names: inside, Budget: most})
}

// chatTools are what the model may use in the folder that the command runs in.
func chatTools(o chatOptions, window budget.Window) (allowed []agent.Tool, err error) {
	// Even where every byte is a token, a result and what it answers fit.
	most := min(window.Usable/2, maxResult)
	if o.files {
		if allowed, err = tools.Files(".", most); err != nil {
			return nil, err
		}
	}
	if o.shell {
		shell, err := tools.Shell(".", most)
		if err != nil {
			return nil, err
		}
		allowed = append(allowed, shell)
	}
	return allowed, nil
}

// confirm asks whoever is there.
func (t *talking) confirm(ctx context.Context, c llm.Call) error {
	if t.ask == nil {
		return fmt.Errorf("%w: nobody is there to allow it", agent.ErrDenied)
	}
	return t.ask(ctx, c)
}

func (t *talking) promptOptions() turnstone.PromptOptions {
	return turnstone.PromptOptions{Model: t.voice.name, Context: t.options.context}
}

// Stream implements [chat.Backend].
func (t *talking) Stream(ctx context.Context, text string) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		if !yield(chat.Doing{What: "waiting for " + t.voice.name}, nil) {
			return
		}
		before, err := t.session.Info(ctx)
		if err != nil {
			yield(nil, refused{err})
			return
		}
		for piece, err := range t.pieces(ctx, text) {
			if err != nil {
				yield(nil, t.unsaid(ctx, before.Head, err))
				return
			}
			if e := eventOf(piece); e != nil && !yield(e, nil) {
				return
			}
		}
	}
}

// refused is an error of a message of which nothing was kept.
type refused struct{ error }

func (e refused) Is(target error) bool { return target == chat.ErrRefused }
func (e refused) Unwrap() error        { return e.error }

// unsaid explains why there is no reply, and says whether the message is in the log: where somebody else is at work
// it never is, and otherwise the log has grown by it.
func (t *talking) unsaid(ctx context.Context, head int64, err error) error {
	explained := t.explained(err)
	if errors.Is(err, turnstone.ErrBusy) {
		return refused{explained}
	}
	if after, err := t.session.Info(context.WithoutCancel(ctx)); err == nil && after.Head == head {
		return refused{explained}
	}
	return explained
}

func (t *talking) pieces(ctx context.Context, text string) iter.Seq2[turnstone.Piece, error] {
	return func(yield func(turnstone.Piece, error) bool) {
		for piece, err := range t.session.Stream(ctx, text, turnstone.WithModel(t.voice.name, t.voice.model, t.options.context)) {
			if piece.Reply != nil {
				t.answered(ctx)
			}
			if !yield(piece, err) {
				return
			}
		}
	}
}

// answered sets the model for the session that /model named.
func (t *talking) answered(ctx context.Context) {
	if !t.untried {
		return
	}
	if err := t.session.Describe(ctx, turn.SessionInfo{Model: t.voice.name}); err != nil {
		t.tell(fmt.Sprintf("the session does not go on with %s next time: %v", t.voice.name, err))
		return
	}
	t.untried = false
}

// eventOf is what of a piece is shown; nil for nothing.
func eventOf(p turnstone.Piece) chat.Event {
	switch {
	case p.Text != "":
		return chat.Text{Text: p.Text}
	case p.Thinking != "":
		return chat.Thinking{Text: p.Thinking}
	case p.Call != nil:
		return chat.Doing{What: "using " + p.Call.Name}
	case p.Result != nil:
		return chat.Note{Text: resultLine(p.Result)}
	case p.Warning != "":
		return chat.Note{Text: p.Warning}
	case p.Reply != nil && p.Reply.Stop == llm.StopLength:
		return chat.Note{Text: cutOff}
	}
	return nil
}

// cutOff is told where a reply ends because it had no more room: it may look whole.
const cutOff = "the reply is cut off here: it had no more room; ask for the rest, or give it more with --context"

// resultLine says what a call came to.
func resultLine(r *turn.Result) string {
	return terminal.CleanLine(fmt.Sprintf("[%s] %s: %s", r.Name, r.Status, short(r.Result, 100)))
}

// explained is an error in words for who talks: one line with what to do.
func (t *talking) explained(err error) error {
	if nobodyAt(err) && t.voice.api == apiOllama {
		return &reworded{err: err, text: "no Ollama server answers at " + t.voice.url + "; " + withoutModel}
	}
	return t.app.unprompted(t.prompting(), err, false)
}

// Status implements [chat.Backend].
func (t *talking) Status(ctx context.Context) (chat.Status, error) {
	t.changing.RLock()
	defer t.changing.RUnlock()
	status := chat.Status{Session: t.session.ID(), Model: t.voice.name}
	s, err := t.session.Status(ctx, t.promptOptions())
	if err != nil {
		return status, t.explained(err)
	}
	icons := terminal.Is(t.app.stdout) && !t.app.plain() && unicodeLocale(runtime.GOOS, t.app.getenv)
	status.Line = statusLine(s, t.voice.profile, icons)
	return status, nil
}

// happened hears what the engine announces, and tells what concerns the conversation.
func (t *talking) happened(e event.Event) {
	if e.Kind != event.Compressed {
		return
	}
	t.compressing.Store(false)
	var pass struct{ Pass, From, To, Before, After int64 }
	if err := json.Unmarshal([]byte(e.Data), &pass); err != nil {
		return // an event of another version says nothing that could be shown
	}
	what := "older checkpoints became smaller: the prompt"
	if pass.To > 0 {
		what = turnsIn(turn.Range{From: pass.From, To: pass.To}) + " left the prompt, which"
	}
	t.tell(fmt.Sprintf("%s has %s tokens now in place of %s; /checkpoints shows what stands for them, /undo takes it back",
		what, tokensOf(int(pass.After)), tokensOf(int(pass.Before))))
}

// tell leaves a note for whoever shows the conversation. Where too many wait it is not told: all of it stands in the
// events.
func (t *talking) tell(note string) {
	select {
	case t.notes <- note:
	default:
	}
}

// summariser has the model that talks summarise too, and says so.
type summariser struct{ t *talking }

// Summarise implements [compress.Summariser].
func (s summariser) Summarise(ctx context.Context, r compress.Request) (string, error) {
	v := s.t.current.Load()
	window, err := chatWindow(v.profile, s.t.options.context)
	if err != nil {
		return "", err
	}
	// It is asked more than once for one pass.
	if s.t.compressing.CompareAndSwap(false, true) {
		s.t.tell("compressing: " + v.name + " summarises older turns in the background")
	}
	return compress.Model{LLM: v.model, Window: window.Usable}.Summarise(ctx, r)
}
