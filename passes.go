package turnstone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// draftFrom is how much of its room the conversation fills when its next pass is drafted.
const draftFrom = 0.60

// compressing adds to a request how its passes are made: from a draft, or of what was made at once without a model.
func (s *Session) compressing(ctx context.Context, tx store.Tx, info turn.SessionInfo, r *prompt.Request, made *jobs) {
	m := s.engine.shared.manager
	r.Blocked = func(epoch, from, tokens int64) (bool, error) {
		b, err := s.breaker(ctx, tx, info)
		return b.Blocks(epoch, from, tokens), err
	}
	if r.Compression.Strategy == budget.Truncate {
		return
	}
	r.Pass = func(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
		var err error
		if j.Insights, err = s.insights(ctx, tx, info); err != nil {
			return compress.Outcome{}, err
		}
		return made.outcome(j)
	}
	r.Wait = m.Modelled()
	r.Draft = func(epoch int64) *prompt.Draft {
		if d := m.Take(s.key, epoch); d != nil {
			return (&prompt.Planned{Epoch: d.Epoch, From: d.From, Job: d.Job, Pins: d.Pins}).Draft(d.Outcome)
		}
		return nil
	}
}

func (s *Session) insights(ctx context.Context, tx store.Tx, info turn.SessionInfo) ([]string, error) {
	page, err := scratch.LoadKept(ctx, tx.Scratch(), s.key.Tenant, info.Segment, tx.Now())
	if err != nil {
		return nil, err
	}
	return s.engine.shared.manager.Insights(page), nil
}

func (s *Session) breaker(ctx context.Context, tx store.Tx, info turn.SessionInfo) (compress.Breaker, error) {
	doc, ok, err := tx.Compress().Breaker(ctx, s.key.Tenant, info.Segment)
	if err != nil || !ok {
		return compress.Breaker{}, err
	}
	b, err := compress.DecodeBreaker(doc)
	if err != nil {
		// What is damaged is as if nothing had failed yet: the worst that comes of it is another try.
		return compress.Breaker{}, nil
	}
	return b, nil
}

func (s *Session) putBreaker(ctx context.Context, tx store.Tx, info turn.SessionInfo, b compress.Breaker) error {
	return tx.Compress().PutBreaker(ctx, s.key.Tenant, info.Segment, string(b.AppendJSON(nil)), tx.Now())
}

// draft has the next pass made ahead where a model makes it and its time comes near.
func (s *Session) draft(ctx context.Context, o PromptOptions, settings *prompt.Sealed, c prompt.Compiled) {
	m, compression := s.engine.shared.manager, s.engine.config.Compression
	if !m.Modelled() || c.Fill < draftFrom || compression.Off || compression.Strategy == budget.Truncate {
		return
	}
	from, tokens := c.Projection.Recent()
	m.Draft(ctx, s.key, c.Prompt.Epoch, func(ctx context.Context) (*memory.Plan, error) {
		plan, err := s.plan(ctx, o, settings, false)
		if plan != nil && plan.Breaker.Blocks(plan.Epoch, from, tokens) {
			return nil, nil // it would be of no use
		}
		return plan, err
	})
}

// Settle waits until the pass that is being drafted ahead in the background, if one is, is ready or came to
// nothing. Nobody needs to: it is for those who feed a conversation faster than it was held and want the same
// prompts every time.
func (s *Session) Settle(ctx context.Context) error {
	if err := s.engine.shared.manager.Settle(ctx, s.key); err != nil {
		return fmt.Errorf("draft of %s: %w", s.key.Session, err)
	}
	return nil
}

// plan says what a pass would have to summarise; nil for nothing. Force plans for now, not for the time when the
// conversation is full.
func (s *Session) plan(ctx context.Context, o PromptOptions, settings *prompt.Sealed, force bool) (plan *memory.Plan, err error) {
	err = s.view(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		b, err := s.breaker(ctx, tx, info)
		if err != nil {
			return err
		}
		r, err := s.request(ctx, tx, info, o, settings, nil)
		if err != nil {
			return err
		}
		r.Force = force
		planned, err := prompt.Plan(ctx, promptRows(tx), r)
		if err != nil || planned == nil {
			return err
		}
		if planned.Job.Insights, err = s.insights(ctx, tx, info); err != nil {
			return err
		}
		planned.Job.Model = r.Model
		plan = &memory.Plan{Epoch: planned.Epoch, From: planned.From, Job: planned.Job, Breaker: b, Pins: planned.Pins}
		return nil
	})
	return plan, err
}

// swap puts the epoch that passes or going back opened in the place of the one before, in one update: the
// checkpoints, their summaries in the log, the snapshot of what was before and the events with it.
// prompt.ErrStale if that epoch is not in force any more; what was appended meanwhile does not matter. Allowed, if
// it is not nil, looks at the lease in the same update. Then, if it is not nil, writes what else belongs to it.
func (s *Session) swap(ctx context.Context, c prompt.Compiled, allowed func(context.Context, store.Tx) error, then func(store.Tx) error) error {
	overtaken := s.overtaken(c)
	err := s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		if allowed != nil {
			if err := allowed(ctx, tx); err != nil {
				return err
			}
		}
		if len(c.Passes) > 0 {
			if _, err := s.takeAuto(ctx, tx, info); err != nil {
				return &autoSnapshotError{err}
			}
		}
		head, err := s.logSummaries(ctx, tx, info, c.Passes)
		if err != nil {
			return err
		}
		info.Head = head
		if err := s.putCheckpoints(ctx, tx, info, c.Passes); err != nil {
			return err
		}
		if err := s.open(ctx, tx, info, c); err != nil {
			return err
		}
		for i := range c.Passes {
			if err := s.announcePass(ctx, tx, &c.Passes[i], c.Prompt); err != nil {
				return err
			}
		}
		if overtaken != "" {
			if err := s.overtook(ctx, tx, info, c.Prompt.Passes, overtaken); err != nil {
				return err
			}
		}
		if then == nil {
			return nil
		}
		return then(tx)
	})
	if err == nil {
		s.engine.shared.manager.Drop(s.key)
	}
	return err
}

// logSummaries writes the summaries of what left the prompt to the log, and returns its last turn then.
func (s *Session) logSummaries(ctx context.Context, tx store.Tx, info turn.SessionInfo, passes []prompt.Pass) (int64, error) {
	var sealed []turn.Sealed
	for i := range passes {
		for _, c := range passes[i].Made {
			if c.Number != passes[i].Number {
				continue // an older one that aged
			}
			d, err := turn.Draft{
				ID: s.engine.newID(), Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: c.Summary}, Covers: c.Range,
				MessageID: fmt.Sprintf("checkpoint-%d", c.Number), Meta: turn.Meta{Tokens: c.CurrentTokens},
			}.Seal(turn.Limits{Text: compress.MaxSummary})
			if err != nil {
				return 0, err
			}
			sealed = append(sealed, d)
		}
	}
	if len(sealed) == 0 {
		return info.Head, nil
	}
	turns, err := turn.Extend(ctx, tx.Log(), info, tx.Now(), sealed...)
	if err != nil {
		return 0, err
	}
	s.afterCommit(tx, turns)
	// Nobody said anything: an ended session stays ended, and one that rests goes on resting.
	info.Head = turns[len(turns)-1].Seq
	return info.Head, tx.Log().UpdateSession(ctx, info)
}

// putCheckpoints stores the checkpoints that passes made, and what they say of the summariser.
func (s *Session) putCheckpoints(ctx context.Context, tx store.Tx, info turn.SessionInfo, passes []prompt.Pass) error {
	for i := range passes {
		made := passes[i].Made
		for k := range made {
			err := tx.Compress().InsertCheckpoint(ctx, s.key.Tenant, info.Segment, compress.Row{
				Number: made[k].Number, Version: made[k].Version, AfterSeq: info.Head, Doc: string(made[k].AppendJSON(nil)), At: tx.Now(),
			})
			if errors.Is(err, compress.ErrStale) {
				err = prompt.ErrStale
			}
			if err != nil {
				return fmt.Errorf("checkpoint %d, version %d: %w", made[k].Number, made[k].Version, err)
			}
		}
		if !s.engine.shared.manager.Modelled() {
			continue
		}
		b, err := s.breaker(ctx, tx, info)
		if err != nil {
			return err
		}
		if next := memory.After(b, compress.Outcome{Made: made}); next != b {
			if err := s.putBreaker(ctx, tx, info, next); err != nil {
				return err
			}
		}
	}
	return nil
}

// announcePass stores the events of a pass.
func (s *Session) announcePass(ctx context.Context, tx store.Tx, p *prompt.Pass, made *prompt.Prompt) error {
	err := s.announceChange(ctx, tx, p, made)
	if err != nil {
		return err
	}
	return s.announceSummaries(ctx, tx, p)
}

// announceChange says what a pass did to the prompt.
func (s *Session) announceChange(ctx context.Context, tx store.Tx, p *prompt.Pass, made *prompt.Prompt) error {
	if p.Mended {
		instead := "another was made of its turns"
		if len(p.Made) == 0 {
			instead = "its turns are only named"
		}
		return s.announce(ctx, tx, event.CompressionError, fmt.Sprintf(`{"pass":%d,"from":%d,"to":%d,"error":"a checkpoint was damaged","instead":%s}`,
			p.Number, p.Range.From, p.Range.To, quoted(instead)))
	}
	tier := made.Window.Tier()
	data := fmt.Sprintf(`{"pass":%d,%s"before":%d,"after":%d,"checkpoints":%d,"drafted":%t,"tier":%d}`,
		p.Number, turnsIn(p.Range), p.Before, p.After, len(p.Made), p.Drafted, tier)
	kinds := []event.Kind{event.Compressed, event.TierCompressed(int(tier))}
	if tier == 1 {
		kinds = append(kinds, event.RolloverComplete)
	}
	for _, kind := range kinds {
		if err := s.announce(ctx, tx, kind, data); err != nil {
			return err
		}
	}
	return nil
}

// turnsIn are the members of an event's data that name turns, none where a pass takes none out.
func turnsIn(r turn.Range) string {
	if r.From < 1 || r.To < r.From {
		return ""
	}
	return fmt.Sprintf(`"from":%d,"to":%d,`, r.From, r.To)
}

// announceSummaries says which summaries a pass made, and at which of them the summariser failed.
func (s *Session) announceSummaries(ctx context.Context, tx store.Tx, p *prompt.Pass) error {
	for i := range p.Made {
		c := &p.Made[i]
		if c.Number == p.Number {
			err := s.announce(ctx, tx, event.AutoSummaryCreated, fmt.Sprintf(`{"checkpoint":%s,"pass":%d,"by":%s,"tokens":%d}`, quoted(c.ID), p.Number, quoted(c.Receipt.By), c.CurrentTokens))
			if err != nil {
				return err
			}
		}
		if c.Receipt.Fallback() {
			err := s.announce(ctx, tx, event.CompressionError, fmt.Sprintf(`{"pass":%d,"checkpoint":%s,"error":%s,"instead":%s}`, p.Number, quoted(c.ID), quoted(c.Receipt.Refused[0]), quoted(compress.ByExtract)))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// overtaken says what the summariser failed at where the window was full before it had made a draft that could be used;
// empty where it did not fail.
func (s *Session) overtaken(c prompt.Compiled) string {
	n, m := len(c.Passes), s.engine.shared.manager
	if n == 0 || c.Passes[n-1].Drafted || c.Opened.Reason != prompt.ReasonFull || !m.Overtaken(s.key, c.Opened.Number-1) {
		return ""
	}
	if d := m.Take(s.key, c.Opened.Number-1); d != nil {
		for i := range d.Outcome.Made {
			if r := &d.Outcome.Made[i].Receipt; r.Fallback() {
				return "no answer of the summariser could be taken: " + r.Refused[0]
			}
		}
	}
	return "the summariser had not answered when the window was full"
}

// overtook counts it as a failure of the summariser that a pass was made without it.
func (s *Session) overtook(ctx context.Context, tx store.Tx, info turn.SessionInfo, pass int64, why string) error {
	b, err := s.breaker(ctx, tx, info)
	if err != nil {
		return err
	}
	if err := s.putBreaker(ctx, tx, info, b.Failed()); err != nil {
		return err
	}
	return s.announce(ctx, tx, event.CompressionError, fmt.Sprintf(`{"pass":%d,"error":%s,"instead":%s}`, pass, quoted(why), quoted(compress.ByExtract)))
}

// autoSnapshotError says that an automatic snapshot could not be taken.
type autoSnapshotError struct{ err error }

func (e *autoSnapshotError) Error() string { return e.err.Error() }
func (e *autoSnapshotError) Unwrap() error { return e.err }

// passFailed reports whether a pass, or the snapshot before it, failed by itself: there was one, and it has not only to be
// tried again.
func passFailed(ctx context.Context, c prompt.Compiled, err error) bool {
	var pass *prompt.PassError
	return err != nil && ctx.Err() == nil && !errors.Is(err, prompt.ErrStale) && !errors.Is(err, turn.ErrLeaseLost) &&
		(len(c.Passes) > 0 || errors.As(err, &pass))
}

// without compiles what a pass failed for by itself without the pass, while that fits; err is why it failed. Unless it
// is a preview, events tell of it, in an update of their own, and it is not tried again before the conversation has grown.
func (s *Session) without(ctx context.Context, c compiling, err error) (prompt.Compiled, error) {
	c.earlier, c.with = nil, uncompressed
	compiled, failed := s.compileAndKeep(ctx, c)
	if c.options.Preview {
		if failed != nil {
			return compiled, err
		}
		return compiled, nil
	}
	var snap *autoSnapshotError
	if errors.As(err, &snap) {
		err = s.snapshotFailed(ctx, "take", err)
	}
	// What was drafted would only fail again.
	s.engine.shared.manager.Drop(s.key)
	if failed != nil {
		return compiled, s.compressionFailed(ctx, err)
	}
	err = errors.Join(s.compressionFailed(ctx, err), s.latch(ctx, compiled))
	bus.Logger(s.engine.config.Log).LogAttrs(ctx, slog.LevelWarn, "no pass", slog.String("session", s.key.Session), slog.Any("error", err))
	return compiled, nil
}

// latch notes that a pass over a prompt failed, so that it is tried again only when the recent turns take so much more
// that a pass would be worth it for that alone, or the prompt does not fit any more.
func (s *Session) latch(ctx context.Context, c prompt.Compiled) error {
	from, tokens := c.Projection.Recent()
	recent := turn.Range{From: from, To: max(from, c.Prompt.End)}
	until := tokens + max(int64(c.Prompt.Window.Usable)/50, 1)
	return s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		b, err := s.breaker(ctx, tx, info)
		if err != nil {
			return err
		}
		return s.putBreaker(ctx, tx, info, b.Stuck(c.Prompt.Epoch, recent, until))
	})
}

// noProgress notes that a pass would have made nothing smaller, so that it is not tried again.
func (s *Session) noProgress(ctx context.Context, c prompt.Compiled) error {
	return s.update(ctx, func(tx store.Tx, info turn.SessionInfo) error {
		b, err := s.breaker(ctx, tx, info)
		next := b.Stuck(c.Prompt.Epoch, c.Stuck.Range, c.Stuck.Until)
		if err != nil || next == b {
			return err
		}
		if err := s.putBreaker(ctx, tx, info, next); err != nil {
			return err
		}
		return s.announce(ctx, tx, event.CompressionSkipped, fmt.Sprintf(`{%s"reason":"it would not make the prompt smaller"}`, turnsIn(c.Stuck.Range)))
	})
}
