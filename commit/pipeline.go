package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// Pipeline is the seed's turn commit: it makes finished exchanges durable. It is safe for concurrent
// use; exchanges of one session are committed one after the other.
type Pipeline struct {
	store     store.Store
	config    Config
	standings *standings
	tails     tails
	sessions  sessionLocks
	worker    *worker
	// background are judges that were cut off and the worker.
	background sync.WaitGroup
}

// New returns a pipeline that writes to the store. Close it before the store. Values of ctx, but not its
// end, are passed on to what runs in the background.
func New(ctx context.Context, st store.Store, config Config) (*Pipeline, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pipeline{store: st, config: config, standings: newStandings(st, config.Standings)}
	p.worker = newWorker(ctx, p)
	return p, nil
}

// Result is what became of an exchange.
type Result struct {
	Status   State
	ExportID string
	TurnID   string // of the turn that opened the exchange
	Reply    string
	// Turns are the turns that the commit wrote, as they stand in the log. Empty if the exchange was
	// committed before.
	Turns []turn.Turn
	// Deferred are the targets that could not be written yet and are tried again.
	Deferred []Target
	// Refused are changes to goals, actions and notes that are not legal.
	Refused []Refusal
	// Problems say what did not go as it should and was gone on without.
	Problems []string
	Episodes []memory.Episode // what was remembered
	Dropped  []memory.Dropped // what was not, and why: the first of it
	Repeated bool             // the export was committed before, nothing was written
}

// Refusal is a change that was not made.
type Refusal struct {
	What   string // "goal 01J…", "observation …"
	Reason string // what stands against it and what is legal
}

// run is one exchange on its way through the phases.
type run struct {
	key       turn.Key
	exchange  Exchange
	trace     *trace.Recorder
	situation Situation
	// openedBy is the id, openedAt the seq (0: not in the log yet) of the opening turn.
	openedBy string
	openedAt int64
	drafts   []turn.Draft
	sealed   []turn.Sealed // of the drafts
	// summaryID is the id of the turn that holds the summary.
	summaryID string
	base      *standing

	assessment Assessment
	reflection Reflection
	intentions cortex.Changes
	scratch    scratch.Changes
	stagedIn   cortex.Staged  // what the intentions come to
	stagedOn   scratch.Staged // what the scratch changes come to
	selected   memory.Selected
	summary    memory.Summary
	export     StateExport
	problems   []string
	begun      trace.TurnTrace // of the first three phases
	// mayExist is set where the export may be in the outbox from an earlier try.
	mayExist bool
}

// Commit takes the exchange through all phases. When it returns without an error, everything of it is
// on disk: written, or for targets that could not be written, put off. On an error nothing of it
// is there, except after store.ErrUnknown; commit it again under the same ExportID then.
//
// Errors: *invalid.Field for what is wrong with the exchange, turn.ErrNotFound, turn.ErrConflict,
// turn.ErrLeaseLost, and those of the store.
func (p *Pipeline) Commit(ctx context.Context, key turn.Key, ex Exchange) (res Result, err error) {
	unlock, err := p.sessions.lock(ctx, key)
	if err != nil {
		return Result{}, err
	}
	defer unlock()
	// A mistake in here, or in what the caller plugged in, must not take the caller's program down.
	defer recovered(&err)
	r, err := p.begin(ctx, key, ex)
	if err != nil {
		return Result{}, fmt.Errorf("commit to %s: %w", key.Session, err)
	}
	p.enter(r, Completing)
	p.phase(r, PhaseComplete, func() { p.complete(ctx, r) })
	p.enter(r, ReadyForCommit)
	p.phase(r, PhaseReflect, func() { p.reflect(ctx, r) })
	p.phase(r, PhaseSelect, func() { err = p.selectState(r) })
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		p.enter(r, Failed)
		return Result{}, fmt.Errorf("commit to %s: %w", key.Session, err)
	}
	p.enter(r, Committing)
	var w *writing
	p.phase(r, PhasePersist, func() { w, err = p.persist(ctx, r) })
	if err != nil {
		p.enter(r, Failed)
		return Result{}, fmt.Errorf("commit to %s: %w", key.Session, err)
	}
	p.phase(r, PhaseNotify, func() { p.notify(ctx, r, w) })
	return p.finalize(ctx, r, w), nil
}

func (p *Pipeline) phase(r *run, phase Phase, f func()) {
	r.trace.Begin(string(phase))
	f()
	r.trace.End(nil)
}

func (p *Pipeline) enter(r *run, s State) {
	if p.config.Observe != nil {
		p.config.Observe(r.key, s)
	}
}

// begin checks the exchange, reads what the phases need to know and seals what is to be appended.
func (p *Pipeline) begin(ctx context.Context, key turn.Key, ex Exchange) (*run, error) {
	if err := ex.check(); err != nil {
		return nil, err
	}
	r := &run{key: key, exchange: ex, mayExist: ex.ExportID != ""}
	if ex.ExportID == "" {
		r.exchange.ExportID = p.config.NewID()
	}
	s := &r.situation
	s.Interrupted, s.Failure = ex.Interrupted, ex.Failure
	s.Daemons, s.Errors, s.Warnings = ex.DaemonOutputs, ex.Errors, ex.Warnings
	if err := p.read(ctx, r); err != nil {
		return nil, err
	}
	for i, d := range ex.Turns {
		if d.ID == "" {
			d.ID = p.config.NewID()
		}
		sealed, err := d.Seal(p.config.Limits)
		if err != nil {
			return nil, record.Within(record.Indexed("turns", i), err)
		}
		r.drafts, r.sealed = append(r.drafts, d), append(r.sealed, sealed)
		s.Turns = append(s.Turns, Said{ID: d.ID, Role: d.Role, Content: d.Content})
	}
	r.openedBy = s.Turns[0].ID
	r.trace = trace.NewRecorder(key.Session, r.openedBy, p.config.Clock)
	s.Now = r.trace.Began()
	if r.exchange.Started.IsZero() {
		r.exchange.Started = s.Now
	}
	return r, nil
}

// read finds the session, the turns of the exchange that are in the log, and what is known so far.
func (p *Pipeline) read(ctx context.Context, r *run) error {
	if r.exchange.Opened == "" {
		if st, ok := p.standings.valid(r.key); ok {
			r.base = st
			r.situation.know(st)
			return nil
		}
	}
	return p.store.View(ctx, func(tx store.Tx) error {
		info, err := tx.Log().Session(ctx, r.key)
		if err != nil {
			return err
		}
		if r.base, err = p.standings.load(ctx, tx, info); err != nil {
			return err
		}
		r.situation.know(r.base)
		if r.exchange.Opened == "" {
			return nil
		}
		turns, err := since(ctx, tx, info, r.exchange.Opened)
		if err != nil {
			return err
		}
		r.openedAt = turns[0].Seq
		for _, t := range turns {
			if t.Kind == turn.KindTurn {
				r.situation.Turns = append(r.situation.Turns, Said{ID: t.ID, Seq: t.Seq, Role: t.Role, Content: t.Content})
			}
		}
		return nil
	})
}

func (s *Situation) know(st *standing) {
	s.Session, s.Intentions, s.Page = st.info, st.intentions, st.page
}

// since reads the turns from the given one to the end of the session.
func since(ctx context.Context, tx store.Tx, info turn.SessionInfo, id string) ([]turn.Turn, error) {
	found, err := turn.Query{ID: id, Limit: 1}.Compile()
	if err != nil {
		return nil, err
	}
	page, err := found.Run(ctx, tx.Log(), info)
	if err != nil {
		return nil, err
	}
	if len(page.Turns) == 0 {
		return nil, fmt.Errorf("turn %s of %s: %w", id, info.Session, turn.ErrNotFound)
	}
	rest, err := turn.Query{From: page.Turns[0].Seq, Limit: MaxTurns + 1}.Compile()
	if err != nil {
		return nil, err
	}
	page, err = rest.Run(ctx, tx.Log(), info)
	if err != nil {
		return nil, err
	}
	if len(page.Turns) > MaxTurns {
		return nil, fmt.Errorf("turn %s opened more than %d turns; commit exchanges as they end", id, MaxTurns)
	}
	return page.Turns, nil
}

// appendReply makes the Responder's reply the agent's last turn.
func (r *run) appendReply(id, reply string) {
	d := turn.Draft{ID: id, Role: turn.Agent, Content: turn.Text{Text: reply}}
	sealed, err := d.Seal(turn.Limits{Text: int64(len(reply)) + 1, Blob: 1, Calls: 1})
	if err != nil {
		r.wrong(PhaseComplete, "responder", err)
		return
	}
	r.drafts, r.sealed = append(r.drafts, d), append(r.sealed, sealed)
	r.situation.Turns = append(r.situation.Turns, Said{ID: id, Role: turn.Agent, Content: d.Content})
	r.situation.Reply = reply
}

// wrong notes something that the commit goes on without.
func (r *run) wrong(phase Phase, who string, err error) {
	problem := fmt.Sprintf("%s: %s", who, err)
	r.problems = append(r.problems, problem)
	r.trace.Note(trace.Failure, string(phase)+": "+problem)
}

// Changed says that goals or notes of a session, or what is remembered of it, were changed without a
// commit: what is known of it is read anew.
func (p *Pipeline) Changed(key turn.Key) { p.standings.drop(key) }

// Close stops trying what was put off, waits for what was cut off, and stores the ends of traces that are still in memory.
func (p *Pipeline) Close(ctx context.Context) error {
	p.worker.stop()
	err := p.flushTails(ctx)
	if !waitFor(&p.background, closeWait) {
		err = errors.Join(err, errors.New("a responder, evaluator or reflector that was cut off is still running"))
	}
	return err
}

// closeWait is how long Close waits for judges that do not heed their context.
const closeWait = 5 * time.Second

func waitFor(group *sync.WaitGroup, limit time.Duration) bool {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
