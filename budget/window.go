package budget

// The contexts that a window can be made of.
const (
	MinContext = 2 << 10
	MaxContext = 16 << 20
)

const (
	usablePercent  = 85
	reservePercent = 15
	minReserve     = 256
	maxReserve     = 4096
)

// Window is how much a prompt and its reply may take.
type Window struct {
	// Context is the model's context in tokens.
	Context int
	// Usable is the part of it that we use, prompt and reply together, and the num_ctx that a local model
	// is asked for.
	Usable int
	// Reserve is the part of Usable that is kept free for the reply.
	Reserve int
}

// WindowOf returns the window of a context of [MinContext] to [MaxContext] tokens; others are refused with a
// *[FieldError]. Usable is 85 % of the context, to the nearest token (4096 gives 3482, 8192 gives 6963, 16384
// gives 13926), and the reserve 15 % of that, at least 256 and at most 4,096 tokens.
func WindowOf(context int) (Window, error) {
	if err := checkContext("context", context); err != nil {
		return Window{}, err
	}
	usable := share(context, usablePercent)
	return Window{
		Context: context,
		Usable:  usable,
		Reserve: min(max(share(usable, reservePercent), minReserve), maxReserve),
	}, nil
}

func checkContext(field string, context int) error {
	if context < MinContext || context > MaxContext {
		return fieldErrorf(field, "give the model's context in tokens, from 2,048 to 16,777,216", "%d is no context size", context)
	}
	return nil
}

// share returns a percentage of n, to the nearest whole.
func share(n, percent int) int { return (n*percent + 50) / 100 }

// Tier returns the tier that the window's context stands in.
func (w Window) Tier() Tier {
	switch {
	case w.Context <= 4<<10:
		return 1
	case w.Context <= 8<<10:
		return 2
	case w.Context <= 16<<10:
		return 3
	case w.Context < 64<<10:
		return 4
	}
	return 5
}

// Tier says how a conversation is compressed, from 1 for the smallest windows to 5 for the largest.
type Tier int

var tiers = [...]struct {
	name           string
	summaryCap     int
	maxCheckpoints int
}{
	{"rollover", 300, 1},
	{"smart", 700, 1},
	{"progressive", 1024, 5},
	{"structured", 1500, 10},
	{"ultra", 2000, 15},
}

// Name is one of rollover, smart, progressive, structured and ultra; empty for what is no tier.
func (t Tier) Name() string {
	if t < 1 || int(t) > len(tiers) {
		return ""
	}
	return tiers[t-1].name
}

func (t Tier) String() string {
	if name := t.Name(); name != "" {
		return "tier " + grouped(int(t)) + " (" + name + ")"
	}
	return "no tier"
}

// SummaryCap is how many tokens one summary may have.
func (t Tier) SummaryCap() int { return tiers[min(max(t, 1), 5)-1].summaryCap }

// MaxCheckpoints is how many summaries stand side by side before the oldest are merged.
func (t Tier) MaxCheckpoints() int { return tiers[min(max(t, 1), 5)-1].maxCheckpoints }
