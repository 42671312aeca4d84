package turnstone

import (
	"context"
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// RecallOptions say where to look and how much to find. The zero value looks in the session.
type RecallOptions struct {
	// Scope defaults to [recall.OfSession].
	Scope recall.Scope
	// Limit is how many hits there are at most. Defaults to 10, at most 100.
	Limit int
	// Tokens is how many tokens the hits may have together as items of a prompt, by the count of the session's
	// model. Defaults to no limit, and then they are only counted with Count. See [recall.Fit].
	Tokens int
	// Count has the tokens of hits counted that are not bounded. A model that would have to be asked for its vocabulary is
	// counted as what is known of it.
	Count bool
	// Unseen leaves out what the next prompt shows word for word: the recent turns, what stays of
	// earlier ones, and what was remembered of them alone.
	Unseen bool
	// Exclude are more turns of the session to leave out; see [recall.Query].
	Exclude []turn.Range
	// All also finds turns that were left behind when their session went back to a snapshot.
	All bool
	// Embedder is asked how much the hits mean what the query means. Defaults to Config.Embedder.
	Embedder recall.Embedder
}

// recallLimit is how many hits are returned at most; more are looked at, in case some are too large.
const recallLimit = 100

// rankTime is how long a search waits for the embedder: a model that has to be loaded first takes seconds.
const rankTime = 10 * time.Second

// check refuses options that cannot be met, as far as they say so without a session, and fills in the limit.
func (o *RecallOptions) check() error {
	if o.Limit < 0 || o.Limit > recallLimit {
		return invalid.New("limit", fmt.Sprintf("%d is out of range", o.Limit), fmt.Sprintf("give 1 to %d", recallLimit))
	}
	if o.Tokens < 0 {
		return invalid.New("tokens", fmt.Sprintf("%d is negative", o.Tokens), "give how many tokens the hits may have, or 0 for no limit")
	}
	if o.Limit == 0 {
		o.Limit = 10
	}
	return nil
}

// Recall finds what was said and remembered that answers a query, best first, each hit whole and cited. Hand
// [recall.Late] of them to PromptOptions.Late to show them to the model; Config.Recall has exchanges do that by themselves.
// Errors are *[recall.FieldError] for options that cannot be met, and [recall.ErrEmbedder] where the embedder fails or takes
// longer than 10 seconds: what the words found is returned with it. Nothing is written: what is recalled is never taken for new.
func (s *Session) Recall(ctx context.Context, query string, o RecallOptions) ([]recall.Hit, error) {
	return s.engine.recall(ctx, s.home, query, o)
}

// Recall is [Session.Recall] for whoever asks in no session: it looks in all sessions of a user or, where that is empty, of the
// tenant. Scope is ignored; Unseen and Exclude are refused.
func (e *Engine) Recall(ctx context.Context, user, query string, o RecallOptions) ([]recall.Hit, error) {
	if o.Unseen {
		return nil, invalid.New("unseen", "means the next prompt of a session", "name one, or look for everything")
	}
	if len(o.Exclude) > 0 {
		return nil, invalid.New("exclude", "means turns of a session", "name one, or look for everything")
	}
	if o.Scope = recall.OfTenant; user != "" {
		o.Scope = recall.OfUser
	}
	nowhere := turn.SessionInfo{Key: turn.Key{Tenant: e.config.Tenant}, User: user, Model: e.config.ModelName}
	return e.recall(ctx, func(context.Context, store.Tx) (turn.SessionInfo, error) { return nowhere, nil }, query, o)
}

// home reads the session that asks.
type home func(context.Context, store.Tx) (turn.SessionInfo, error)

func (s *Session) home(ctx context.Context, tx store.Tx) (turn.SessionInfo, error) {
	info, err := tx.Log().Session(ctx, s.key)
	if err != nil {
		return info, fmt.Errorf("session %s: %w", s.key.Session, err)
	}
	return info, nil
}

func (e *Engine) recall(ctx context.Context, at home, query string, o RecallOptions) ([]recall.Hit, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	model := ""
	if o.Tokens > 0 { // whoever does not ask for tokens does not wait for a vocabulary
		err := e.store.View(ctx, func(tx store.Tx) error {
			info, err := at(ctx, tx)
			model = info.Model
			return err
		})
		if err != nil {
			return nil, err
		}
		e.shared.counters.prepare(ctx, model)
	}
	f, err := e.find(ctx, at, query, o, func(tx store.Tx, info turn.SessionInfo) (*budget.Counter, int, error) {
		if o.Tokens == 0 && !o.Count {
			return nil, 0, nil
		}
		if model == "" {
			model = info.Model
		}
		counter, err := e.shared.counters.of(ctx, tx, e.config.Tenant, model)
		return counter, o.Tokens, err
	})
	if err != nil {
		return nil, err
	}
	asking, cancel := context.WithTimeout(ctx, rankTime)
	defer cancel()
	f, err = fused(asking, f)
	switch {
	case err != nil && ctx.Err() != nil: // nobody waits for it
		return nil, ctx.Err()
	case err != nil:
		return f.best(), fmt.Errorf("%w: %w", recall.ErrEmbedder, err)
	}
	return f.best(), nil
}

// findings are what a search found, and what they are held against.
type findings struct {
	query   string
	options RecallOptions
	hits    []recall.Hit
	counter *budget.Counter // nil where they are not counted
	tokens  int
}

// find searches. Within says, in the same transaction, how many tokens there may be.
func (e *Engine) find(
	ctx context.Context, at home, query string, o RecallOptions, within func(store.Tx, turn.SessionInfo) (*budget.Counter, int, error),
) (findings, error) {
	f := findings{query: query, options: o}
	if f.options.Embedder == nil {
		f.options.Embedder = e.config.Embedder
	}
	err := e.store.View(ctx, func(tx store.Tx) error {
		info, err := at(ctx, tx)
		if err != nil {
			return err
		}
		if f.counter, f.tokens, err = within(tx, info); err != nil {
			return err
		}
		q, err := e.recallQuery(ctx, tx, info, query, o)
		if err != nil {
			return err
		}
		f.hits, err = recall.Search(ctx, tx.Log(), tx.Memory(), q)
		return err
	})
	return f, err
}

// fuse asks the embedder, if there is one.
func (f *findings) fuse(ctx context.Context) error {
	if f.options.Embedder == nil {
		return nil
	}
	fused, err := recall.Fuse(ctx, f.options.Embedder, f.query, f.hits)
	if err != nil {
		return err
	}
	f.hits = fused
	return nil
}

// best are the first of them that there is room for.
func (f *findings) best() []recall.Hit {
	hits := f.hits
	if f.tokens == 0 { // no more are counted than are returned
		hits = hits[:min(len(hits), f.options.Limit)]
	}
	if f.counter != nil {
		hits = recall.Fit(hits, f.tokens, func(text string) int { return f.counter.Tokens(f.counter.Text(text)).Upper() })
	}
	return hits[:min(len(hits), f.options.Limit)]
}

func (e *Engine) recallQuery(ctx context.Context, tx store.Tx, info turn.SessionInfo, text string, o RecallOptions) (recall.Query, error) {
	q := recall.Query{Text: text, Scope: o.Scope, Home: info, Now: tx.Now(), Exclude: o.Exclude, Limit: 2 * o.Limit}
	if o.Unseen {
		s := &Session{engine: e, key: info.Key}
		epoch, err := s.epochAt(ctx, tx, info, Head)
		if err != nil {
			return q, err
		}
		q.Exclude = append(q.Exclude[:len(q.Exclude):len(q.Exclude)], turn.Range{From: max(1, epoch.From)})
		for _, k := range epoch.Kept {
			q.Shown = append(q.Shown, k.Range)
		}
	}
	if !o.All {
		q.Path = func(ctx context.Context, info turn.SessionInfo) ([]turn.Range, error) {
			other := &Session{engine: e, key: info.Key}
			epoch, err := other.epochAt(ctx, tx, info, Head)
			return epoch.Path, err
		}
	}
	return q, nil
}
