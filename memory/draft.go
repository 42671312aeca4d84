package memory

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// Plan is a compression pass that is to be drafted: the job, for which epoch of the prompt it is, the first
// turn that stays in the prompt after it, and what is known of the summariser.
type Plan struct {
	Epoch   int64
	From    int64
	Job     *compress.Job
	Breaker compress.Breaker
	// Pins are the turns that were pinned, which the job leaves beside.
	Pins []int64
}

// Draft is a compression pass whose summaries are made already. Nobody changes it: whoever takes it must not.
type Draft struct {
	Epoch   int64
	From    int64
	Job     *compress.Job
	Outcome compress.Outcome
	Pins    []int64
}

const (
	// draftsAtOnce is how many are made at a time. Whoever asks for one more gets none, and asks again.
	draftsAtOnce = 2
	// draftsKept is how many sessions have one, be it ready, being made or not to be tried again yet.
	draftsKept = 64
	// draftRest is how long none is tried again after one came to nothing.
	draftRest = 30 * time.Second
	// planTimeout is how long it may take to find out what is to be drafted.
	planTimeout = 30 * time.Second
)

// drafting is what is known of one session's draft. It is guarded by the manager's mutex.
type drafting struct {
	epoch int64
	asked bool      // whether the summariser is
	made  *Draft    // nil until it is ready
	rest  time.Time // until when none is tried, where one came to nothing
	began int64
	done  chan struct{} // closed when it is no longer being made
}

// Draft has a session's next pass made in the background for an epoch, unless that is under way or done; what
// was drafted for another epoch is dropped. Plan says what there is to do: it is called soon, or never, with
// the values of ctx and a context that ends when the draft is dropped or the manager closed, and may return
// nil for nothing. Draft does not wait. Two drafts are made at once; what comes on top is not begun, so ask
// again. Where one came to nothing, none is begun for half a minute.
func (m *Manager) Draft(ctx context.Context, key turn.Key, epoch int64, plan func(context.Context) (*Plan, error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.config.Clock()
	if d := m.drafts[key]; d != nil {
		if d.epoch == epoch && (m.ends[d] != nil || d.made != nil || now.Before(d.rest)) {
			return
		}
		m.drop(key)
	}
	if m.closed || len(m.ends) >= draftsAtOnce {
		return
	}
	m.makeRoom()
	m.began++
	d := &drafting{epoch: epoch, began: m.began, done: make(chan struct{})}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	m.drafts[key], m.ends[d] = d, end
	m.working.Go(func() {
		defer end()
		made, err := m.draft(ctx, d, plan)
		m.finish(ctx, key, d, made, err)
	})
}

// draft makes a draft; nil where there is nothing to gain.
func (m *Manager) draft(ctx context.Context, d *drafting, plan func(context.Context) (*Plan, error)) (made *Draft, err error) {
	defer func() {
		if v := recover(); v != nil {
			made, err = nil, fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	planning, end := context.WithTimeout(ctx, planTimeout)
	defer end()
	p, err := plan(planning)
	if err != nil || p == nil {
		return nil, err
	}
	m.ask(d, !p.Breaker.Open())
	outcome, err := m.Run(ctx, p.Job, p.Breaker)
	if err != nil || len(outcome.Made) == 0 {
		return nil, err
	}
	return &Draft{Epoch: p.Epoch, From: p.From, Job: p.Job, Outcome: outcome, Pins: p.Pins}, nil
}

// ask notes whether a draft waits for the summariser.
func (m *Manager) ask(d *drafting, asked bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.asked = asked && m.Modelled()
}

// finish keeps what came of a draft, unless it was dropped meanwhile.
func (m *Manager) finish(ctx context.Context, key turn.Key, d *drafting, made *Draft, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	defer close(d.done)
	delete(m.ends, d)
	if m.drafts[key] != d {
		return
	}
	if made != nil {
		d.made, d.epoch = made, made.Epoch
	} else {
		d.rest = m.config.Clock().Add(draftRest)
	}
	if err != nil {
		m.config.Log.LogAttrs(ctx, slog.LevelWarn, "no draft of a compression pass",
			slog.String("tenant", key.Tenant), slog.String("session", key.Session), slog.Int64("epoch", d.epoch), slog.Any("error", err))
	}
}

// Take returns the draft for an epoch if it is ready, and nil otherwise. It does not wait. The draft stays
// until it is dropped or one for another epoch is asked for.
func (m *Manager) Take(key turn.Key, epoch int64) *Draft {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d := m.drafts[key]; d != nil && d.made != nil && d.epoch == epoch {
		return d.made
	}
	return nil
}

// Overtaken reports whether the summariser failed at the draft for an epoch if a pass is made now without it: it was
// asked and has not answered, or could not be believed.
func (m *Manager) Overtaken(key turn.Key, epoch int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := m.drafts[key]
	switch {
	case d == nil, d.epoch != epoch:
		return false
	case d.made != nil:
		return After(compress.Breaker{}, d.made.Outcome).Failures > 0
	}
	return d.asked && m.ends[d] != nil
}

// Settle waits until a session's draft that is being made, if one is, is ready or came to nothing. The error is
// that of ctx.
func (m *Manager) Settle(ctx context.Context, key turn.Key) error {
	m.mu.Lock()
	d := m.drafts[key]
	m.mu.Unlock()
	if d == nil {
		return nil
	}
	select {
	case <-d.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Drop forgets a session's draft, and ends it if it is being made.
func (m *Manager) Drop(key turn.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.drop(key)
}

func (m *Manager) drop(key turn.Key) {
	d := m.drafts[key]
	if end := m.ends[d]; end != nil {
		end()
	}
	delete(m.drafts, key)
}

// makeRoom drops the oldest that is not being made.
func (m *Manager) makeRoom() {
	if len(m.drafts) < draftsKept {
		return
	}
	var oldest *drafting
	var key turn.Key
	for k, d := range m.drafts {
		if m.ends[d] == nil && (oldest == nil || d.began < oldest.began) {
			oldest, key = d, k
		}
	}
	delete(m.drafts, key)
}

// Close drops all drafts, ends those that are being made and waits for them. None is begun afterwards;
// everything else works as before.
func (m *Manager) Close() {
	m.mu.Lock()
	m.closed = true
	for _, end := range m.ends {
		end()
	}
	clear(m.drafts)
	m.mu.Unlock()
	m.working.Wait()
}
