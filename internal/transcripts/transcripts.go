// Package transcripts makes random conversations and holds every prompt compiled on the way to what prompts
// promise: within their window, valid for every provider, no unit split, nothing that the user said changed or
// lost, no pin, milestone or locked decision missing, no pass without progress, and the same bytes whenever they
// are compiled from the same state.
package transcripts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// Config is what an engine for [Compile] must be opened with: nothing of a prompt is kept in memory for longer
// than until another session is asked for one.
var Config = turnstone.Config{Windows: 1}

// Run plays the transcript of a seed on an engine of its own, whose summariser and settings are the seed's too,
// and returns what is wrong with the first prompt that breaks a promise. The same seed gives the same transcript.
// Restless ones are longer, and their passes overlap.
func Run(ctx context.Context, seed uint64, restless bool) (stats Stats, err error) {
	config, by := configOf(seed)
	st := mem.New(mem.Config{})
	config.Clock = ticking()
	eng, err := turnstone.Open(ctx, st, config)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	if config.Compression.Strategy == budget.Truncate {
		config.Compression.Strategy = budget.Summarize
	} else {
		config.Compression.Strategy = budget.Truncate
	}
	other, err := turnstone.Open(ctx, st, config)
	if err != nil {
		return stats, err
	}
	defer func() { err = errors.Join(err, other.Close()) }()
	return play(ctx, &run{strict: true, restless: restless, by: by, eng: eng, other: other}, seed)
}

// ticking is a clock for several engines that never says the same twice: events are read in the order of their ids, which
// are in the order of the milliseconds they were made in.
func ticking() func() time.Time {
	var ticks atomic.Int64
	start := time.Now()
	return func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Millisecond) }
}

// configOf is how the engine of a seed works, and what it summarises with.
func configOf(seed uint64) (turnstone.Config, *adversary) {
	r := rand.New(rand.NewPCG(seed, 1))
	config := Config
	config.Compression.Strategy = pick(r, budget.Summarize, budget.Summarize, budget.Summarize, budget.Truncate)
	if r.IntN(3) == 0 {
		config.Compression.Threshold = pick(r, 0.5, 0.9)
		config.Compression.PreserveRecent = pick(r, 256, 1024, 8192)
		config.Compression.SummaryMaxTokens = pick(r, 64, 256, 2048)
	}
	by := newAdversary(r, seed)
	if by == nil {
		return config, nil
	}
	config.Summariser = by
	return config, by
}

// Compile plays the transcript of a seed on an engine without holding its prompts to anything, for those who
// compare digests.
func Compile(ctx context.Context, eng *turnstone.Engine, seed uint64) (Stats, error) {
	return play(ctx, &run{eng: eng}, seed)
}

// play plays the transcript of a seed.
func play(ctx context.Context, r *run, seed uint64) (Stats, error) {
	r.ctx, r.rand, r.digest = ctx, rand.New(rand.NewPCG(seed, 0)), sha256.New()
	r.made, r.took = make(map[int64]string), make(map[int64]turn.Range)
	r.world = world{said: make(map[int64]turn.Draft), units: make(map[int64]int64), hidden: make(map[int64]bool)}
	if err := r.play(Session(seed)); err != nil {
		return r.stats, fmt.Errorf("seed %d, turn %d: %w", seed, r.head, err)
	}
	r.stats.Transcripts = 1
	r.stats.Digest = hex.EncodeToString(r.digest.Sum(nil))
	return r.stats, nil
}

// Session names the session that a seed's transcript begins in; it may go on in a fork.
func Session(seed uint64) string { return fmt.Sprintf("transcript-%d", seed) }

type run struct {
	world
	strict   bool
	restless bool       // half of what happens is a window that changes, a pass or an undo
	by       *adversary // nil where no model summarises
	ctx      context.Context
	eng      *turnstone.Engine
	other    *turnstone.Engine // of the other strategy, nil where there is none
	rand     *rand.Rand
	session  *turnstone.Session
	stats    Stats

	options  turnstone.PromptOptions
	settings prompt.Settings
	made     map[int64]string // the hash of the last prompt after each turn
	before   *prompt.Prompt
	digest   hash.Hash
	told     string // the last event that was looked at
	apart    bool   // whether the next pass is an update of its own
	passed   int64  // how many passes the session's prompts went through
	mode     string
	shrunk   bool                 // whether the window ever became smaller
	moded    int64                // the last turn before the session got its mode
	decided  []string             // what the agent decided
	took     map[int64]turn.Range // the turns that each pass took out
}

// contexts are the sizes that transcripts are played in, small ones more often: they are full soon.
var contexts = []int{
	2048, 2048, 2048, 2048, 2048, 2048, 2048, 2048, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096,
	8192, 8192, 8192, 8192, 8192, 8192, 8192, 16384, 16384, 16384, 16384, 32768, 32768, 65536, 128000,
}

func (r *run) play(name string) (err error) {
	r.mode = pick(r.rand, "", "developer", "planning", "assistant", "debugger")
	if r.session, err = r.eng.Create(r.ctx, turn.SessionInfo{Key: turn.Key{Session: name}, Mode: r.mode}); err != nil {
		return err
	}
	r.options = turnstone.PromptOptions{
		Model:   pick(r.rand, exactModel, exactModel, "gpt-4-turbo", "llama3.2:3b", "claude-sonnet-4-5", "nobody-has-heard-of-it"),
		Context: pick(r.rand, contexts...),
	}
	r.settings = r.someSettings()
	r.options.Settings = &r.settings
	steps := 2 + r.rand.IntN(52)
	if r.restless {
		steps *= 3
	}
	for range steps {
		if err := r.step(); err != nil {
			return err
		}
		if r.rand.IntN(5) == 0 {
			if err := r.prompt(); err != nil {
				return err
			}
		}
	}
	if err := r.prompt(); err != nil || !r.strict {
		return err
	}
	if err := r.rebuild(); err != nil {
		return err
	}
	return r.logIsWhole()
}

// step lets something happen in the session.
func (r *run) step() error {
	n := r.rand.IntN(100)
	if r.restless && n >= 75 {
		return r.undoAll()
	}
	switch {
	case n < 5 && r.head > 0:
		return r.pin()
	case n < 9:
		return r.intend()
	case n < 10:
		r.settings = r.someSettings()
		return nil
	case n < 12 && r.head > 0 && len(r.open) == 0:
		return r.fork()
	case n < 16:
		return r.compress()
	case n < 20:
		return r.undo()
	case n < 23:
		return r.snapshot()
	case n < 25:
		return r.restore()
	case n < 26 && r.options.Context < 16384:
		r.options.Context *= 2
		return nil
	case n < 27 && r.options.Context > 2048 && r.options.Context <= 16384:
		r.options.Context /= 2
		r.shrunk = true
		return nil
	case n < 29:
		return r.describe()
	case n < 31 && r.other != nil:
		return r.change()
	}
	return r.append(r.someTurns()...)
}

func (r *run) append(drafts ...turn.Draft) error {
	turns, err := r.session.Append(r.ctx, drafts...)
	if err != nil {
		return err
	}
	for i, t := range turns {
		r.heard(t.Seq, drafts[i])
	}
	r.stats.Turns += len(turns)
	return nil
}

func (r *run) fork() error {
	fork, err := r.session.Fork(r.ctx, turnstone.Head, turn.SessionInfo{})
	if err != nil {
		return err
	}
	r.session, r.told = fork, ""
	return nil
}

// prompt compiles prompts until nothing changes any more, and holds each to its promises.
func (r *run) prompt() error {
	for range 4 {
		p, err := r.compiled()
		if p == nil || err != nil {
			return err
		}
		if err := r.session.Settle(r.ctx); err != nil || !r.strict {
			return err
		}
		same, err := r.again(p)
		if same || err != nil {
			return err
		}
	}
	return errors.New("compiled again and again it always is another")
}

// compiled compiles one prompt; nil if it could not fit.
func (r *run) compiled() (*prompt.Prompt, error) {
	p, err := r.session.Prompt(r.ctx, r.options)
	r.stats.Prompts++
	if synced := r.sync(false); synced != nil {
		return nil, synced
	}
	var over *budget.OverBudgetError
	if errors.As(err, &over) {
		r.stats.Refused++
		return nil, r.refusal(over)
	}
	if err != nil {
		return nil, err
	}
	if p.Opened != "" {
		r.stats.Epochs++
	}
	if r.strict {
		if err := r.check(p); err != nil {
			return nil, fmt.Errorf("prompt %s: %w", p.SHA256, err)
		}
	}
	r.before = p
	fmt.Fprintln(r.digest, p.End, p.Epoch, p.SHA256)
	r.made[r.turnOf(p.End)] = p.SHA256
	return p, nil
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
