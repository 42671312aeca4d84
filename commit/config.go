package commit

import (
	"context"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// Config is how a pipeline works. NewID and Clock are needed, everything else has a default.
type Config struct {
	// Responder makes the final reply. Defaults to none: what the agent said is the reply.
	Responder Responder
	// Evaluator judges exchanges. Defaults to [Rules].
	Evaluator Evaluator
	// Reflector learns from them. Defaults to [Rules].
	Reflector Reflector
	// Deadlines are how long each of the three may take before it is cut off. [Rules] stand in for an Evaluator or a
	// Reflector that is cut off, or fails.
	Deadlines Deadlines
	// Manager makes the turn summaries and the rolling one. Defaults to one of the pipeline's own.
	Manager *memory.Manager
	// Selection is how it is decided what is remembered. Defaults to the seed's weights and policies. [memory.Rules] stand in for a
	// Scorer that panics or gives what is no number from 0 to 1.
	Selection memory.Selection
	// Limits bounds what one turn may hold. Defaults to those of turn.Limits.
	Limits turn.Limits
	// Retries are the delays before each try to write a target that was put off, counted from the
	// last. Defaults to [DefaultRetries]. What could never be written is given up at the first.
	Retries []time.Duration
	// Standings is how many sessions' goals, notes and digests are kept in memory. Defaults to 4096.
	Standings int
	// NewID makes the ids of exports, items and turns: ULIDs that ascend.
	NewID func() string
	// NewPartID makes the ids of trace parts. Defaults to NewID.
	NewPartID func() string
	// Traced, if set, is given the trace of each exchange when it ends.
	Traced func(context.Context, trace.TurnTrace)
	// Clock times the phases. The time of what is stored is the store's.
	Clock func() time.Time
	// Observe, if set, is told each state as the exchange enters it.
	Observe func(turn.Key, State)
	// Appended, if set, is told of the turns a commit appended, in order, once they are durable.
	Appended func(turn.Key, []turn.Turn)
	// Persisted, if set, is told of each export that is durable: the relay has something to do.
	Persisted func()
	// Announced, if set, is told of each event that the commit stored, once it is durable.
	Announced func(event.Event)
}

// Deadlines are how long the judges of an exchange may take. Each defaults to 100 ms, the seed's budget.
type Deadlines struct{ Respond, Evaluate, Reflect time.Duration }

// DefaultRetries are three tries soon and then, with growing delays, for a little over a day.
var DefaultRetries = []time.Duration{
	10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond,
	time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour, 18 * time.Hour,
}

const defaultDeadline = 100 * time.Millisecond

func (c Config) withDefaults() (Config, error) {
	if c.NewID == nil || c.Clock == nil {
		return c, invalid.New("config", "NewID or Clock is missing", "give both")
	}
	for _, d := range []*time.Duration{&c.Deadlines.Respond, &c.Deadlines.Evaluate, &c.Deadlines.Reflect} {
		if *d < 0 {
			return c, invalid.New("config.deadlines", "a deadline is negative", "use 0 for the default")
		}
		if *d == 0 {
			*d = defaultDeadline
		}
	}
	if c.NewPartID == nil {
		c.NewPartID = c.NewID
	}
	if c.Standings < 0 {
		return c, invalid.New("config.standings", "is negative", "use 0 for the default")
	}
	if c.Standings == 0 {
		c.Standings = 4096
	}
	if c.Evaluator == nil {
		c.Evaluator = Rules{}
	}
	if c.Reflector == nil {
		c.Reflector = Rules{}
	}
	if c.Manager == nil {
		c.Manager = memory.NewManager(memory.ManagerConfig{NewID: c.NewID, Clock: c.Clock})
	}
	if c.Retries == nil {
		c.Retries = DefaultRetries
	}
	var err error
	if c.Selection, err = c.Selection.WithDefaults(); err != nil {
		return c, record.Within("config.selection", err)
	}
	c.Limits, err = c.Limits.WithDefaults()
	return c, err
}
