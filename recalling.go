package turnstone

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// recallTime is how long an exchange waits for what it recalls: it has come far enough without it.
const recallTime = 2 * time.Second

// recalling is what an exchange recalls by itself.
type recalling struct {
	query string       // what the user says
	hits  []recall.Hit // for the late block of all its prompts, so that each begins as the one before
	// failed says why that is not all that there is, empty where it is.
	failed string
}

// asked are the words of an input, in which the user says what to look for.
func asked(input []turn.Draft) string {
	var said []string
	for _, d := range input {
		if d.Role != turn.User {
			continue
		}
		switch c := d.Content.(type) {
		case turn.Text:
			said = append(said, c.Text)
		case turn.Speech:
			said = append(said, c.Transcript)
		}
	}
	return strings.Join(said, "\n")
}

// recall looks for what the user asks about among what the prompt does not show. An exchange that cannot recall goes on
// without.
func (e *exchange) recall(ctx context.Context) {
	if e.options.recall == nil || e.relay.makes() || !recall.Asks(e.recalled.query) {
		return
	}
	err := guarded(func() error { return e.recallUnseen(ctx, *e.options.recall) })
	if err != nil {
		e.recalled.failed = "not all that was said earlier could be recalled: " + shown(err)
		e.session.warnRecall(ctx, err)
	}
}

// recallRest is how long the log is not told again that exchanges cannot recall: an embedder that is not there fails in each.
const recallRest = time.Minute

// warnRecall tells the log, which those read who can mend it: a client of a model API is told of no warnings.
func (s *Session) warnRecall(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // nobody waits for it
	}
	told, now := &s.engine.shared.recallTold, s.engine.config.Clock()
	if last := told.Load(); (last == nil || now.Sub(*last) >= recallRest) && told.CompareAndSwap(last, &now) {
		bus.Logger(s.engine.config.Log).LogAttrs(ctx, slog.LevelWarn, "not all that was said earlier could be recalled",
			slog.String("session", s.key.Session), slog.Any("error", err))
	}
}

// recallLeft recalls anew when turns have just left the prompt, which showed them when it was looked for what it does not show.
// It reports whether a prompt with what was found is another one.
func (e *exchange) recallLeft(ctx context.Context) bool {
	before := recall.Late(e.recalled.hits)
	e.recalled.failed = ""
	e.recall(ctx)
	return !slices.Equal(before, recall.Late(e.recalled.hits))
}

func (e *exchange) recallUnseen(ctx context.Context, o RecallOptions) error {
	s := e.session
	if err := o.check(); err != nil {
		return err
	}
	info, some, err := s.unseen(ctx, &o)
	if err != nil || !some {
		return err
	}
	model := cmp.Or(e.options.name, info.Model, s.engine.config.ModelName)
	// The prompt waits for it too, and longer than for what is recalled.
	s.engine.shared.counters.prepare(ctx, model)
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	var window budget.Window
	f, err := s.engine.find(ctx, s.home, e.recalled.query, o, func(tx store.Tx, info turn.SessionInfo) (counter *budget.Counter, _ int, err error) {
		counter, window, err = s.counted(ctx, tx, info, PromptOptions{Model: model, Context: e.options.context})
		if err != nil {
			return nil, 0, err
		}
		room := prompt.LateRoom(window, counter)
		return counter, min(room, cmp.Or(o.Tokens, room)), nil
	})
	if err != nil {
		return err
	}
	f.hits = near(f.hits)
	// The words found it, whatever the embedder does.
	f, err = fused(ctx, f)
	e.recalled.hits = f.late(window)
	if len(e.recalled.hits) == 0 && len(f.hits) > 0 {
		e.recalled.failed = noRoom
	}
	return err
}

// late are the best of them that a late block has room for. One that is alone is cut until the block takes it, which counts
// all of itself; of several the block takes the first.
func (f *findings) late(w budget.Window) []recall.Hit {
	for f.tokens > 0 {
		hits := f.best()
		if len(hits) != 1 {
			return hits
		}
		over := prompt.LateOver(w, f.counter, recall.Late(hits)...)
		if over <= 0 {
			return hits
		}
		f.tokens = hits[0].Tokens - over
	}
	return nil
}

// noRoom warns that something was found and nothing of it is shown.
const noRoom = "what was found of what was said earlier has no room at the end of the prompt: give the model a larger context"

// in notes whether a prompt shows any of what was recalled: something else may have taken the room.
func (r *recalling) in(p *prompt.Prompt) {
	if len(r.hits) == 0 || r.failed != "" {
		return
	}
	if !slices.ContainsFunc(recall.Late(r.hits), func(item string) bool { return strings.Contains(p.Late, strings.TrimSpace(item)) }) {
		r.failed = noRoom
	}
}

// fused asks the embedder for as long as ctx lasts, whatever the embedder does; the findings are as they were where that fails.
func fused(ctx context.Context, f findings) (findings, error) {
	if f.options.Embedder == nil {
		return f, nil
	}
	asked, done := f, make(chan error, 1)
	go func() { done <- guarded(func() error { return asked.fuse(ctx) }) }()
	select {
	case err := <-done:
		if err == nil {
			f = asked
		}
		return f, err
	case <-ctx.Done():
		return f, ctx.Err()
	}
}

// errRecalledGone says that something recalled was forgotten before the prompt with it was kept.
var errRecalledGone = fmt.Errorf("what was recalled is no longer there: %w", prompt.ErrStale)

// stillThere refuses to keep a prompt that shows what was forgotten since it was recalled, with [errRecalledGone].
func (s *Session) stillThere(ctx context.Context, tx store.Tx, hits []recall.Hit) error {
	for i := range hits {
		for _, t := range hits[i].Turns {
			found, err := tx.Log().TurnsByID(ctx, s.key.Tenant, t.ID)
			if err != nil {
				return err
			}
			if len(found) == 0 || slices.ContainsFunc(found, func(t turn.Stored) bool { return t.Gone() }) {
				return errRecalledGone
			}
		}
		if id := hits[i].Item; id != "" {
			found, err := tx.Memory().ItemsByID(ctx, s.key.Tenant, []string{id})
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return errRecalledGone
			}
		}
	}
	return nil
}

// nearShare is which share of the best hit's score another one needs. Who asks looks at what is found; a model takes it all
// for something that matters.
const nearShare = 0.6

// near are the hits that answer about as well as the best.
func near(hits []recall.Hit) []recall.Hit {
	n := 0
	for n < len(hits) && hits[n].Score >= nearShare*hits[0].Score {
		n++
	}
	return hits[:n]
}

// unseen reports whether the next prompt of a session leaves anything out that may be recalled: a short one pays for no
// search.
func (s *Session) unseen(ctx context.Context, o *RecallOptions) (info turn.SessionInfo, some bool, err error) {
	o.Unseen = true
	err = s.view(ctx, func(tx store.Tx, at turn.SessionInfo) error {
		info = at
		if o.Scope == recall.OfUser && info.User == "" {
			o.Scope = recall.OfSession
		}
		if some = o.Scope == recall.OfUser || o.Scope == recall.OfTenant; some {
			return nil
		}
		epoch, err := s.epochAt(ctx, tx, info, Head)
		if err != nil {
			return err
		}
		first := int64(1)
		if len(epoch.Path) > 0 {
			first = epoch.Path[0].From
		}
		some = epoch.From > first
		return nil
	})
	return info, some, err
}

// checkRecall checks Config.Recall, of which the engine keeps a copy.
func checkRecall(o *RecallOptions) (*RecallOptions, error) {
	if o == nil {
		return nil, nil
	}
	checked := *o
	switch checked.Scope {
	case "", recall.OfSession, recall.OfUser, recall.OfTenant:
	default:
		return nil, invalid.New("Recall", fmt.Sprintf("%.40q is not a scope", checked.Scope), "use session, user or tenant")
	}
	if err := checked.check(); err != nil {
		return nil, fmt.Errorf("Recall: %w", err)
	}
	return &checked, nil
}
