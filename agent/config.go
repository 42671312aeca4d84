package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/turn"
)

// Config is how a [Loop] works. Its zero value is useful: a loop without tools.
type Config struct {
	// Tools are what the model may call. Defaults to none.
	Tools []Tool
	// Confirm is asked before every call of a tool that has no hook of its own. Defaults to letting all of them run.
	Confirm Confirm
	// Using is told of every call that is run, before it is: it returns what the tool runs with, and what is called with how
	// the call ended, and why where that was badly. Calls that run at once are told at once. It must not panic. Defaults to
	// nobody.
	Using func(ctx context.Context, call llm.Call) (context.Context, func(turn.CallStatus, error))
	// Sticky are files that stand in every prompt. Defaults to none.
	Sticky *Sticky

	// MaxRounds is how often the model may be asked in one exchange. The calls of the last answer are not run, and
	// the exchange fails with a *[LimitError]. Defaults to 32.
	MaxRounds int
	// MaxTokens bounds each answer, unless the compiled request has a lower bound. A model that does not heed it
	// is cut off after 32 bytes for each token. Defaults to the request's.
	MaxTokens int
	// MaxAnswer is how many bytes of text, thinking and arguments an answer may have: past it the model is cut off, and
	// the exchange ends as interrupted with a *[LimitError]. Defaults to 1 MiB; the log must take it.
	MaxAnswer int
	// MaxCalls is how many tools an answer may call. Of more none is run, and the model is told. Defaults to 128.
	MaxCalls int
	// MaxResult is how many bytes a tool may return. More is an error result that says how many there were.
	// Defaults to 1 MiB; the log must take it.
	MaxResult int
	// Parallel is how many calls run at once. Others wait. Defaults to 16.
	Parallel int

	// First is how long a model may take before the first piece of an answer. Defaults to 15 minutes.
	First time.Duration
	// Idle is how long nothing may come in the middle of an answer. Defaults as [llm.Limits] says.
	Idle time.Duration
	// ToolTimeout is how long a call of a tool without a timeout of its own may run. Defaults to 2 minutes.
	ToolTimeout time.Duration
	// Grace is how long a tool, a hook or a model that was told to stop may take to do so. After that it is left alone:
	// see [Loop.Drain]. Defaults to 1 second.
	Grace time.Duration
}

const (
	defaultRounds   = 32
	defaultAnswer   = 1 << 20
	defaultCalls    = 128
	defaultResult   = 1 << 20
	defaultParallel = 16
	defaultFirst    = 15 * time.Minute
	defaultTool     = 2 * time.Minute
	defaultGrace    = time.Second

	// bytesPerToken is far more than tokens have, on the average of any answer.
	bytesPerToken = 32
)

// Within lowers what answers and results may be, and how many calls one may have, to what a log takes in one turn.
func (c Config) Within(l turn.Limits) Config {
	lower := func(bound *int, standard int, limit int64) {
		if *bound >= 0 && int64(cmp.Or(*bound, standard)) > limit {
			*bound = int(limit)
		}
	}
	lower(&c.MaxAnswer, defaultAnswer, l.Text)
	lower(&c.MaxResult, defaultResult, l.Text)
	lower(&c.MaxCalls, defaultCalls, int64(l.Calls))
	return c
}

// withDefaults returns the configuration as it is used, or a *[FieldError].
func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		name  string
		value *int
		or    int
	}{
		{"MaxRounds", &c.MaxRounds, defaultRounds},
		{"MaxTokens", &c.MaxTokens, 0},
		{"MaxAnswer", &c.MaxAnswer, defaultAnswer},
		{"MaxCalls", &c.MaxCalls, defaultCalls},
		{"MaxResult", &c.MaxResult, defaultResult},
		{"Parallel", &c.Parallel, defaultParallel},
	} {
		if err := orDefault(f.name, f.value, f.or); err != nil {
			return c, err
		}
	}
	for _, f := range []struct {
		name  string
		value *time.Duration
		or    time.Duration
	}{
		{"First", &c.First, defaultFirst},
		{"Idle", &c.Idle, 0},
		{"ToolTimeout", &c.ToolTimeout, defaultTool},
		{"Grace", &c.Grace, defaultGrace},
	} {
		if err := orDefault(f.name, f.value, f.or); err != nil {
			return c, err
		}
	}
	c.Tools = slices.Clone(c.Tools)
	for i := range c.Tools {
		t := &c.Tools[i]
		if t.bind == nil {
			return c, invalid.New(record.Indexed("Tools", i), "is empty", "make it with NewTool")
		}
		if err := orDefault(record.Indexed("Tools", i)+".Timeout", &t.Timeout, c.ToolTimeout); err != nil {
			return c, err
		}
	}
	return c, nil
}

func orDefault[N int | time.Duration](name string, value *N, or N) error {
	if *value < 0 {
		return invalid.New(name, fmt.Sprintf("%v is negative", *value), "use 0 for the default or a positive value")
	}
	if *value == 0 {
		*value = or
	}
	return nil
}

// tools indexes the tools by name; a name that stands twice is a *[FieldError].
func (c *Config) tools() (map[string]*Tool, []llm.Tool, error) {
	byName := make(map[string]*Tool, len(c.Tools))
	var definitions []llm.Tool
	for i := range c.Tools {
		t := &c.Tools[i]
		if byName[t.definition.Name] != nil {
			return nil, nil, invalid.New(record.Indexed("Tools", i), fmt.Sprintf("%q stands twice", t.definition.Name), "define each tool once")
		}
		byName[t.definition.Name] = t
		definitions = append(definitions, t.definition)
	}
	return byName, definitions, nil
}
