package turnstone

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
)

// ready is the next prompt of an exchange, made in the update that appends what it answers: one write in place of two,
// and nobody can come between. That is done only where the prompt before is still in memory or nothing was said before,
// so that other writers wait for no more than what is new, and nothing leaves the prompt meanwhile: that is done after
// the reply.
type ready struct {
	session  *Session
	offer    agent.Offer
	options  PromptOptions
	settings *prompt.Sealed
	entry    *projectionEntry // locked
	earlier  *prompt.Projection
	compiled *prompt.Compiled // nil where it must be made another way
}

// options are what the exchange's prompts are compiled for.
func (e *exchange) promptOptions(offer agent.Offer) PromptOptions {
	engine := e.session.engine
	o := PromptOptions{
		Model: e.model, Context: e.options.context, Late: slices.Concat(e.options.late, recall.Late(e.recalled.hits)), recalled: e.recalled.hits,
	}
	given := e.options.settings
	if e.relay != nil {
		given = &e.relay.settings
	}
	if given == nil && e.keepsSettings() {
		return o
	}
	if given == nil && len(offer.Tools) == 0 && len(offer.Sticky) == 0 {
		o.Settings, o.sealed = &engine.config.Prompt, &engine.shared.defaults
		return o
	}
	settings := engine.config.Prompt
	if given != nil {
		settings = *given
	}
	settings.Tools = slices.Concat(settings.Tools, definitions(offer.Tools))
	settings.Sticky = slices.Concat(settings.Sticky, offer.Sticky)
	o.Settings = &settings
	return o
}

// keepsSettings reports whether prompts begin with what the session's last one began with. Where somebody offers tools or
// files that would be wrong: those of the exchange before stand there, and may be gone.
func (e *exchange) keepsSettings() bool {
	config := &e.session.engine.config
	return !e.foreign && config.Prompt.Clean() && len(config.Agent.Tools) == 0 && config.Agent.Sticky == nil
}

// prompting is which prompt follows what an update wrote.
type prompting int

const (
	noPrompt    prompting = iota
	nextPrompt            // goes on from the one before
	firstPrompt           // shows nothing but what the update wrote
)

// compiles reports whether the exchange's prompts are compiled here.
func (e *exchange) compiles() bool { return e.relay == nil || !e.foreign }

// checkOptions refuses what no prompt can be made of, whenever it will be made.
func (e *exchange) checkOptions() error {
	if !e.compiles() {
		return nil
	}
	o := PromptOptions{Model: e.options.name, Late: e.options.late}
	if err := o.check(); err != nil {
		return err
	}
	if given := e.options.settings; given != nil {
		return record.Within("settings", given.Check())
	}
	if e.relay != nil {
		return e.relay.settings.Check()
	}
	return nil
}

// prepare returns what makes the prompt in the next update, nil where the offer or the model is not known. It must be
// given back.
func (e *exchange) prepare(ctx context.Context, offer *agent.Offer) (*ready, error) {
	if err := e.checkOptions(); err != nil || offer == nil {
		return nil, err
	}
	s := e.session
	entry := s.engine.shared.projections.entry(s.key)
	// Which model it is will be seen in the update: reading it before would cost as much as all else.
	if e.model == "" {
		e.model = cmp.Or(e.options.name, entry.lastModel(), s.engine.config.ModelName)
	}
	if e.model == "" {
		return nil, nil
	}
	r := &ready{session: s, offer: *offer, options: e.promptOptions(*offer), entry: entry}
	var err error
	// This may ask the caller's code: others must not wait for it.
	if r.settings, err = s.prepare(ctx, r.options); err != nil {
		return nil, err
	}
	if err := entry.lock(ctx); err != nil {
		return nil, err
	}
	// It is used up: it comes back with a prompt that was kept.
	r.earlier, entry.projection = entry.projection, nil
	return r, nil
}

// compile makes the prompt of a session in an update that has locked it and keeps it there.
func (r *ready) compile(ctx context.Context, tx store.Tx, which prompting) error {
	s, before, earlier := r.session, r.compiled, r.earlier
	r.compiled, r.earlier = nil, nil
	if earlier == nil && before == nil && which != firstPrompt {
		return nil
	}
	info, err := tx.Log().LockSession(ctx, s.key)
	if err != nil {
		return err
	}
	if err := s.stillThere(ctx, tx, r.options.recalled); err != nil {
		return err
	}
	if earlier == nil && before != nil {
		// The update is run again: the model may have been asked already.
		r.compiled = before
		return s.store(ctx, tx, info, *before)
	}
	request, err := s.request(ctx, tx, info, r.options, r.settings, nil)
	if err != nil {
		return err
	}
	off := request.Compression.Off
	request.Compression.Off = true
	compiled, err := prompt.Compile(ctx, promptRows(tx), request, earlier)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || compiled.Opened != nil && which != firstPrompt || len(compiled.Passes) > 0 {
		return nil // the long way will say what is wrong, or do what is more than this
	}
	if len(compiled.Prompt.LeftOut) > 0 && !off && compiled.Fill >= request.Compression.Threshold {
		return nil // it makes room, which is due, for what was recalled
	}
	r.compiled = &compiled
	return s.store(ctx, tx, info, compiled)
}

// during runs the update and gives back what was prepared, also where the update panics. What was not kept is forgotten.
func (r *ready) during(update func() error) error {
	if r == nil {
		return update()
	}
	defer r.entry.unlock()
	if err := update(); err != nil {
		r.compiled = nil
		return err
	}
	if r.compiled != nil {
		r.session.engine.shared.projections.keep(r.session.key, r.entry, r.compiled.Projection)
		r.entry.model.Store(r.options.Model)
	}
	return nil
}

// made is the prompt if it was made for that.
func (r *ready) made(offer agent.Offer) *prompt.Prompt {
	if r == nil || r.compiled == nil || !slices.Equal(r.offer.Tools, offer.Tools) || !slices.Equal(r.offer.Sticky, offer.Sticky) {
		return nil
	}
	return r.compiled.Prompt
}

// holds reports whether the prompt is the one that was kept.
func (r *ready) holds(p *prompt.Prompt) bool {
	return r != nil && r.compiled != nil && r.compiled.Prompt == p
}

// update runs a write and makes the next prompt in the same update if it can. Made is told of it, if it is not nil,
// before it is durable.
func (e *exchange) update(ctx context.Context, offer *agent.Offer, made func(*ready), write func(store.Tx) (prompting, error)) error {
	r, err := e.prepare(ctx, offer)
	if err != nil {
		return err
	}
	updating := &e.session.engine.shared.updating
	updating.Add(1)
	defer updating.Add(-1)
	err = r.during(func() error {
		return e.session.engine.store.Update(ctx, func(tx store.Tx) error {
			which, err := write(tx)
			if err != nil || which == noPrompt || r == nil || r.options.Model != e.model {
				return err
			}
			if err := r.compile(ctx, tx, which); err != nil {
				return err
			}
			if r.compiled != nil && made != nil {
				made(r)
				if updating.Load() == 1 {
					// Who asks goes first: what follows here is a trip to the disk, which would keep it waiting.
					// Among many it would be the others that wait here, for everything else that can run.
					runtime.Gosched()
				}
			}
			return nil
		})
	})
	var snapshot *autoSnapshotError
	if r != nil && (errors.Is(err, prompt.ErrStale) || errors.As(err, &snapshot)) {
		// The prompt is made the long way, which tells of what went wrong.
		return e.session.engine.store.Update(ctx, func(tx store.Tx) error {
			_, err := write(tx)
			return err
		})
	}
	e.ready = r
	return err
}

// guarded makes an error of a panic of something that runs in the background, where nobody else would catch it.
func guarded(fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &agent.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return fn()
}

// nearlyFull is how much of the window a prompt and its reply take when it is worth looking whether something has to
// leave the next one.
const nearlyFull = 0.60

// passAhead makes the pass that the next prompt would begin with, in the background, once the reply is given: the user
// need not wait for it. What goes wrong is met again by the next prompt, which says so.
func (e *exchange) passAhead() {
	s, p := e.session, e.prompt
	if p == nil || s.engine.config.Compression.Off {
		return
	}
	size := p.Count.Tokens
	for _, d := range e.last {
		size += len(d.Content.Searchable()) / 2
	}
	if float64(size) < nearlyFull*float64(p.Window.Usable) {
		return
	}
	done, ok := s.engine.shared.underway.begin(s.key)
	if !ok {
		return // the exchange after this one looks again
	}
	o := e.promptOptions(e.offer)
	s.engine.shared.inBackground(func(ctx context.Context) {
		defer done()
		if err := guarded(func() error { return s.pass(ctx, o) }); err != nil && ctx.Err() == nil {
			level := slog.LevelDebug
			var panicked *agent.PanicError
			if errors.As(err, &panicked) {
				level = slog.LevelError // the next prompt may not meet it
			}
			bus.Logger(s.engine.config.Log).LogAttrs(ctx, level, "no pass ahead", slog.String("session", s.key.Session), slog.Any("error", err))
		}
	})
}

// pass makes the pass that is due, if one is. The prompt in memory stays usable meanwhile: an exchange that comes is
// not kept waiting, and what it appends does not disturb the pass.
func (s *Session) pass(ctx context.Context, o PromptOptions) error {
	settings, err := s.prepare(ctx, o)
	if err != nil {
		return err
	}
	full, err := s.full(ctx, o, settings)
	if err != nil || !full {
		return err
	}
	compiled, err := s.compile(ctx, compiling{options: o, settings: settings, at: Head})
	if err != nil || len(compiled.Passes) == 0 {
		return err
	}
	entry := s.engine.shared.projections.entry(s.key)
	if err := entry.lock(ctx); err != nil {
		return err
	}
	defer entry.unlock()
	if err := s.swap(ctx, compiled, nil, nil); err != nil {
		return err
	}
	s.engine.shared.projections.keep(s.key, entry, compiled.Projection)
	return nil
}

// full reports whether the conversation is so full that something has to leave it, and brings the prompt in memory up
// to what was said.
func (s *Session) full(ctx context.Context, o PromptOptions, settings *prompt.Sealed) (bool, error) {
	entry := s.engine.shared.projections.entry(s.key)
	if err := entry.lock(ctx); err != nil {
		return false, err
	}
	defer entry.unlock()
	earlier := entry.projection
	entry.projection = nil
	compiled, err := s.compile(ctx, compiling{options: o, settings: settings, at: Head, earlier: earlier, with: uncompressed})
	if errors.Is(err, ErrOverBudget) {
		return true, nil
	}
	if err != nil || compiled.Opened != nil {
		return false, err
	}
	s.engine.shared.projections.keep(s.key, entry, compiled.Projection)
	s.draft(ctx, o, settings, compiled)
	return compiled.Fill >= s.engine.config.Compression.Threshold, nil
}
