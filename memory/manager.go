package memory

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/turn"
)

// ManagerConfig is how a manager makes summaries. NewID is needed for compression passes, everything else has
// a default.
type ManagerConfig struct {
	// Summariser makes the summaries of compression passes. Defaults to none: they are extractive.
	Summariser compress.Summariser
	// Name is the summariser's, for the receipts. Defaults to that of compress.Options.
	Name string
	// Timeout is how long the summariser may take for one answer; see compress.Options. Defaults to its default.
	Timeout time.Duration
	// NewID makes the ids of checkpoints.
	NewID func() string
	// Clock says when a checkpoint was made. Defaults to time.Now.
	Clock func() time.Time
	// Log is told of drafts that came to nothing. Defaults to none.
	Log *slog.Logger
}

// Manager is the Memory Manager, the one owner of summaries: those of compression passes, of turns, and the
// rolling one. It is safe for concurrent use. One that was asked for drafts must be closed.
type Manager struct {
	config  ManagerConfig
	working sync.WaitGroup

	mu     sync.Mutex // guards what follows
	drafts map[turn.Key]*drafting
	ends   map[*drafting]context.CancelFunc // of those that are being made
	began  int64                            // how many were begun so far
	closed bool
}

// NewManager returns a manager.
func NewManager(c ManagerConfig) *Manager {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager{config: c, drafts: map[turn.Key]*drafting{}, ends: map[*drafting]context.CancelFunc{}}
}

// Modelled reports whether summaries of passes are made by somebody who takes time.
func (m *Manager) Modelled() bool {
	_, extractive := m.config.Summariser.(compress.Extractive)
	return m.config.Summariser != nil && !extractive
}

// Extract makes the summaries of a pass at once, without a model. The error is that of ctx.
func (m *Manager) Extract(ctx context.Context, j *compress.Job) (compress.Outcome, error) {
	return j.Run(ctx, nil, compress.Options{}, m.config.NewID, m.config.Clock())
}

// Run makes the summaries of a pass with the summariser, unless the breaker is open, and waits for it. What
// the summariser cannot do is done without it. The error is that of ctx.
func (m *Manager) Run(ctx context.Context, j *compress.Job, b compress.Breaker) (compress.Outcome, error) {
	if !m.Modelled() || b.Open() {
		return m.Extract(ctx, j)
	}
	o := compress.Options{By: m.config.Name, Timeout: m.config.Timeout}
	return j.Run(ctx, m.config.Summariser, o, m.config.NewID, m.config.Clock())
}

// After returns the breaker after a pass with that outcome, which counts once however many summaries it
// made: the summariser failed if none of its answers could be taken for one of them.
func After(b compress.Breaker, o compress.Outcome) compress.Breaker {
	var said *compress.Receipt
	for i := range o.Made {
		r := &o.Made[i].Receipt
		if said == nil || r.Fallback() || said.Tries == 0 {
			said = r
		}
		if r.Fallback() {
			break
		}
	}
	if said == nil {
		return b
	}
	return b.After(said)
}

// Turn makes the summary of an exchange, without a model: how the input and the reply begin, which tools
// were run and what failed; sentences that say that something was decided. It reads the first 2 KiB of
// each text. The same turn always gives the same summary.
func (m *Manager) Turn(t Turn) Summary { return summarise(t) }

// Fold returns the digest, with its rolling summary, after an exchange of that summary: seq was its last turn,
// and cite says which of its turns decided what. It is pure: folding the same exchanges in the same order always
// gives the same digest. An exchange that is in it already changes nothing.
func (m *Manager) Fold(d Digest, seq int64, s Summary, cite Cite) Digest {
	return d.fold(seq, s, cite)
}

// Bounds of the insights that a summary is made with.
const (
	maxInsights = 12
	maxInsight  = 240 // bytes
)

// Insights are what flows found out, for [compress.Job]: those first that are most certain, then the newest.
// There are at most 12, each once, on a line of at most 240 bytes.
func (m *Manager) Insights(p *scratch.Page) []string {
	all := scratch.Found(p)
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b scratch.Observation) int { return cmp.Compare(b.Confidence, a.Confidence) })
	var lines []string
	for _, o := range all {
		line := clipped(oneLine(o.Content), maxInsight)
		if len(lines) < maxInsights && line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
