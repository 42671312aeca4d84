package turnstone

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// ErrMoved says that somebody spoke in the session since the turn that a client went on from, or is speaking now:
// [Session.Fork] there.
var ErrMoved = errors.New("the session went on since")

// RelayOptions say what an exchange is for whose client keeps the conversation itself. The zero value goes on from an empty
// session.
type RelayOptions struct {
	// Model is what the model is called that the client asks for. Defaults to the session's.
	Model string
	// Context is the size of its context in tokens. Defaults as in [PromptOptions].
	Context int
	// Settings are what the prompt begins with, in place of Config.Prompt: the client's own system messages and tools.
	Settings prompt.Settings
	// After is the last turn that the client knows: with anything said behind it, Begin is an [ErrMoved], and does not wait
	// for who is speaking. [Head] goes on from wherever the session is, when it is its turn.
	After int64
	// Again says that the input stands in the session already, as its last turns up to After: an exchange that got no reply is tried once
	// more. Begin takes the input all the same, appends nothing, and is an [ErrMoved] where anything was said since.
	Again bool
	// Unanswered says that the client goes on from what got no reply: Begin is an [ErrMoved] also where the agent has replied since.
	Unanswered bool
	// New is what the session is like that the exchange makes, in the same update as its input: its User, Title, Model and Mode.
	// It is for a session of [Engine.Unmade]. Defaults to a session that is there.
	New *turn.SessionInfo
	// Untouched has no prompt made: the model is asked with the client's own messages, see [Relay.Untouched].
	Untouched bool
	// Recall is what it recalls by itself, in place of Config.Recall, where a prompt is made. Defaults to nothing.
	Recall *RecallOptions
	// Input is the hash of all that the client sent. An exchange that is interrupted is found by it.
	Input chain.Hash
}

// Relay is one exchange of a session whose client keeps the conversation itself, as the clients of model APIs do: it is the
// [agent.Conversation] of whoever asks the model and streams what it says. What is different from [Session.Conversation]:
// the calls of the last answer stay open when the exchange ends, for the client runs the tools, and their results are the
// first of the next exchange's input; calls that it brings no result for are cancelled. A reply is found again by its link.
type Relay struct{ conversation }

// Relay returns one exchange. It is for one run.
func (s *Session) Relay(o RelayOptions) *Relay {
	if o.Untouched {
		o.Recall = nil // there is no prompt to show it in
	}
	return &Relay{conversation{exchange: exchange{
		session: s,
		options: sayOptions{name: o.Model, context: o.Context, recall: o.Recall},
		foreign: o.Untouched,
		relay:   &relayed{settings: o.Settings, after: o.After, again: o.Again, unanswered: o.Unanswered, made: o.New, input: o.Input},
	}}}
}

// Unmade returns a session under an id of its own that is not there yet: [RelayOptions].New makes it.
func (e *Engine) Unmade() *Session {
	return &Session{engine: e, key: turn.Key{Tenant: e.config.Tenant, Session: e.newID()}}
}

// Begin implements [agent.Conversation]. See [RelayOptions] for its [ErrMoved].
func (r *Relay) Begin(ctx context.Context, input ...turn.Draft) error {
	s := r.session
	if r.relay.after != Head && s.engine.shared.floors.held(s.key) {
		return fmt.Errorf("session %s is being spoken in: %w", s.key.Session, ErrMoved)
	}
	for r.relay.results < len(input) {
		if _, ok := input[r.relay.results].Content.(turn.Result); !ok {
			break
		}
		r.relay.results++
	}
	return r.conversation.Begin(ctx, input...)
}

// Begun implements [agent.Early].
func (r *Relay) Begun(ctx context.Context) (again bool, err error) {
	if again, err = r.conversation.Begun(ctx); err != nil {
		r.leave()
	}
	return again, err
}

// Untouched stands in place of Compile where the model is asked with the client's own messages. It is called after Begun.
func (r *Relay) Untouched() {
	e := &r.exchange
	e.asked = e.session.engine.config.Clock()
	e.draft.reset(e.session.engine.newID(), nil)
}

// Link says by which hash the next answer will be found, which becomes durable with it. It is called before Answer.
func (r *Relay) Link(h chain.Hash) { r.relay.link = h }

// Linked returns the turn that the link stands for, 0 where there is none. It is asked after End.
func (r *Relay) Linked() int64 { return r.relay.linked }

// relayed is what an exchange knows of a client that keeps the conversation itself.
type relayed struct {
	settings prompt.Settings
	after    int64
	again    bool // the input stands there already
	// unanswered says that nobody has replied to the turn that it goes on from.
	unanswered bool
	made       *turn.SessionInfo // what makes the session, nil where it is there
	input      chain.Hash
	results    int        // how many drafts of the input are results
	said       int64      // the last turn of the input
	link       chain.Hash // of the next answer
	linked     int64
}

// hasty reports whether the exchange does not wait for others.
func (r *relayed) hasty() bool { return r != nil && r.after != Head }

// repeats reports whether the exchange is one that was tried before.
func (r *relayed) repeats() bool { return r != nil && r.again }

// makes reports whether the exchange makes its session.
func (r *relayed) makes() bool { return r != nil && r.made != nil }

// take is [Session.take], but for a relay it leaves calls open that the input has the results of.
func (e *exchange) take(ctx context.Context, tx store.Tx) (*turn.OpenExchange, error) {
	e.draft.hold(time.Now())
	if e.relay == nil {
		return e.session.take(ctx, tx, e.lease.token)
	}
	s := e.session
	if e.relay.makes() {
		info := e.relay.made
		made := turn.SessionInfo{Key: s.key, User: info.User, Title: info.Title, Model: info.Model, Mode: info.Mode, Status: turn.Active}
		if err := checkDescription(made); err != nil {
			return nil, err
		}
		if err := s.engine.makeSession(ctx, tx, made); err != nil {
			return nil, fmt.Errorf("session %s: %w", s.key.Session, err)
		}
	}
	if _, err := turn.Acquire(ctx, tx.Log(), s.key, e.lease.token, tx.Now()); err != nil {
		return nil, err
	}
	left, ok, err := tx.Log().Exchange(ctx, s.key)
	if err != nil {
		return nil, fmt.Errorf("exchange of %s: %w", s.key.Session, err)
	}
	if !ok {
		return nil, nil
	}
	return &left, s.closeCalls(ctx, tx)
}

// input writes what the user said.
func (e *exchange) input(ctx context.Context, tx store.Tx, info turn.SessionInfo, sealed []turn.Sealed) ([]turn.Turn, error) {
	r := e.relay
	if r == nil {
		return e.append(ctx, tx, sealed)
	}
	if r.again {
		turns, err := r.standing(ctx, tx, info, len(sealed))
		if err != nil {
			return nil, err
		}
		return turns, e.session.closeCalls(ctx, tx) // who appended it may have left some open
	}
	if err := r.check(ctx, tx, info); err != nil {
		return nil, err
	}
	turns, err := e.append(ctx, tx, sealed[:r.results])
	if err != nil {
		return nil, err
	}
	if err := e.session.closeCalls(ctx, tx); err != nil {
		return nil, err
	}
	rest, err := e.append(ctx, tx, sealed[r.results:])
	if err != nil {
		return nil, err
	}
	turns = append(turns, rest...)
	r.said = turns[len(turns)-1].Seq
	return turns, nil
}

// check refuses to go on from a turn that others went on from. What the agent said behind a reply was no answer to anybody, and what
// closed a call nobody said; who brings its result does so too late.
func (r *relayed) check(ctx context.Context, tx store.Tx, info turn.SessionInfo) error {
	if r.after == Head {
		return nil
	}
	return r.behind(ctx, tx, info, func(t *turn.Turn) bool {
		return t.Role == turn.Agent && !r.unanswered || closes(t) && r.results == 0
	})
}

// behind refuses a turn behind the last one that the client knows, unless it is one of those.
func (r *relayed) behind(ctx context.Context, tx store.Tx, info turn.SessionInfo, nobodys func(*turn.Turn) bool) error {
	const page = 2 // one, as a rule, where there is a responder
	for after := r.after; ; {
		turns, err := since(ctx, tx, info, after, page)
		if err != nil {
			return err
		}
		for i := range turns {
			if !nobodys(&turns[i]) {
				return fmt.Errorf("turn %d of %s: %w", turns[i].Seq, info.Session, ErrMoved)
			}
			after = turns[i].Seq
		}
		if len(turns) < page {
			return nil
		}
	}
}

// standing is the input of an exchange that got no reply, of so many turns: what stands at the end of the session, behind the
// agent's last word. Results that closed calls for it are no part of it.
func (r *relayed) standing(ctx context.Context, tx store.Tx, info turn.SessionInfo, size int) ([]turn.Turn, error) {
	if err := r.behind(ctx, tx, info, closes); err != nil {
		return nil, err
	}
	for most := min(size, commit.MaxTurns); ; most = min(2*most, commit.MaxTurns) { // once, unless calls were closed amid it
		turns, err := until(ctx, tx, info, r.after, most)
		if err != nil {
			return nil, err
		}
		if len(turns) == 0 || turns[0].Seq != r.after || turns[0].Role == turn.Agent {
			return nil, fmt.Errorf("turn %d of %s: %w", r.after, info.Session, ErrMoved)
		}
		n, left := 0, size
		for ; n < len(turns) && left > 0 && turns[n].Role != turn.Agent; n++ {
			if !closes(&turns[n]) {
				left--
			}
		}
		if left == 0 || n < most || most == commit.MaxTurns {
			slices.Reverse(turns[:n])
			r.said = r.after
			return turns[:n], nil
		}
	}
}

// closes reports whether a turn only closes a call that nobody brought a result for.
func closes(t *turn.Turn) bool {
	result, ok := t.Content.(turn.Result)
	return ok && result.Synthetic
}

// answered links an answer that the transaction writes as the turn of that seq.
func (e *exchange) answered(ctx context.Context, tx store.Tx, seq int64) error {
	r := e.relay
	if r == nil || r.link == (chain.Hash{}) {
		return nil
	}
	r.linked = seq
	return e.putLink(ctx, tx, r.link, seq)
}

func (e *exchange) putLink(ctx context.Context, tx store.Tx, h chain.Hash, seq int64) error {
	key := e.session.key
	return tx.Chains().PutLink(ctx, chain.Link{Tenant: key.Tenant, Hash: h, Session: key.Session, Seq: seq, At: tx.Now()})
}

// asking links the input as it is written: a reply may be cut off, also with its process, and the client then repeats what
// it saw of it, which is not what was kept.
func (e *exchange) asking(ctx context.Context, tx store.Tx) error {
	if e.relay == nil || e.relay.input == (chain.Hash{}) {
		return nil
	}
	return e.putLink(ctx, tx, e.relay.input, e.relay.said)
}

// ended links the last reply, which the commit writes.
func (e *exchange) ended(ctx context.Context, tx store.Tx) error {
	if e.relay == nil || len(e.last) == 0 {
		return nil
	}
	info, err := tx.Log().LockSession(ctx, e.session.key)
	if err != nil {
		return err
	}
	return e.answered(ctx, tx, info.Head+1)
}

// Links returns the links of the first of the hashes that has some, the newest first and at most 16, and which of the hashes
// it is; none and -1 where no hash has any.
func (e *Engine) Links(ctx context.Context, hashes ...chain.Hash) (links []chain.Link, of int, err error) {
	const most = 16
	err = e.store.View(ctx, func(tx store.Tx) (err error) {
		if of, err = e.linked(ctx, tx, hashes); err != nil || of < 0 {
			return err
		}
		links, err = tx.Chains().Links(ctx, e.config.Tenant, hashes[of], most)
		return err
	})
	if err != nil {
		return nil, -1, err
	}
	return links, of, nil
}

// linked is the first of the hashes that has links. A history of any length takes two looks: most that are known at all are
// known up to their end.
func (e *Engine) linked(ctx context.Context, tx store.Tx, hashes []chain.Hash) (int, error) {
	near := min(len(hashes), nearEnd)
	of, err := tx.Chains().Linked(ctx, e.config.Tenant, hashes[:near])
	if err != nil || of >= 0 || near == len(hashes) {
		return of, err
	}
	if of, err = tx.Chains().Linked(ctx, e.config.Tenant, hashes[near:]); err != nil || of < 0 {
		return -1, err
	}
	return near + of, nil
}

// nearEnd is how many hashes are looked for first.
const nearEnd = 64

// Since returns up to limit turns that were said after the turn of that seq, ascending: no summaries.
func (s *Session) Since(ctx context.Context, seq int64, limit int) (turns []turn.Turn, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		turns, err = since(ctx, tx, info, seq, limit)
		return err
	})
	return turns, err
}

func since(ctx context.Context, tx store.Tx, info turn.SessionInfo, seq int64, limit int) ([]turn.Turn, error) {
	var turns []turn.Turn
	for _, span := range info.Spans(info.Head) {
		if span.From = max(span.From, seq+1); span.Empty() || len(turns) == limit {
			continue
		}
		next, err := tx.Log().Scan(ctx, info.Tenant, span, turn.RowFilter{Kind: turn.KindTurn}, limit-len(turns))
		if err != nil {
			return nil, fmt.Errorf("turns after %d of %s: %w", seq, info.Session, err)
		}
		turns = append(turns, next...)
	}
	return turns, nil
}

// until is up to limit turns, descending, that end with the one of that seq.
func until(ctx context.Context, tx store.Tx, info turn.SessionInfo, seq int64, limit int) ([]turn.Turn, error) {
	var turns []turn.Turn
	for _, span := range slices.Backward(info.Spans(seq)) {
		if span.Empty() || len(turns) == limit {
			continue
		}
		next, err := tx.Log().Scan(ctx, info.Tenant, span, turn.RowFilter{Kind: turn.KindTurn, Newest: true}, limit-len(turns))
		if err != nil {
			return nil, fmt.Errorf("turns up to %d of %s: %w", seq, info.Session, err)
		}
		turns = append(turns, next...)
	}
	return turns, nil
}
