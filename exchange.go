package turnstone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// exchange is an exchange under way: what the agent's loop says and does is written through it. It implements
// [agent.Conversation]. Its lease is renewed in the background, and a write of one that lost it is refused.
//
// The last reply is not written by itself: it stands in the draft until the commit writes it, together with everything
// else, in one update.
type exchange struct {
	session *Session
	options sayOptions
	// foreign says that nobody knows what its loop will offer the model, or whether it asks for a prompt at all.
	foreign bool
	// relay is set where the client keeps the conversation itself.
	relay *relayed
	// end ends the context that the loop runs in, for a reason that is not the loop's.
	end   context.CancelCauseFunc
	lease Lease
	id    string // of the export
	model string // who replies, known once it is open

	recalled recalling
	opening  *opening
	opened   string // id of the turn that opened it
	reopened bool   // the session had ended
	started  time.Time
	prompt   *prompt.Prompt // that was compiled last
	asked    time.Time      // when the model was asked last
	offer    agent.Offer    // that it was compiled with
	ready    *ready         // the next one, if it was made already
	draft    *draft
	last     []turn.Draft // the reply that the commit will write
	waiting  bool         // calls have no results yet
	counted  []counted
	warned   []string // what the loop warned of
	// miscounted is the last warning that the model's server counted another prompt than was sent, or otherwise.
	miscounted string
	result     commit.Result
}

// counted is what a provider counted for a prompt, and will be stored with the next update.
type counted struct {
	prompt *prompt.Prompt
	usage  llm.Usage
}

var (
	_ agent.Conversation = (*exchange)(nil)
	_ agent.Early        = (*exchange)(nil)
)

// Begin implements [agent.Conversation] and [agent.Early]. Where it returns an error, nothing is held.
func (e *exchange) Begin(ctx context.Context, input ...turn.Draft) error {
	s := e.session
	sealed, err := s.seal(input)
	if err != nil {
		return err
	}
	if len(sealed) == 0 {
		return invalid.New("input", "there is none", "say something")
	}
	e.id, e.lease = s.engine.newID(), Lease{session: s, token: s.engine.newID()}
	if key := keyOf(input); key != "" {
		e.id = commit.ExportIDOf(s.key.Session, key)
	}
	e.draft = newDraft(e)
	if e.options.recall != nil {
		e.recalled.query = asked(input)
	}
	e.opening = newOpening()
	go e.opening.run(ctx, e, func() error { return e.begin(ctx, sealed) })
	select {
	case e.opening.early = <-e.opening.made:
		return nil
	case <-e.opening.done:
		return e.opening.err
	}
}

// begin is one update, unless an earlier exchange was left.
func (e *exchange) begin(ctx context.Context, sealed []turn.Sealed) (err error) {
	s, begun := e.session, false
	defer func() {
		if !begun {
			err = errors.Join(err, e.abandon(ctx, err))
		}
	}()
	e.recall(ctx)
	var left *turn.OpenExchange
	begin := func() error {
		offer, err := e.foreseen(ctx)
		if err != nil {
			return err
		}
		return e.update(ctx, offer, e.opening.offer, func(tx store.Tx) (which prompting, err error) {
			if left, err = e.take(ctx, tx); err != nil || left != nil {
				return noPrompt, err
			}
			return e.open(ctx, tx, sealed)
		})
	}
	if e.relay.hasty() {
		err = begin()
	} else {
		err = s.patient(ctx, begin)
	}
	if err != nil {
		return busy(err)
	}
	if left != nil {
		if err := e.beginAfter(ctx, *left, sealed); err != nil {
			return err
		}
	}
	begun = true
	return nil
}

// abandon gives back the lease of an exchange that could not begin: it may have been taken, even where the store does not
// know what became of the update. What was begun is recovered by who comes next.
func (e *exchange) abandon(ctx context.Context, why error) error {
	var held *turn.LeaseHeldError
	if errors.As(why, &held) {
		return nil
	}
	err := e.lease.giveBack(ctx)
	if err == nil || errors.Is(err, turn.ErrLeaseLost) || errors.Is(err, turn.ErrNotFound) || errors.Is(err, ErrClosed) {
		return nil
	}
	return fmt.Errorf("give the lease back: %w", err)
}

// foreseen is what the model will be offered, nil where that is not known.
func (e *exchange) foreseen(ctx context.Context) (*agent.Offer, error) {
	if e.foreign {
		return nil, nil
	}
	if e.relay != nil {
		return &agent.Offer{}, nil
	}
	offer, _, err := e.session.engine.shared.loop.Offer(ctx) // it warns of files that cannot be shown when it asks
	return &offer, err
}

// beginAfter recovers what was left before it opens the exchange.
func (e *exchange) beginAfter(ctx context.Context, left turn.OpenExchange, sealed []turn.Sealed) error {
	if err := e.session.recover(ctx, e.lease.token, left); err != nil {
		return err
	}
	return e.write(ctx, func(tx store.Tx) error {
		_, err := e.open(ctx, tx, sealed)
		return err
	})
}

// open writes the input and that the exchange has begun. An input that was said before is a turn.ErrConflict: there may be
// a reply to it, and asking the model with that as the last word would make no sense.
func (e *exchange) open(ctx context.Context, tx store.Tx, sealed []turn.Sealed) (prompting, error) {
	info, err := tx.Log().LockSession(ctx, e.session.key)
	if err != nil {
		return noPrompt, err
	}
	e.model = cmp.Or(e.options.name, info.Model, e.session.engine.config.ModelName)
	if e.compiles() {
		// Whether the prompt is made in this update or later, a context that it cannot be made for is refused before anything is said.
		if _, err := e.session.engine.windowOf(e.model, e.options.context); err != nil {
			return noPrompt, err
		}
	}
	e.session.engine.windows.trails.begin(tx, e.session.key)
	turns, err := e.input(ctx, tx, info, sealed)
	if err != nil {
		return noPrompt, err
	}
	for _, t := range turns {
		if t.Seq <= info.Head && !e.relay.repeats() {
			return noPrompt, fmt.Errorf("idempotency_key %q: it was said before, as turn %d: %w; read from there what came of it, or use a new key to say it once more",
				t.IdempotencyKey, t.Seq, turn.ErrConflict)
		}
	}
	for i := range sealed {
		taken, err := e.session.keyUnused(ctx, tx, sealed[i].Turn().IdempotencyKey)
		if err != nil {
			return noPrompt, err
		}
		if taken {
			e.id = e.session.engine.newID()
		}
	}
	e.opened, e.reopened, e.started = turns[0].ID, info.Status == turn.Ended, tx.Now()
	if err := e.asking(ctx, tx); err != nil {
		return noPrompt, err
	}
	which := nextPrompt
	if info.Head == 0 {
		which = firstPrompt
	}
	return which, tx.Log().PutExchange(ctx, e.session.key, e.row())
}

// keyOf is the idempotency key of the request that said it: that of the first turn that has one.
func keyOf(input []turn.Draft) string {
	for _, d := range input {
		if d.IdempotencyKey != "" {
			return d.IdempotencyKey
		}
	}
	return ""
}

// row is the exchange without a reply.
func (e *exchange) row() turn.OpenExchange {
	return turn.OpenExchange{ExportID: e.id, Opened: e.opened, Model: e.model, Started: e.started, Changed: e.started}
}

// write runs an update of who holds the lease.
func (e *exchange) write(ctx context.Context, fn func(store.Tx) error) error {
	s := e.session
	return s.engine.store.Update(ctx, func(tx store.Tx) error {
		if err := turn.CheckLease(ctx, tx.Log(), s.key, e.lease.token); err != nil {
			return err
		}
		return fn(tx)
	})
}

func (e *exchange) append(ctx context.Context, tx store.Tx, sealed []turn.Sealed) ([]turn.Turn, error) {
	done, err := e.session.extend(ctx, tx, sealed)
	return done.Turns, err
}

// Receive implements [agent.Conversation]. It only notes what came: the draft is written in the background. Without the lease
// nothing is taken, so that nothing is told that nobody keeps.
func (e *exchange) Receive(ctx context.Context, piece llm.Chunk) error {
	if err := e.draft.keep(ctx); err != nil {
		return err
	}
	most := e.session.engine.config.Limits.Text
	if size := e.draft.add(piece); size > most {
		return invalid.New("reply", fmt.Sprintf("has more than the %d bytes that a turn may have", most), "bound the reply, or raise Config.Limits.Text")
	}
	return nil
}

// Answer implements [agent.Conversation]. A reply that calls tools is written at once, the last one with the commit.
func (e *exchange) Answer(ctx context.Context, a llm.Answer) error {
	text := turn.Text{Text: a.Text, Thinking: a.Thinking}
	for _, c := range a.Calls {
		text.ToolCalls = append(text.ToolCalls, turn.ToolCall(c))
	}
	d := turn.Draft{ID: e.draft.id(), Role: turn.Agent, Meta: turn.Meta{
		Model: e.model, Tokens: int64(a.Usage.Answer), Latency: max(0, e.session.engine.config.Clock().Sub(e.asked)),
		Interrupted: a.Stop == "",
	}}
	if d.Meta.Interrupted {
		text = clipped(text, e.session.engine.config.Limits.Text)
	}
	d.Content = text
	if d.ID == "" {
		d.ID = e.session.engine.newID()
	}
	if err := d.Check(e.session.engine.config.Limits); err != nil {
		return err
	}
	if a.Usage.Prompt > 0 && e.prompt != nil {
		e.counted = append(e.counted, counted{e.prompt, a.Usage})
	}
	if len(a.Calls) == 0 {
		e.last = []turn.Draft{d}
		return nil
	}
	sealed, err := e.session.seal([]turn.Draft{d})
	if err != nil {
		return err
	}
	e.waiting = true
	return e.said(ctx, sealed)
}

// said writes a reply in place of its draft.
func (e *exchange) said(ctx context.Context, sealed []turn.Sealed) error {
	return e.draft.replaced(func() error {
		return e.write(ctx, func(tx store.Tx) error {
			if err := e.report(ctx, tx); err != nil {
				return err
			}
			turns, err := e.append(ctx, tx, sealed)
			if err != nil {
				return err
			}
			if err := e.answered(ctx, tx, turns[0].Seq); err != nil {
				return err
			}
			row := e.row()
			row.Changed = tx.Now()
			return tx.Log().PutExchange(ctx, e.session.key, row)
		})
	})
}

// keepLast writes a reply that was taken for the last one and is not.
func (e *exchange) keepLast(ctx context.Context) error {
	if len(e.last) == 0 {
		return nil
	}
	sealed, err := e.session.seal(e.last)
	if err != nil {
		return err
	}
	if err := e.said(ctx, sealed); err != nil {
		return err // and it is still to be written
	}
	e.last = nil
	return nil
}

// report stores what the provider counted.
func (e *exchange) report(ctx context.Context, tx store.Tx) error {
	miscounted := e.miscounted
	for _, c := range e.counted {
		_, warning, err := e.session.reported(ctx, tx, c.prompt, c.usage)
		if err != nil {
			return err
		}
		miscounted = cmp.Or(warning, miscounted)
	}
	told := len(e.counted)
	tx.AfterCommit(func() { e.counted, e.miscounted = e.counted[told:], miscounted })
	return nil
}

// warnings are those of an exchange that is over.
func (e *exchange) warnings() []string {
	if e.miscounted == "" {
		return e.warned
	}
	return append(slices.Clip(e.warned), e.miscounted)
}

// Results implements [agent.Conversation].
func (e *exchange) Results(ctx context.Context, results []agent.ToolResult) error {
	drafts := make([]turn.Draft, len(results))
	for i, r := range results {
		drafts[i] = turn.Draft{Role: turn.System, Content: r.Result, Meta: turn.Meta{Latency: r.Took}}
	}
	sealed, err := e.session.seal(drafts)
	if err != nil {
		return err
	}
	err = e.update(ctx, &e.offer, nil, func(tx store.Tx) (prompting, error) {
		if err := turn.CheckLease(ctx, tx.Log(), e.session.key, e.lease.token); err != nil {
			return noPrompt, err
		}
		_, err := e.append(ctx, tx, sealed)
		return nextPrompt, err
	})
	e.waiting = e.waiting && err != nil
	return err
}

// End implements [agent.Conversation]: one update, in which the lease is given back too. It does not wait for a draft that is
// being written: that would be in its way for as long as a disk takes.
func (e *exchange) End(ctx context.Context, how agent.Ending) error {
	defer e.session.engine.windows.trails.drop(e.session.key) // also where it could not be finished
	e.draft.stop()
	if failed := e.recalled.failed; failed != "" {
		how.Warnings = append([]string{failed}, how.Warnings...)
	}
	e.warned = how.Warnings
	err := e.finish(ctx, how)
	return errors.Join(e.draft.ended(), err)
}

func (e *exchange) finish(ctx context.Context, how agent.Ending) error {
	if e.waiting && e.relay == nil {
		err := e.write(ctx, func(tx store.Tx) error {
			closed, err := turn.CloseOpenCalls(ctx, tx.Log(), e.session.key, tx.Now(), e.session.engine.newID)
			e.session.afterCommit(tx, closed)
			return err
		})
		if err != nil {
			return err
		}
	}
	ex := e.commit(how)
	ex.Log = e.session.engine.windows.trails.end(e.session.key, e.opened)
	res, err := e.lease.commit(ctx, ex)
	if errors.Is(err, turn.ErrConflict) {
		// Who took over may have committed it already, as far as it was flushed.
		if lost := e.write(ctx, func(store.Tx) error { return nil }); errors.Is(lost, turn.ErrLeaseLost) {
			err = lost
		}
	} else if res.Repeated && res.Status == commit.Interrupted && how.State != commit.Interrupted {
		err = fmt.Errorf("session %s: %w", e.session.key.Session, turn.ErrLeaseLost)
	}
	if err == nil {
		e.result = res
		e.passAhead()
		return nil
	}
	if !errors.Is(err, turn.ErrLeaseLost) {
		// What was said is kept, and the next exchange begins clean, even if this one is not remembered.
		// A draft that comes behind that would be taken for another reply.
		<-e.draft.done
		if cerr := e.session.close(ctx, e.lease.token, e.last); cerr == nil {
			cerr = e.lease.Release(ctx)
			err = errors.Join(err, cerr)
		}
	}
	return err
}

// commit is the exchange as the pipeline takes it.
func (e *exchange) commit(how agent.Ending) commit.Exchange {
	ex := commit.Exchange{
		ExportID: e.id, Opened: e.opened, Turns: e.last, Started: e.started,
		Interrupted: how.State == commit.Interrupted, Warnings: how.Warnings, Again: e.relay.repeats(),
	}
	if how.Err != nil && how.State == commit.Failed {
		ex.Failure = shown(how.Err)
	} else if how.Err != nil {
		ex.Warnings = append(ex.Warnings[:len(ex.Warnings):len(ex.Warnings)], shown(how.Err))
	}
	if e.prompt != nil {
		ex.BudgetUsed, ex.BudgetTotal = int64(e.prompt.Count.Tokens), int64(e.prompt.Window.Usable)
	}
	ex.Within = func(ctx context.Context, tx store.Tx) error {
		if err := e.report(ctx, tx); err != nil {
			return err
		}
		if err := e.ended(ctx, tx); err != nil {
			return err
		}
		if err := tx.Log().DeleteExchange(ctx, e.session.key); err != nil {
			return err
		}
		return turn.Release(ctx, tx.Log(), e.session.key, e.lease.token)
	}
	return ex
}

// maxShown bounds, in bytes, what is kept of an error.
const maxShown = 4 << 10

// shown is the text of an error as every store can keep it.
func shown(err error) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(err.Error(), "�"), "\x00", "�")
	return cmp.Or(cut(text, maxShown), "unknown")
}

// clipped cuts a reply that was interrupted for its size.
func clipped(t turn.Text, most int64) turn.Text {
	t.Text = cut(t.Text, int(most))
	t.Thinking = cut(t.Thinking, int(most)-len(t.Text))
	return t
}

// cut returns the first bytes of a text, at most that many and whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
