package turnstone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// Reply is what the agent said in the end, and how the exchange went.
type Reply struct {
	Text     string
	Thinking string
	// Stop is why it ended: llm.StopLength for a reply that the model cut short, empty for one that was cut off.
	Stop llm.Stop
	// Rounds is how often the model was asked, Calls how many tools it called, Usage what it counted, all together.
	Rounds int
	Calls  int
	Usage  llm.Usage
	// Reopened says that the session had ended and goes on with this exchange.
	Reopened bool
	// Warnings are what went wrong without ending the exchange, such as that the model did not see all of the prompt.
	Warnings []string
	// Commit is what became of the exchange, and Prompt what the model saw last.
	Commit commit.Result
	Prompt *prompt.Prompt
}

// Piece is one thing that happens while a reply comes. One of its fields is set.
type Piece struct {
	// Text and Thinking are what the agent says next, and what it says to itself.
	Text     string
	Thinking string
	// Call is a tool that is being run, Result what a call came to; it names the call.
	Call   *llm.Call
	Result *turn.Result
	// Warning says what went wrong without ending the exchange.
	Warning string
	// Reply is the last piece: the exchange is durable.
	Reply *Reply
}

// SayOption is something about one call of [Session.Say] or [Session.Stream] that is not as the engine's
// configuration has it.
type SayOption func(*sayOptions)

type sayOptions struct {
	model    llm.Model
	name     string
	context  int
	settings *prompt.Settings
	late     []string
	recall   *RecallOptions
	parts    []turn.Draft
}

// sayOptions are what the engine's configuration and the options of one call say together.
func (s *Session) sayOptions(options []SayOption) sayOptions {
	o := sayOptions{model: s.engine.config.Model, recall: s.engine.config.Recall}
	for _, option := range options {
		option(&o)
	}
	if o.name != "" && o.context == 0 {
		profile, _ := s.engine.Profile(o.name)
		o.context = profile.Usual()
	}
	return o
}

// WithModel has another model answer, which is called by that name. A context of 0 is that of its profile.
func WithModel(name string, m llm.Model, context int) SayOption {
	return func(o *sayOptions) { o.model, o.name, o.context = m, name, context }
}

// WithSettings has the prompts of the exchange begin with these, in place of Config.Prompt; the tools and files of Config.Agent
// are added to them. Settings that are not those of the prompt before open a new epoch.
func WithSettings(settings prompt.Settings) SayOption {
	return func(o *sayOptions) { o.settings = &settings }
}

// WithLate shows items at the end of the prompt, such as what was recalled; see [PromptOptions].
func WithLate(items ...string) SayOption {
	return func(o *sayOptions) { o.late = append(o.late, items...) }
}

// WithParts has the user say more in the same message: images, speech or actions, after the text.
func WithParts(parts ...turn.Draft) SayOption {
	return func(o *sayOptions) { o.parts = append(o.parts, parts...) }
}

// Say has the user say something, which must be more than white space, and returns what the agent replies, when the whole exchange is on disk. The agent is
// Config.Model with the tools of Config.Agent. Exchanges of one session come one after the other: a second one waits
// until the first is over, or ctx ends. So what runs in one must not wait for another of its session: a tool, a hook,
// or the body of a loop over [Session.Stream].
//
// A lease of another engine, or of a process that died, is waited for as long as nobody gives a sign of life:
// turn.LeaseTime at most.
//
// When ctx ends, or the model fails in the middle of its reply, what came of the reply is kept and returned with the
// error, and the exchange is committed as interrupted; where there was no reply, as failed. The next one begins
// clean.
//
// Errors are [ErrBusy] where a worker of another engine is at work on the session, turn.ErrLeaseLost where one took
// over, turn.ErrConflict where an idempotency key of the input was used before, [ErrOverBudget] where the prompt cannot be
// made to fit, [ErrClosed] where the engine was closed, *[llm.Error], [agent.ErrNoAnswer], *[agent.LimitError], the context's own, and those
// of the store.
func (s *Session) Say(ctx context.Context, text string, options ...SayOption) (Reply, error) {
	t, err := s.talk(ctx, text, options, nil)
	if err != nil {
		return Reply{}, err
	}
	<-t.over
	return t.end()
}

// Stream is [Session.Say] that yields the reply as it comes. The last piece is the Reply; an error is terminal and
// comes in its place. Whoever stops reading hangs up: the reply is cut short, what was streamed is kept, and the
// exchange is committed as interrupted before the range loop goes on; as complete where the model had come to its end
// by then. A slow reader slows the model down. The body of the loop must not wait for another exchange of the session,
// which begins when this one is over.
func (s *Session) Stream(ctx context.Context, text string, options ...SayOption) iter.Seq2[Piece, error] {
	return func(yield func(Piece, error) bool) {
		pieces := make(chan Piece)
		t, err := s.talk(ctx, text, options, func(ctx context.Context, e agent.Event) {
			piece, ok := pieceOf(e)
			if !ok {
				return
			}
			select {
			case pieces <- piece:
			case <-ctx.Done():
			}
		})
		if err != nil {
			yield(Piece{}, err)
			return
		}
		hungUp := true
		// Also where the caller's loop panics, or ends its goroutine.
		defer func() {
			if hungUp {
				t.job.Cancel()
				<-t.over
			}
		}()
		for {
			select {
			case piece := <-pieces:
				if !yield(piece, nil) {
					return
				}
			case <-t.over:
				hungUp = false
				for _, warning := range []string{t.exchange.recalled.failed, t.exchange.miscounted} {
					if warning != "" && !yield(Piece{Warning: warning}, nil) {
						return
					}
				}
				if reply, err := t.end(); err != nil {
					yield(Piece{}, err)
				} else {
					yield(Piece{Reply: &reply}, nil)
				}
				return
			}
		}
	}
}

// pieceOf is what of an event is told.
func pieceOf(e agent.Event) (Piece, bool) {
	switch e := e.(type) {
	case agent.TextPiece:
		return Piece{Text: e.Text}, true
	case agent.ThinkingPiece:
		return Piece{Thinking: e.Text}, true
	case agent.ToolStarted:
		return Piece{Call: &e.Call}, true
	case agent.ToolFinished:
		return Piece{Result: &e.Result.Result}, true
	case agent.Warned:
		return Piece{Warning: e.Text}, true
	}
	return Piece{}, false
}

// talk is an exchange under way and the job that runs it. It leaves the floor by itself, whatever its reader does.
type talk struct {
	exchange *exchange
	job      *agent.Job
	over     chan struct{} // closed when the job is, and the floor free
	result   agent.Result  // read after over, like all below
	cause    error         // by which it was ended from outside
}

// talk begins an exchange as soon as the session's floor is free.
func (s *Session) talk(ctx context.Context, text string, options []SayOption, observe agent.Observer) (*talk, error) {
	o := s.sayOptions(options)
	if invalid.Nil(o.model) {
		return nil, invalid.New("model", "there is none", "set Config.Model or pass WithModel")
	}
	speaking, leave, err := s.engine.shared.floors.take(ctx, s.key)
	if err != nil {
		return nil, fmt.Errorf("say to %s: %w", s.key.Session, err)
	}
	t, err := s.start(speaking, leave, o, text, observe)
	if err != nil {
		leave()
		return nil, fmt.Errorf("say to %s: %w", s.key.Session, err)
	}
	return t, nil
}

func (s *Session) start(ctx context.Context, leave func(), o sayOptions, text string, observe agent.Observer) (*talk, error) {
	speaking, end := context.WithCancelCause(ctx)
	e := &exchange{session: s, options: o, end: end}
	worker := agent.NewWorker(s.key.Session, s.key.Session, o.model)
	job, err := s.engine.shared.loop.Start(speaking, worker, e, agent.RunOptions{Input: message(s.engine, text, o.parts), Observe: observe})
	if err != nil {
		end(nil)
		return nil, err
	}
	t := &talk{exchange: e, job: job, over: make(chan struct{})}
	job.Then(func(r agent.Result) {
		t.result, t.cause = r, context.Cause(speaking)
		end(nil)
		leave()
		close(t.over)
	})
	return t, nil
}

// message is what the user says: one turn, or several of one message. White space alone says nothing, and is refused as
// an empty text is.
func message(e *Engine, text string, parts []turn.Draft) []turn.Draft {
	var drafts []turn.Draft
	if blank(text) {
		text = ""
	}
	if text != "" || len(parts) == 0 {
		drafts = append(drafts, turn.Draft{Role: turn.User, Content: turn.Text{Text: text}})
	}
	for _, part := range parts {
		if said, ok := part.Content.(turn.Text); ok && part.Role == turn.User && blank(said.Text) {
			said.Text = ""
			part.Content = said
		}
		drafts = append(drafts, part)
	}
	if len(drafts) > 1 {
		id := e.newID()
		for i := range drafts {
			drafts[i].MessageID = cmp.Or(drafts[i].MessageID, id)
		}
	}
	return drafts
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// end says how it went, of a talk that is over.
func (t *talk) end() (Reply, error) {
	r, err := t.result.Reply, t.result.Err
	reply := Reply{
		Text: r.Text, Thinking: r.Thinking, Stop: r.Stop, Rounds: r.Rounds, Calls: r.Calls, Usage: r.Usage,
		Reopened: t.exchange.reopened, Warnings: t.exchange.warnings(), Commit: t.exchange.result, Prompt: t.exchange.prompt,
	}
	if err == nil {
		return reply, nil
	}
	if t.cause != nil && !errors.Is(err, t.cause) {
		err = fmt.Errorf("%w: %w", err, t.cause)
	}
	return reply, fmt.Errorf("say to %s: %w", t.exchange.session.key.Session, err)
}
