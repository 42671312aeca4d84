package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
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
	// background are judges that were cut off.
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
	// Turns are the turns that the commit wrote, as they stand in the log. If the exchange was committed before they are those
	// of its turns that are in the log by now.
	Turns []turn.Turn
	// Reopened says that the session had ended and goes on with the exchange.
	Reopened bool
	// Deferred are the targets that could not be written yet and are tried again.
	Deferred []Target
	// Changed are the goals, actions and notes that it changed: those that it made have their ids here.
	Changed []Changed
	// Refused are changes to goals, actions and notes that are not legal.
	Refused []Refusal
	// Problems say what did not go as it should and was gone on without.
	Problems []string
	Episodes []memory.Episode // what was remembered
	Dropped  []memory.Dropped // what was not, and why: the first of it
	// DroppedMore counts the rest of it, by why; not of an exchange that was committed before.
	DroppedMore memory.DropCounts
	// Repeated says that the export was committed before: nothing was written. What the first commit wrote is told
	// again, as far as it is still there; what was refused then, and what did not go as it should, stands in the export's warnings.
	Repeated bool
}

// Changed is a goal, an action or a note as a commit left it.
type Changed struct {
	Kind   string // goal, action or observation
	ID     string
	Title  string // what a goal or an action is called, or how a note that is live begins
	Status string
}

// Refusal is a change that was not made.
type Refusal struct {
	What   string // "goal 01J…", "observation …"
	Reason string // what stands against it and what is legal
}

// run is one exchange on its way through the phases.
type run struct {
	key      turn.Key
	exchange Exchange
	// first is the run that was given up since more was said, nil where there was none: what it told and asked for outside is not told and
	// asked for again.
	first     *run
	trace     *trace.Recorder
	situation Situation
	// openedBy is the id, openedAt the seq (0: not in the log yet) of the opening turn.
	openedBy string
	openedAt int64
	drafts   []turn.Draft
	sealed   []turn.Sealed // of the drafts
	refused  error         // why one of them cannot be sealed
	// keyed are the ids of the turns that are in the log already or wait to be written, by their idempotency keys.
	keyed map[string]string
	// summaryID is the id of the turn that holds the summary.
	summaryID string
	base      *standing

	assessment Assessment
	reflection Reflection
	intentions cortex.Changes
	scratch    scratch.Changes
	idsIn      []string       // for what the intentions create
	idsOn      []string       // for what the scratch changes create
	clear      []string       // what the Reflector wants cleared
	stagedIn   cortex.Staged  // what the intentions come to
	stagedOn   scratch.Staged // what the scratch changes come to
	selected   memory.Selected
	summary    memory.Summary
	export     StateExport
	sums       []string // of the exchange
	made       made
	problems   []string
	begun      trace.TurnTrace // of the first three phases
	foretold   foretold        // what the export will say of the update
	unkept     bool            // the follow-up context could not be written
	untilSeq   int64           // the last turn of the log as it is known, where the exchange was opened in it
	checked    bool            // that it was not committed yet was looked up
	before     *event.Export   // as which it was committed before, if it is tried again
	// unheard is what a try wrote of which nobody knows whether it is durable.
	unheard *writing
	// mayExist is set where the export may be in the outbox from an earlier try, prior is it if it was
	// found there before anything was done.
	mayExist bool
	prior    *earlier
}

// Commit takes the exchange through all phases. When it returns without an error, everything of it is
// on disk: written, or for targets that could not be written, put off. On an error nothing of it
// is there, except after store.ErrUnknown or a panic; commit it again under the ExportID of the result then.
//
// From the moment that the reply was handed over the exchange is committed even if ctx ends: a caller who
// hangs up loses nothing.
//
// Errors: *invalid.Field for what is wrong with the exchange, turn.ErrNotFound, turn.ErrConflict (a key or
// an ExportID was used for something else), turn.ErrLeaseLost, store.ErrClosed once the pipeline is closed, and those of the store.
func (p *Pipeline) Commit(ctx context.Context, key turn.Key, ex Exchange) (res Result, err error) {
	if err := p.sessions.lock(ctx, key); err != nil {
		return Result{}, fmt.Errorf("commit to %s: %w", key.Session, err)
	}
	defer p.sessions.unlock(key)
	// The observer may panic where a panic is told.
	defer recovered(&err)
	first := &run{key: key, exchange: ex}
	if res, err = p.commit(ctx, first); !errors.Is(err, errMoreSaid) {
		return res, err
	}
	// The reply was handed over.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*commitTimeout)
	defer cancel()
	ex.Log, ex.Replied = nil, nil
	for errors.Is(err, errMoreSaid) {
		res, err = p.commit(ctx, &run{key: key, exchange: ex, first: first})
	}
	return res, err
}

// errMoreSaid says that the log has turns of the exchange that were not known when its commit began.
var errMoreSaid = errors.New("more was said meanwhile")

func (p *Pipeline) commit(ctx context.Context, r *run) (res Result, err error) {
	// A mistake in here, or in what the caller plugged in, must not take the caller's program down.
	defer func() {
		if v := recover(); v != nil {
			res, err = p.failed(r, panicked(v))
		}
	}()
	if err := p.begin(ctx, r); err != nil {
		if r.first != nil {
			p.enter(r.first, Failed)
		}
		return Result{}, fmt.Errorf("commit to %s: %w", r.key.Session, err)
	}
	if r.prior != nil {
		return p.repeated(r, r.prior), nil
	}
	w, err := p.run(ctx, r)
	if errors.Is(err, errMoreSaid) {
		return Result{}, err
	}
	if err != nil {
		return p.failed(r, err)
	}
	if w.repeated != nil {
		return p.repeated(r, w.repeated), nil
	}
	return p.finalize(ctx, r, w), nil
}

// failed ends an exchange that was not committed.
func (p *Pipeline) failed(r *run, err error) (Result, error) {
	p.enter(r, Failed)
	return Result{Status: Failed, ExportID: r.exchange.ExportID, TurnID: r.openedBy, Reply: r.situation.Reply},
		fmt.Errorf("commit to %s: %w", r.key.Session, err)
}

// commitTimeout bounds a commit whose caller has gone.
const commitTimeout = 30 * time.Second

// run takes the exchange through the phases up to the fifth.
func (p *Pipeline) run(ctx context.Context, r *run) (w *writing, err error) {
	p.enter(r, Completing)
	p.phase(r, PhaseComplete, func() error {
		p.complete(ctx, r)
		return nil
	})
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	p.enter(r, ReadyForCommit)
	p.phase(r, PhaseReflect, func() error {
		p.reflect(ctx, r)
		return nil
	})
	if err := p.phase(r, PhaseSelect, func() error { return p.selectState(r) }); err != nil {
		return nil, err
	}
	p.enter(r, Committing)
	err = p.phase(r, PhasePersist, func() (err error) {
		w, err = p.persist(ctx, r)
		return err
	})
	if err != nil {
		if !errors.Is(err, errMoreSaid) {
			p.traced(ctx, r, r.trace.Take(r.exchange.ExportID, string(Failed)))
		}
		return nil, err
	}
	return w, p.phase(r, PhaseNotify, func() error {
		p.notify(r, w)
		return nil
	})
}

func (p *Pipeline) phase(r *run, phase Phase, f func() error) error {
	r.trace.Begin(string(phase))
	err := f()
	r.trace.End(err)
	return err
}

func (p *Pipeline) enter(r *run, s State) {
	if p.config.Observe != nil && (r.first == nil || s.Final()) {
		r.call("observer", func() { p.config.Observe(r.key, s) })
	}
}

// call runs code of the caller's that is only told something: a mistake in it must not cost the exchange.
func (r *run) call(who string, f func()) {
	defer func() {
		if p := recover(); p != nil {
			r.wrong(Phase(r.trace.Phase()), who, fmt.Errorf("panic: %v", p))
		}
	}()
	f()
}

// appendReply makes the Responder's reply the agent's last turn.
func (r *run) appendReply(id, reply string) {
	d := turn.Draft{ID: id, Role: turn.Agent, Content: turn.Text{Text: reply}}
	sealed, err := d.Seal(boundless)
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
	problem := storableText(fmt.Sprintf("%s: %s", who, err))
	r.problems = append(r.problems, problem)
	r.trace.Note(trace.Failure, string(phase)+": "+problem)
}

// Changed says, inside an update, that it changes goals or notes of a session, or how it is described, without
// a commit: what is known of it is read anew. Updates of several callers may share a transaction, so that it
// must not be used by those that follow in it, nor by those after it. What commits before it still have to say is dropped
// with it: see standings.put.
func (p *Pipeline) Changed(key turn.Key) { p.standings.drop(key) }

// Forgot says, inside an update, that it deletes items of memory, or archives notes: what is known of all sessions is read
// anew, and so is what others read before the update is durable.
func (p *Pipeline) Forgot(tx store.Tx) {
	p.standings.dropAll()
	tx.AfterCommit(p.standings.dropAll)
}

// ForgotTurns says that the transaction forgets turns of the session that writes to a segment: the ends of its traces
// that wait to be stored are dropped.
func (p *Pipeline) ForgotTurns(tx store.Tx, tenant string, segment int64) {
	p.tails.forget(tenant, segment)
	tx.AfterCommit(func() { p.tails.forget(tenant, segment) })
}

// Close refuses commits from then on, stops trying what was put off, waits for the commits that are under way, stores the ends of
// traces that are still in memory, and waits for judges that were cut off. It waits for each of them for some seconds at most, and
// does not heed the end of ctx: what was committed is worth that.
func (p *Pipeline) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*closeWait)
	defer cancel()
	worker, commits := p.worker.stop(), p.sessions.close()
	var errs []error
	if !ended(worker) {
		errs = append(errs, errors.New("what was put off is still being written"))
	}
	committed := ended(commits)
	errs = append(errs, p.flushTails(ctx, p.tails.flush(func(time.Time) bool { return true })))
	switch {
	case !committed:
		// It may ask judges yet: a group that somebody joins must not be waited for.
		errs = append(errs, errors.New("an exchange is still being committed"))
	case !ended(left(&p.background)):
		errs = append(errs, errors.New("a responder, evaluator or reflector that was cut off is still running"))
	}
	return errors.Join(errs...)
}

// closeWait is how long Close waits for what does not heed its context.
const closeWait = 5 * time.Second

// ended waits until done is closed, for as long as Close waits, and reports whether it is.
func ended(done <-chan struct{}) bool {
	timer := time.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// left is closed once nobody is in the group any more.
func left(group *sync.WaitGroup) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		group.Wait()
		close(done)
	}()
	return done
}
