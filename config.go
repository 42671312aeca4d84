package turnstone

import (
	"fmt"
	"io"
	"log/slog"
	"time"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/turn"
)

// Config is how an engine works. The zero value is ready for use.
type Config struct {
	// Tenant is whose sessions the engine sees. Defaults to "default". See [Engine.ForTenant].
	Tenant string
	// Limits bounds what one turn may hold. Defaults to 4 MiB of text and 20 MiB of image or audio.
	Limits turn.Limits
	// IdleAfter is how long a session must rest before [Engine.EndIdle] ends it. Defaults to 60 minutes.
	IdleAfter time.Duration
	// BlobGrace is how long bytes that nothing refers to are kept. Defaults to 24 hours.
	BlobGrace time.Duration
	// Windows is how many sessions' recent windows and prompts are kept in memory. Defaults to 4096.
	Windows int
	// BundleDir is where a session's bundle is written when the session ends. Defaults to none: no
	// bundle is made.
	BundleDir string
	// SessionsDir is where a session's whole history is written as a session document when the session
	// ends; see package replay/history. Defaults to none.
	SessionsDir string
	// Model answers what is said with [Session.Say]. Defaults to none: Say is refused.
	Model llm.Model
	// ModelName is what it is called: prompts are counted and sized for the model of that name, unless the session was
	// made for another. Defaults to what the model calls itself, if it has a method Name() string.
	ModelName string
	// Agent is what the model may call and how long it may take. Defaults to no tools; see [agent.Config]. What is more
	// than Limits allow in a turn is not asked for.
	Agent agent.Config
	// Prompt is what the first prompt of a session begins with, and every one that [Session.Say] makes, with the tools and
	// files of Agent; see [Session.Prompt] and [WithSettings]. Defaults to nothing: where Agent has no tools and no files
	// either, Say goes on with what the session's last prompt began with.
	Prompt prompt.Settings
	// Recall has every exchange look for what the user asks about among what its prompt no longer shows, and show it in the
	// prompt's late block, marked as recalled, as far as there is room. The zero RecallOptions look in the session, and only
	// once turns have left its prompt; a search takes some milliseconds before the model is asked. What goes wrong with it is
	// a warning of the reply. Unseen is set. A session without a user recalls nobody else's sessions where Scope is
	// [recall.OfUser]. Defaults to nil: nothing is recalled unless the caller does it, see [Session.Recall] and [WithLate].
	Recall *RecallOptions
	// Embedder is asked, where something is recalled, how much the hits mean what the query means. An exchange that recalls
	// waits for it. Defaults to none: hits are ranked by their words.
	Embedder recall.Embedder
	// Context is the size of the model's context in tokens; of a model that is known to have less, all of it is used. Defaults
	// to what the model's profile says; see [PromptOptions].
	Context int
	// Compression says when turns leave the prompt, and what stays. Defaults to 0.80 of the room and 2,048
	// tokens.
	Compression budget.Compression
	// Snapshots says when the engine takes snapshots by itself. Defaults to before every pass of compression and
	// whenever 0.80 of the room is filled.
	Snapshots snapshot.Config
	// Summariser makes the summaries of turns that leave the prompt; see [compress.Model]. Nobody waits for
	// it: it is asked ahead, in the background, and what it says is verified. Defaults to none: summaries
	// are made of the turns' own words.
	Summariser compress.Summariser
	// SummariserName is what receipts call it. Defaults to the model that the prompt is for.
	SummariserName string
	// SummariserTimeout is how long it may take for one answer. It is asked twice for a summary at most; a
	// [compress.Model] that has to read the turns in parts gives up to its MaxCalls answers each time, of which each
	// has that long. What takes longer is summarised without it. Defaults to 2 minutes.
	SummariserTimeout time.Duration
	// Profiles are the models that are known. Defaults to [budget.Known].
	Profiles *budget.Profiles
	// Vocabulary brings the vocabularies of local models, for exact counts. Defaults to none: such models
	// are counted with a calibrated estimate.
	Vocabulary Vocabulary
	// Responder, Evaluator and Reflector take part in the commit of an exchange; see [commit.Config].
	// They default to no Responder and to [commit.Rules], which need no model.
	Responder commit.Responder
	Evaluator commit.Evaluator
	Reflector commit.Reflector
	// Deadlines are how long each of them may take. Defaults to 100 ms each.
	Deadlines commit.Deadlines
	// Selection is how it is decided what is remembered. Defaults to [memory.DefaultWeights] and
	// [memory.DefaultPolicies].
	Selection memory.Selection
	// Observe, if set, is told each state of an exchange that is being committed as it enters it.
	Observe func(turn.Key, commit.State)
	// Bus brings exports to daemons. The store keeps that it is the one, by its name: engines with another bus on the same store,
	// in whichever process, publish nothing from then on, until one is opened that is given its own here. Defaults to a bus inside
	// the process, which is durable because the outbox is; it publishes unless the store is another bus's, and then says so in the log.
	// To have it publish again, give it: the one of [inproc.New].
	Bus NewBus
	// SweepEvery is how often what has expired is deleted. Defaults to 10 minutes.
	SweepEvery time.Duration
	// Tracer is given every exchange and every call of a tool as OpenTelemetry spans; the calls only where Agent.Using is not
	// set. Defaults to none.
	Tracer oteltrace.Tracer
	// Log is told what happens in the background and fails. Defaults to nowhere.
	Log slog.Handler
	// Entropy is where the random part of ids comes from. Defaults to the system's source.
	Entropy io.Reader
	// Clock is where the time in ids comes from; the time of turns is the store's. Defaults to
	// time.Now.
	Clock func() time.Time
}

func (c Config) withDefaults() (Config, error) {
	if c.Tenant == "" {
		c.Tenant = turn.DefaultTenant
	}
	if err := ids.CheckName("tenant", c.Tenant); err != nil {
		return c, err
	}
	if c.SummariserTimeout < 0 {
		return c, invalid.New("SummariserTimeout", fmt.Sprintf("%v is less than nothing", c.SummariserTimeout), "use 0 for the default of 2 minutes")
	}
	if c.IdleAfter < 0 || c.BlobGrace < 0 || c.Windows < 0 || c.SweepEvery < 0 {
		return c, invalid.New("config", "IdleAfter, BlobGrace, Windows and SweepEvery may not be negative", "use 0 for the default")
	}
	if c.IdleAfter == 0 {
		c.IdleAfter = time.Hour
	}
	if c.BlobGrace == 0 {
		c.BlobGrace = 24 * time.Hour
	}
	if c.SweepEvery == 0 {
		c.SweepEvery = 10 * time.Minute
	}
	if c.Windows == 0 {
		c.Windows = 4096
	}
	if c.Profiles == nil {
		c.Profiles = budget.Known()
	}
	if c.Context != 0 {
		if _, err := budget.WindowOf(c.Context); err != nil {
			return c, err
		}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	var err error
	if c.Compression, err = c.Compression.WithDefaults(); err != nil {
		return c, err
	}
	if c.Snapshots, err = c.Snapshots.WithDefaults(); err != nil {
		return c, err
	}
	if c.Limits, err = c.Limits.WithDefaults(); err != nil {
		return c, err
	}
	if c.Recall, err = checkRecall(c.Recall); err != nil {
		return c, err
	}
	if c.Model != nil && invalid.Nil(c.Model) {
		return c, invalid.New("Model", fmt.Sprintf("is a %T that is nil", c.Model), "make one, or leave it out")
	}
	if m, ok := c.Model.(interface{ Name() string }); ok && c.ModelName == "" {
		c.ModelName = m.Name()
	}
	c.Agent = c.Agent.Within(c.Limits)
	return c, nil
}
