package turnstone

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
)

// Vocabulary returns a model's own vocabulary, for exact counts. It may ask a server, and should keep what it
// was told. An error costs exactness, nothing else: the model is then counted as one whose vocabulary nobody
// knows.
type Vocabulary func(ctx context.Context, model string) (*bpe.Encoding, error)

// vocabularyRest is how long a model is counted without its vocabulary before it is asked for again.
const vocabularyRest = time.Minute

// counters keeps what models are counted with.
type counters struct {
	profiles   *budget.Profiles
	vocabulary Vocabulary
	clock      func() time.Time
	log        *slog.Logger

	mu        sync.Mutex // guards all below
	encodings map[string]encoding
	made      map[counterKey]madeCounter
	// distrusted are the models whose vocabulary was contradicted by what was reported of them.
	distrusted map[counterKey]bool
}

// encoding is a model's vocabulary, nil where it could not be had, and when that was.
type encoding struct {
	own *bpe.Encoding
	at  time.Time
}

type counterKey struct{ tenant, model string }

// madeCounter is a counter and the calibration that it was made of.
type madeCounter struct {
	counter *budget.Counter
	doc     string
}

// maxCounters bounds what is kept; models are few, but their names are the caller's.
const maxCounters = 1024

func newCounters(config Config, log *slog.Logger) *counters {
	return &counters{
		profiles: config.Profiles, vocabulary: config.Vocabulary, clock: config.Clock, log: log,
		encodings: make(map[string]encoding), made: make(map[counterKey]madeCounter), distrusted: make(map[counterKey]bool),
	}
}

// prepare asks for a model's vocabulary where its profile says that there is one. It must not be called inside
// a transaction.
func (c *counters) prepare(ctx context.Context, model string) {
	profile, _ := c.profiles.Find(model)
	if c.vocabulary == nil || profile.Tokenizer != budget.AskOllama {
		return
	}
	c.mu.Lock()
	known, ok := c.encodings[model]
	c.mu.Unlock()
	if ok && (known.own != nil || c.clock().Sub(known.at) < vocabularyRest) {
		return
	}
	own, err := c.ask(ctx, model)
	if err != nil {
		c.log.LogAttrs(ctx, slog.LevelWarn, "no vocabulary; tokens are estimated", slog.String("model", model), slog.Any("error", err))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.encodings) >= maxCounters {
		clear(c.encodings)
	}
	c.encodings[model] = encoding{own, c.clock()}
}

// ask asks for a vocabulary, and waits no longer than ctx, whatever it is that does not answer.
func (c *counters) ask(ctx context.Context, model string) (*bpe.Encoding, error) {
	type answer struct {
		own      *bpe.Encoding
		err      error
		panicked any
	}
	back := make(chan answer, 1) // has room for what comes too late
	go func() {
		a := answer{err: errExited}
		defer func() {
			a.panicked = recover()
			back <- a
		}()
		a.own, a.err = c.vocabulary(ctx, model)
	}()
	select {
	case a := <-back:
		if a.panicked != nil {
			panic(a.panicked) // where it is the caller's
		}
		return a.own, a.err
	case <-ctx.Done():
		return nil, llm.Ended(ctx)
	}
}

// of returns what a tenant's prompts for a model are counted with, by what was learned of it so far.
func (c *counters) of(ctx context.Context, tx store.Tx, tenant, model string) (*budget.Counter, error) {
	row, _, err := tx.Budget().Calibration(ctx, tenant, model)
	if err != nil {
		return nil, fmt.Errorf("calibration of %s: %w", model, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.encodings[model].own
	key := counterKey{tenant, model}
	if c.distrusted[key] {
		own = nil
	}
	if m, ok := c.made[key]; ok && m.doc == row.Doc && (own == nil || m.counter.Uses(own)) {
		return m.counter, nil
	}
	var calibration budget.Calibration
	if row.Doc != "" {
		// What cannot be read is learned anew: a count must not keep a prompt from being made.
		if calibration, err = budget.DecodeCalibration(row.Doc); err != nil {
			c.log.LogAttrs(ctx, slog.LevelWarn, "calibration is damaged", slog.String("model", model), slog.Any("error", err))
		}
	}
	profile, _ := c.profiles.Find(model)
	counter := budget.NewCounter(profile, own, own != nil, calibration)
	if len(c.made) >= maxCounters {
		clear(c.made)
	}
	c.made[key] = madeCounter{counter, row.Doc}
	return counter, nil
}

// recount returns what stands in a prompt, for a report of it: counted without the model's own vocabulary where the report
// contradicts that, or one before did.
func (c *counters) recount(tenant string, p *prompt.Prompt, counter *budget.Counter, reported int) (t budget.Tally, contradicted bool) {
	other := budget.NewCounter(counter.Profile(), nil, false, counter.Calibration())
	if counter.CountsLike(other) {
		if c.distrusts(tenant, p.Model) {
			return p.Recount(other), false
		}
		return p.Tally, false
	}
	sent := counter.Tokens(p.Tally).Tokens
	if !budget.Contradicts(sent, reported, reported) {
		return p.Tally, false // whatever another vocabulary would give, which takes long to find out
	}
	if t = p.Recount(other); budget.Contradicts(sent, other.Tokens(t).Tokens, reported) {
		return t, true
	}
	return p.Tally, false
}

func (c *counters) distrusts(tenant, model string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.distrusted[counterKey{tenant, model}]
}

// distrust has a tenant's prompts for a model counted without its own vocabulary from now on.
func (c *counters) distrust(tenant, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.distrusted) >= maxCounters {
		clear(c.distrusted)
	}
	c.distrusted[counterKey{tenant, model}] = true
	delete(c.made, counterKey{tenant, model})
}
