// Package transcripts makes random conversations and holds every prompt compiled on the way to what prompts
// promise: within their window, valid for every provider, no unit split, nothing pinned lost, and the same
// bytes whenever they are compiled from the same state.
package transcripts

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// Config is what an engine for [Run] must be opened with: nothing of a prompt is kept in memory for longer
// than until another session is asked for one.
var Config = turnstone.Config{Windows: 1}

// Stats is what a transcript went through.
type Stats struct {
	Turns   int
	Prompts int
	Epochs  int // opened
	Refused int // prompts that could not fit
	Rebuilt int // prompts made again from the log
	// Digest is the hash of all prompts, in order: the same on every store.
	Digest string
}

// Add adds the stats of another transcript, but for its digest.
func (s *Stats) Add(o Stats) {
	s.Turns += o.Turns
	s.Prompts += o.Prompts
	s.Epochs += o.Epochs
	s.Refused += o.Refused
	s.Rebuilt += o.Rebuilt
}

// Run plays the transcript of a seed in a session of its own and returns what is wrong with the first prompt
// that breaks a promise. The same seed gives the same transcript.
func Run(ctx context.Context, eng *turnstone.Engine, seed uint64) (Stats, error) {
	return play(ctx, eng, seed, true)
}

// Compile is Run without holding the prompts to anything, for those who compare digests.
func Compile(ctx context.Context, eng *turnstone.Engine, seed uint64) (Stats, error) {
	return play(ctx, eng, seed, false)
}

func play(ctx context.Context, eng *turnstone.Engine, seed uint64, strict bool) (Stats, error) {
	r := &run{
		strict: strict,
		ctx:    ctx, eng: eng, rand: rand.New(rand.NewPCG(seed, 0)),
		made: make(map[int64]string), said: make(map[int64]turn.Draft), digest: sha256.New(),
	}
	if err := r.play(Session(seed)); err != nil {
		return r.stats, fmt.Errorf("seed %d, turn %d: %w", seed, r.head, err)
	}
	r.stats.Digest = hex.EncodeToString(r.digest.Sum(nil))
	return r.stats, nil
}

// Session names the session that a seed's transcript begins in; it may go on in a fork.
func Session(seed uint64) string { return fmt.Sprintf("transcript-%d", seed) }

type run struct {
	strict  bool
	ctx     context.Context
	eng     *turnstone.Engine
	rand    *rand.Rand
	session *turnstone.Session
	stats   Stats

	options  turnstone.PromptOptions
	settings prompt.Settings
	head     int64
	calls    int
	open     []turn.ToolCall
	pins     []int64
	goal     int
	said     map[int64]turn.Draft // every turn by seq
	made     map[int64]string     // the hash of the last prompt after each turn
	before   *prompt.Prompt
	digest   hash.Hash
}

func (r *run) play(name string) (err error) {
	if r.session, err = r.eng.Session(r.ctx, name); err != nil {
		return err
	}
	r.options = turnstone.PromptOptions{
		Model:   pick(r.rand, exactModel, exactModel, "gpt-4-turbo", "llama3.2:3b", "claude-sonnet-4-5", "nobody-has-heard-of-it"),
		Context: pick(r.rand, 2048, 2048, 4096, 4096, 8192, 16384, 100_000),
	}
	r.settings = r.someSettings()
	r.options.Settings = &r.settings
	for range 2 + r.rand.IntN(60) {
		if err := r.step(); err != nil {
			return err
		}
		if r.rand.IntN(3) == 0 {
			if err := r.prompt(); err != nil {
				return err
			}
		}
	}
	if err := r.prompt(); err != nil || !r.strict {
		return err
	}
	return r.rebuild()
}

// step lets something happen in the session.
func (r *run) step() error {
	switch n := r.rand.IntN(100); {
	case n < 6 && r.head > 0:
		return r.pin()
	case n < 10:
		return r.intend()
	case n < 12:
		r.settings = r.someSettings()
		return nil
	case n < 14 && r.head > 0 && len(r.open) == 0:
		return r.fork()
	}
	return r.append(r.someTurns()...)
}

func (r *run) append(drafts ...turn.Draft) error {
	turns, err := r.session.Append(r.ctx, drafts...)
	for i, t := range turns {
		r.said[t.Seq] = drafts[i]
		r.head = t.Seq
	}
	r.stats.Turns += len(turns)
	return err
}

func (r *run) pin() error {
	if len(r.pins) > 0 && r.rand.IntN(2) == 0 {
		seq := r.pins[0]
		r.pins = r.pins[1:]
		return r.session.Unpin(r.ctx, seq)
	}
	if len(r.pins) == 3 {
		return nil
	}
	seq := 1 + r.rand.Int64N(r.head)
	if r.said[seq].Kind == turn.KindSummary {
		return nil
	}
	for _, pinned := range r.pins {
		if pinned == seq {
			return nil
		}
	}
	r.pins = append(r.pins, seq)
	return r.session.Pin(r.ctx, seq)
}

// intend begins a goal, or changes the one there is.
func (r *run) intend() error {
	change := cortex.GoalChange{ID: fmt.Sprintf("goal-%d", r.goal), By: cortex.ActorUser, Why: "random"}
	if r.goal == 0 || r.rand.IntN(4) == 0 {
		r.goal++
		change.ID = fmt.Sprintf("goal-%d", r.goal)
		title := r.words(3)
		change.Title = &title
	}
	if r.rand.IntN(2) == 0 {
		change.AddMilestones = []cortex.Milestone{{Description: r.words(4), Status: cortex.MilestoneCompleted}}
	} else {
		change.AddDecisions = []cortex.Decision{{Description: r.words(5), Locked: true}}
	}
	_, err := r.session.Intend(r.ctx, cortex.Changes{Goals: []cortex.GoalChange{change}})
	var refused *turnstone.RefusedError
	if errors.As(err, &refused) {
		return nil // too many of something: nothing changed
	}
	return err
}

func (r *run) fork() error {
	fork, err := r.session.Fork(r.ctx, turnstone.Head, turn.SessionInfo{})
	if err != nil {
		return err
	}
	r.session = fork
	return nil
}

// prompt compiles a prompt and holds it to its promises.
func (r *run) prompt() error {
	p, err := r.session.Prompt(r.ctx, r.options)
	r.stats.Prompts++
	var over *budget.OverBudgetError
	if errors.As(err, &over) {
		r.stats.Refused++
		r.before = nil
		return r.refusal(over)
	}
	if err != nil {
		return err
	}
	if p.Opened != "" {
		r.stats.Epochs++
		r.before = nil
	}
	if r.strict {
		if err := r.hold(p); err != nil {
			return fmt.Errorf("prompt %s: %w", p.SHA256, err)
		}
	}
	r.before = p
	fmt.Fprintln(r.digest, p.End, p.Epoch, p.SHA256)
	r.made[p.End] = p.SHA256
	return nil
}

func (r *run) hold(p *prompt.Prompt) error {
	if err := r.check(p); err != nil {
		return err
	}
	return r.again(p)
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }
