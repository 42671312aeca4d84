package turnstone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// PromptOptions say what a prompt is compiled for. The zero value is ready for use.
type PromptOptions struct {
	// Settings are what the prompt begins with. Defaults to what the session's last prompt began with, and
	// to Config.Prompt for its first.
	Settings *prompt.Settings
	// Model is who it is for. Defaults to the session's model.
	Model string
	// Context is the size of the model's context in tokens. Defaults to Config.Context, then to what the
	// model's profile says; for a model on the own machine at most 8,192, since memory pays for it.
	Context int
	// Late are items for the end of the prompt, such as what was recalled, the most important first. Each
	// stands there as a whole or not at all; together they get at most 3 % of the window.
	Late []string
	// Preview compiles without keeping that it was done.
	Preview bool

	// sealed are the settings where somebody has sealed them already.
	sealed *prompt.Sealed
	// lease refuses to write a pass for an exchange that has lost its lease; nil where it is for none.
	lease func(context.Context, store.Tx) error
	// recalled is what Late was made of, and must still be there when the prompt is kept.
	recalled []recall.Hit
}

// promptTries is how often a prompt is compiled anew because somebody else wrote meanwhile, before others are
// kept out for it.
const promptTries = 3

// Prompt compiles what the model is to see now, within its window to the token, and keeps what is needed to
// make the same prompt again later. It differs from the one before only at its end, unless it opened a new
// epoch. Turns leave it when the conversation is full, and checkpoints stand for them; nobody waits for a
// model that summarises. A *[budget.OverBudgetError] says where every token went if it cannot fit.
func (s *Session) Prompt(ctx context.Context, o PromptOptions) (*prompt.Prompt, error) {
	settings, err := s.prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	var opened prompt.Reason
	for round := range promptTries {
		for range promptTries {
			made, passed, err := s.prompt(ctx, o, settings)
			opened = cmp.Or(passed, opened)
			if err == nil {
				made.Opened = cmp.Or(made.Opened, opened)
			}
			if !errors.Is(err, prompt.ErrStale) || errors.Is(err, errRecalledGone) {
				return made, err
			}
		}
		made, err := s.promptAlone(ctx, o, settings)
		if errors.Is(err, errRecalledGone) {
			return nil, err
		}
		if round == promptTries-1 || !errors.Is(err, budget.ErrOverBudget) && !errors.Is(err, prompt.ErrStale) {
			return made, contended(err)
		}
	}
	return nil, contended(prompt.ErrStale)
}

// promptAlone compiles and keeps in one update, so that nobody can write in between. No turn leaves the prompt
// then, since summaries are not made while others wait.
func (s *Session) promptAlone(ctx context.Context, o PromptOptions, settings *prompt.Sealed) (made *prompt.Prompt, err error) {
	err = s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		r, err := s.request(ctx, tx, info, o, settings, nil)
		if err != nil {
			return err
		}
		r.Compression.Off = true
		compiled, err := prompt.Compile(ctx, promptRows(tx), r, nil)
		if err != nil {
			return err
		}
		if len(compiled.Passes) > 0 {
			return prompt.ErrStale // a checkpoint was damaged and made again, which is stored by itself
		}
		if err := s.stillThere(ctx, tx, o.recalled); err != nil {
			return err
		}
		made = compiled.Prompt
		return s.storeOnly(ctx, tx, info, compiled)
	})
	if err != nil {
		return nil, fmt.Errorf("prompt of %s: %w", s.key.Session, err)
	}
	return made, nil
}

// prompt compiles and keeps what was compiled. prompt.ErrStale if that must be done again; passed is then why, if
// it is because turns left the prompt.
func (s *Session) prompt(ctx context.Context, o PromptOptions, settings *prompt.Sealed) (made *prompt.Prompt, passed prompt.Reason, err error) {
	entry := s.engine.shared.projections.entry(s.key)
	if err := entry.lock(ctx); err != nil {
		return nil, "", fmt.Errorf("prompt of %s: %w", s.key.Session, err)
	}
	defer entry.unlock()
	earlier := entry.projection
	// It is used up: it comes back with a prompt that was kept.
	entry.projection = nil
	c := compiling{options: o, settings: settings, at: Head, earlier: earlier}
	compiled, err := s.compileAndKeep(ctx, c)
	if passFailed(ctx, compiled, err) {
		compiled, err = s.without(ctx, c, err)
	}
	if err != nil {
		return nil, "", fmt.Errorf("prompt of %s: %w", s.key.Session, err)
	}
	if compiled.Opened == nil || !o.Preview {
		s.engine.shared.projections.keep(s.key, entry, compiled.Projection)
	}
	if o.Preview {
		return compiled.Prompt, "", nil
	}
	if len(compiled.Passes) > 0 {
		// Its summaries were written to the log, which is one more turn that the prompt has seen.
		return nil, compiled.Opened.Reason, prompt.ErrStale
	}
	s.draft(ctx, o, settings, compiled)
	return compiled.Prompt, "", nil
}

// compileAndKeep compiles and, unless it is a preview, stores what came of it. That comes with an error too where
// only storing it failed.
func (s *Session) compileAndKeep(ctx context.Context, c compiling) (prompt.Compiled, error) {
	var last prompt.Call
	with := c.with
	c.with = func(tx store.Tx, info turn.SessionInfo, r *prompt.Request) (err error) {
		if with != nil {
			if err := with(tx, info, r); err != nil {
				return err
			}
		}
		if !c.options.Preview {
			last, err = lastCall(ctx, tx, info)
		}
		return err
	}
	compiled, err := s.compile(ctx, c)
	if err != nil || c.options.Preview {
		return compiled, err
	}
	return compiled, s.keepPrompt(ctx, compiled, c.options, last)
}

// keepPrompt stores what was compiled, as far as it is new. A pass is stored by itself, whatever was appended
// meanwhile, by who holds the lease if it is an exchange's.
func (s *Session) keepPrompt(ctx context.Context, c prompt.Compiled, o PromptOptions, last prompt.Call) error {
	if len(c.Passes) > 0 {
		return s.swap(ctx, c, o.lease, nil)
	}
	if c.Stuck != nil {
		if err := s.noProgress(ctx, c); err != nil {
			return err
		}
	}
	if c.Opened == nil && last.Same(callOf(c.Prompt)) {
		return nil
	}
	err := s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		if err := s.stillThere(ctx, tx, o.recalled); err != nil {
			return err
		}
		return s.store(ctx, tx, info, c)
	})
	var snap *autoSnapshotError
	if !errors.As(err, &snap) {
		return err
	}
	// The prompt is worth more than the snapshot.
	err = s.snapshotFailed(ctx, "take", err)
	if again := s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error { return s.storeOnly(ctx, tx, info, c) }); again != nil {
		return errors.Join(again, err)
	}
	return nil
}

// check refuses what could not be kept with the prompt or not be read again, by which the session would come to its end.
func (o *PromptOptions) check() error {
	for i, text := range o.Late {
		if !utf8.ValidString(text) {
			return invalid.New(fmt.Sprintf("late[%d]", i), "is not valid UTF-8", "give valid UTF-8")
		}
	}
	return (&turn.SessionInfo{Model: o.Model}).CheckInfo()
}

// prepare checks the options, seals the settings and sees to the model's vocabulary, before any transaction.
func (s *Session) prepare(ctx context.Context, o PromptOptions) (*prompt.Sealed, error) {
	model := o.Model
	if err := o.check(); err != nil {
		return nil, err
	}
	if model == "" {
		info, err := s.Info(ctx)
		if err != nil {
			return nil, err
		}
		model = info.Model
	}
	s.engine.shared.counters.prepare(ctx, model)
	if o.Settings == nil || o.sealed != nil {
		return o.sealed, nil
	}
	sealed, err := o.Settings.Seal()
	return &sealed, err
}

// request is what the prompt of the session is compiled for.
func (s *Session) request(
	ctx context.Context, tx store.Tx, info turn.SessionInfo, o PromptOptions, settings *prompt.Sealed, made *jobs,
) (prompt.Request, error) {
	counter, window, err := s.counted(ctx, tx, info, o)
	if err != nil {
		return prompt.Request{}, err
	}
	r := prompt.Request{
		Session: info, Settings: settings, Default: s.engine.shared.defaults, Late: o.Late,
		Model: modelOf(info, o), Window: window, Counter: counter,
		Compression: s.engine.config.Compression,
	}
	intentions, err := cortex.Load(ctx, tx.Cortex(), s.key.Tenant, info.Lineage(info.Head), true)
	if err != nil {
		return r, err
	}
	if goal, ok := intentions.ActiveGoal(); ok {
		r.Goal = &goal
	}
	s.compressing(ctx, tx, info, &r, made)
	return r, nil
}

func modelOf(info turn.SessionInfo, o PromptOptions) string {
	if o.Model != "" {
		return o.Model
	}
	return info.Model
}

// counted says what the prompt is counted with and held against.
func (s *Session) counted(ctx context.Context, tx store.Tx, info turn.SessionInfo, o PromptOptions) (*budget.Counter, budget.Window, error) {
	counter, err := s.engine.shared.counters.of(ctx, tx, s.key.Tenant, modelOf(info, o))
	if err != nil {
		return nil, budget.Window{}, err
	}
	window, err := s.engine.windowOf(modelOf(info, o), o.Context)
	return counter, window, err
}

// windowOf is the window of a model's prompts with a context of that size, 0 for what the engine gives it.
func (e *Engine) windowOf(model string, context int) (budget.Window, error) {
	size := cmp.Or(context, e.ContextOf(model))
	if profile, known := e.Profile(model); known && size > profile.Context {
		return budget.Window{}, invalid.New("context", fmt.Sprintf("%d is more than the %d tokens of %s", size, profile.Context, model),
			fmt.Sprintf("give at most %d, or a profile that says otherwise", profile.Context))
	}
	return budget.WindowOf(size)
}

// store is storeOnly with the automatic snapshot of a conversation that fills its room.
func (s *Session) store(ctx context.Context, tx store.Tx, info turn.SessionInfo, c prompt.Compiled) error {
	if err := s.storeOnly(ctx, tx, info, c); err != nil {
		return err
	}
	if _, err := s.takeFilled(ctx, tx, info, c.Fill); err != nil {
		return &autoSnapshotError{err}
	}
	return nil
}

// storeOnly keeps the epoch that a prompt opened, and that the prompt was compiled. prompt.ErrStale if the session
// went on meanwhile: what is kept belongs to the turn that the session is at, so that a fork made before it
// does not inherit it.
func (s *Session) storeOnly(ctx context.Context, tx store.Tx, info turn.SessionInfo, c prompt.Compiled) error {
	rows, call := tx.Prompt(), callOf(c.Prompt)
	if info.Head != call.End {
		return prompt.ErrStale
	}
	if err := s.open(ctx, tx, info, c); err != nil {
		return err
	}
	last, err := lastCall(ctx, tx, info)
	if err != nil {
		return err
	}
	call.Number, call.At = last.Number+1, tx.Now()
	return rows.InsertCall(ctx, s.key.Tenant, info.Segment, call.Row())
}

// open stores the epoch that a prompt opened, if it did.
func (s *Session) open(ctx context.Context, tx store.Tx, info turn.SessionInfo, c prompt.Compiled) error {
	if c.Opened == nil {
		return s.inForce(ctx, tx, info, c.Prompt.Epoch)
	}
	if err := c.Settings.Put(ctx, tx.Prompt(), s.key.Tenant, tx.Now()); err != nil {
		return err
	}
	e := *c.Opened
	e.AfterSeq = info.Head
	return prompt.Open(ctx, tx.Prompt(), info, e, tx.Now())
}

// inForce refuses a prompt of an epoch that another has followed since: what it shows may have been forgotten.
func (s *Session) inForce(ctx context.Context, tx store.Tx, info turn.SessionInfo, epoch int64) error {
	last, err := tx.Prompt().LastEpoch(ctx, s.key.Tenant, info.Lineage(info.Head))
	if err == nil && last.Number != epoch {
		err = prompt.ErrStale
	}
	return err
}

func lastCall(ctx context.Context, tx store.Tx, info turn.SessionInfo) (prompt.Call, error) {
	row, err := tx.Prompt().LastCall(ctx, info.Tenant, info.Lineage(info.Head), info.Head)
	if errors.Is(err, prompt.ErrNotFound) {
		return prompt.Call{}, nil
	}
	if err != nil {
		return prompt.Call{}, err
	}
	return prompt.DecodeCall(row)
}

func callOf(p *prompt.Prompt) prompt.Call {
	return prompt.Call{
		End: p.End, Epoch: p.Epoch, SHA256: p.SHA256, Renderer: prompt.Renderer, Settings: p.Settings,
		Model: p.Model, Context: int64(p.Window.Context), Tokens: int64(p.Count.Tokens), Passes: p.Passes, Late: p.Late,
	}
}

// PromptAt makes the prompt again that was compiled last after the turn of that seq, [Head] for the one the
// session is at, byte for byte, from the log and its epoch. Recorded is false if none was compiled then: it is
// what would have been with these options, which do not change one that was. prompt.ErrChanged if what the
// prompt was made from is no longer the same.
func (s *Session) PromptAt(ctx context.Context, seq int64, o PromptOptions) (made *prompt.Prompt, recorded bool, err error) {
	settings, err := s.prepare(ctx, o)
	if err != nil {
		return nil, false, err
	}
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		if seq == Head {
			seq = info.Head
		}
		if seq < 0 || seq > info.Head {
			return invalid.New("at", fmt.Sprintf("there is no turn %d", seq), fmt.Sprintf("give one up to %d", info.Head))
		}
		end, err := summarised(ctx, tx, info, seq)
		if err != nil {
			return err
		}
		row, err := tx.Prompt().LastCall(ctx, s.key.Tenant, info.Lineage(info.Head), end)
		if err != nil && !errors.Is(err, prompt.ErrNotFound) {
			return err
		}
		if recorded = err == nil && row.End >= seq; !recorded {
			return nil
		}
		call, err := prompt.DecodeCall(row)
		if err != nil {
			return err
		}
		made, err = s.again(ctx, tx, info, call)
		return err
	})
	if err == nil && !recorded {
		var compiled prompt.Compiled
		c := compiling{options: o, settings: settings, at: seq}
		if compiled, err = s.compile(ctx, c); passFailed(ctx, compiled, err) {
			c.options.Preview = true
			compiled, err = s.without(ctx, c, err)
		}
		made = compiled.Prompt
	}
	if err != nil {
		return nil, false, fmt.Errorf("prompt of %s at turn %d: %w", s.key.Session, seq, err)
	}
	return made, recorded, nil
}

// summarised returns the last of the summaries that stand in the log right behind a turn: prompts that were
// compiled after them are prompts at that turn too.
func summarised(ctx context.Context, tx store.Tx, info turn.SessionInfo, seq int64) (int64, error) {
	for _, s := range info.Spans(info.Head) {
		for s.From = max(s.From, seq+1); !s.Empty(); s.From++ {
			next, err := tx.Log().Scan(ctx, info.Tenant, s, turn.RowFilter{}, 1)
			if err != nil {
				return 0, err
			}
			if len(next) == 0 || next[0].Kind != turn.KindSummary {
				return seq, nil
			}
			seq = next[0].Seq
		}
	}
	return seq, nil
}

// Prompts lists up to limit prompts that were compiled for a model, with a number greater than after, in
// their order. [Session.Again] makes one of them again.
func (s *Session) Prompts(ctx context.Context, after int64, limit int) (calls []prompt.Call, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		rows, err := tx.Prompt().Calls(ctx, s.key.Tenant, info.Lineage(info.Head), after, limit)
		if err != nil {
			return err
		}
		calls = make([]prompt.Call, len(rows))
		for i, r := range rows {
			if calls[i], err = prompt.DecodeCall(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("prompts of %s: %w", s.key.Session, err)
	}
	return calls, nil
}

// Again makes a prompt again that was compiled earlier, byte for byte. prompt.ErrChanged if what it was made
// from is no longer the same.
func (s *Session) Again(ctx context.Context, call prompt.Call) (made *prompt.Prompt, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) (err error) {
		made, err = s.again(ctx, tx, info, call)
		return err
	})
	return made, err
}

func (s *Session) again(ctx context.Context, tx store.Tx, info turn.SessionInfo, call prompt.Call) (*prompt.Prompt, error) {
	counter, err := s.engine.shared.counters.of(ctx, tx, s.key.Tenant, call.Model)
	if err != nil {
		return nil, err
	}
	return prompt.Rebuild(ctx, promptRows(tx), info, call, counter)
}

func promptRows(tx store.Tx) prompt.AllRows {
	return prompt.AllRows{Turns: tx.Log(), Prompts: tx.Prompt(), Checkpoints: tx.Compress()}
}
