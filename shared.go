package turnstone

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
)

// shared is what an engine and its copies for other tenants have in common: what runs in the
// background.
type shared struct {
	store    store.Store
	pipeline *commit.Pipeline
	bus      bus.Bus
	relay    *bus.Relay
	parts    *ids.Source // ids of trace parts, apart from those that callers see
	clock    func() time.Time
	log      *slog.Logger
	policies memory.Policies
	// blobGrace is how long bytes stay that nothing refers to.
	blobGrace time.Duration

	manager     *memory.Manager
	projections *projections
	counters    *counters
	defaults    prompt.Sealed // what first prompts begin with
	listeners   *listeners
	floors      *floors
	files       *floors // of who writes the files of a session, or removes them
	callers     *callers
	underway    underway
	updating    atomic.Int32              // how many exchanges are writing what a prompt follows
	recallTold  atomic.Pointer[time.Time] // when the log was told last that an exchange could not recall
	loop        *agent.Loop
	// inBackground runs something that the engine waits for when it is closed, and whose context ends then. It may
	// be called by exchanges.
	inBackground func(func(context.Context))
	// recoverLeft ends what processes that died left open.
	recoverLeft func(context.Context) (int64, error)

	end        context.CancelFunc
	background sync.WaitGroup
	// closing is the error of the last thing done in the background.
	closing error
}

// NewBus makes the bus that brings exports to daemons. It is given what it needs of the engine. The bus publishes the
// store from then on, and no other does: see Config.Bus.
type NewBus func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error)

// startShared gives the engine what its copies will share, and starts it.
func startShared(ctx context.Context, e *Engine) error {
	c := &e.config
	s := &shared{store: e.store, parts: ids.New(nil), clock: c.Clock, log: bus.Logger(c.Log), policies: c.Selection.Policies, blobGrace: c.BlobGrace}
	s.listeners, s.floors, s.recoverLeft = newListeners(bus.Logger(c.Log)), newFloors(), e.recoverLeft
	s.files, s.callers = newFloors(), newCallers(c.Clock)
	if s.policies == nil {
		s.policies = memory.DefaultPolicies
	}
	var err error
	worker := c.Agent
	worker.Using = c.using()
	if s.loop, err = agent.NewLoop(worker); err != nil {
		return err
	}
	if s.defaults, err = c.Prompt.Seal(); err != nil {
		return err
	}
	s.projections, s.counters = newProjections(c.Windows), newCounters(*c, bus.Logger(c.Log))
	s.manager = memory.NewManager(memory.ManagerConfig{
		Summariser: c.Summariser, Name: c.SummariserName, Timeout: c.SummariserTimeout, NewID: e.newID, Clock: c.Clock, Log: bus.Logger(c.Log),
	})
	newBus := c.Bus
	if newBus == nil {
		newBus = func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
			return inproc.New(e.store, bodies, recorder, inproc.Config{Log: c.Log}), nil
		}
	}
	if s.bus, err = newBus(s, s); err != nil {
		return fmt.Errorf("bus: %w", err)
	}
	if invalid.Nil(s.bus) {
		return invalid.New("Bus", "returned no bus", "return one, or an error")
	}
	s.pipeline, err = commit.New(ctx, e.store, commit.Config{
		Responder: c.Responder, Evaluator: c.Evaluator, Reflector: c.Reflector, Deadlines: c.Deadlines,
		Selection: c.Selection, Limits: c.Limits, NewID: e.newID, NewPartID: s.newPartID, Clock: c.Clock,
		Manager: s.manager, Observe: c.Observe, Appended: e.windows.push, Persisted: func() { s.relay.Wake() }, Traced: c.traced(),
		Announced: s.listeners.announced,
	})
	if err != nil {
		return errors.Join(err, s.bus.Close())
	}
	s.relay = bus.NewRelay(e.store, s.bus, bus.RelayConfig{Note: s.pipeline.Note, Log: c.Log})
	if c.Bus != nil { // the one inside the process, which nobody chose, leaves to another what is that one's
		err := s.relay.TakeOver(ctx)
		if err != nil && !errors.Is(err, store.ErrReadOnly) { // then nothing is published either
			return errors.Join(err, s.bus.Close(), s.pipeline.Close(ctx))
		}
	}
	e.shared = s // before anything in the background needs it
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.inBackground = func(f func(context.Context)) { s.background.Go(func() { f(ctx) }) }
	s.background.Go(func() {
		s.relay.Run(ctx)
		s.closing = s.finish(context.WithoutCancel(ctx))
	})
	s.background.Go(func() { s.sweepNowAndThen(ctx, c.SweepEvery, c.Log) })
	return nil
}

func (s *shared) newPartID() string { return s.parts.Next(s.clock()) }

// closeWait is how long closing may take to publish what was just committed and to store the ends of
// traces. What does not fit waits in the outbox.
const closeWait = 5 * time.Second

func (s *shared) close() error {
	s.manager.Close()
	s.end()
	s.background.Wait()
	s.listeners.close(closeWait)
	return s.closing
}

func (s *shared) finish(ctx context.Context) error {
	err := s.flush(ctx)
	// Time of its own: a bus that does not answer must not cost the ends of traces.
	ctx, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	if derr := s.loop.Drain(ctx); derr != nil {
		err = errors.Join(err, errors.New("a tool, a hook, a model or a reader of sticky files was told to stop and is still running; mend it so that it heeds its context"))
	}
	return errors.Join(err, s.bus.Close(), s.pipeline.Close(ctx))
}

// flush publishes what was just committed, as far as there is time.
func (s *shared) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, closeWait)
	defer cancel()
	err := s.relay.Flush(ctx)
	if errors.Is(err, store.ErrReadOnly) || errors.Is(err, store.ErrClosed) || ctx.Err() != nil {
		return nil
	}
	return err
}

// Messages implements [bus.Bodies].
func (s *shared) Messages(ctx context.Context, exports []event.Export) (messages []event.Message, err error) {
	err = s.store.View(ctx, func(tx store.Tx) (err error) {
		messages, err = commit.Messages(ctx, tx, exports)
		return err
	})
	return messages, err
}

// Completed implements [bus.Recorder]: what daemons did with an export is told in its trace, and what they could not handle is
// kept as dead letters in the same update.
func (s *shared) Completed(ctx context.Context, completions []bus.Completion) error {
	var unknown []bus.Completion
	err := s.store.Update(ctx, func(tx store.Tx) error {
		unknown = nil
		parts := make([]trace.OfTenant, 0, len(completions))
		for _, c := range completions {
			told := c.At
			if c.Segment == 0 {
				e, err := tx.Outbox().Export(ctx, c.Tenant, c.ExportID)
				if errors.Is(err, event.ErrNotFound) {
					unknown = append(unknown, c)
					continue
				}
				if err != nil {
					return err
				}
				c = of(e, c, tx.Now())
			}
			parts = append(parts, completed(c, told, tx.Now()))
			if c.Status == bus.Dead {
				if err := tx.Outbox().InsertLetter(ctx, c.Letter()); err != nil {
					return err
				}
			}
		}
		return trace.Insert(ctx, tx.Trace(), parts)
	})
	if err == nil && len(unknown) > 0 {
		s.tellUnknown(ctx, unknown)
	}
	return err
}

// tellUnknown says that what daemons did is left out where nobody has the export.
func (s *shared) tellUnknown(ctx context.Context, unknown []bus.Completion) {
	s.log.LogAttrs(ctx, slog.LevelWarn, "daemons told of exports that are not known: swept, forgotten or of another deployment, which needs a stream of its own",
		slog.Int("completions", len(unknown)), slog.String("daemon", unknown[0].Daemon), slog.String("tenant", unknown[0].Tenant), slog.String("export", unknown[0].ExportID))
}

// of returns a completion as one of an export: who told of it knows no more for sure than the id. A time before the export was
// made or after now is that of a clock that goes wrong, or none.
func of(e event.Export, c bus.Completion, now time.Time) bus.Completion {
	c.Session, c.TurnID, c.Segment = e.Session, e.TurnID, e.Segment
	if c.At.Before(e.At) || c.At.After(now) {
		c.At = now
	}
	return c
}

// completed is the part of a trace that tells what a daemon did, and told when.
func completed(c bus.Completion, told, now time.Time) trace.OfTenant {
	text := fmt.Sprintf("daemon %s: %s, %d processed in %s", c.Daemon, c.Status, c.Processed, c.Duration.Round(time.Microsecond))
	if c.Tries > 1 {
		text += fmt.Sprintf(", %d tries", c.Tries)
	}
	if c.Error != "" {
		text += ": " + c.Error
	}
	t := trace.TurnTrace{
		TurnID: c.TurnID, Session: c.Session, ExportID: c.ExportID, Started: c.At,
		Entries: []trace.Entry{{Kind: trace.Delivered, Text: text}},
	}
	// A completion that comes again has the same id, so that the trace tells it once.
	id := ids.Derived(told, c.Tenant, c.Daemon, c.ExportID, told.UTC().Format(time.RFC3339Nano))
	return trace.OfTenant{Tenant: c.Tenant, Part: trace.Part{
		TurnID: c.TurnID, Segment: c.Segment, ID: id, At: now, Body: string(t.AppendJSON(nil)),
	}}
}
