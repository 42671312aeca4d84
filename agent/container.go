package agent

import (
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/turn"
)

// Container holds the conversation history of one worker, in memory: the log is what lasts. Entries alternate between
// the user's side and the agent's, the first is a prompt, and results follow the calls they answer; a push that
// would break this is refused with a *[FieldError] and changes nothing. It is safe for concurrent use, and who
// reads never waits for who writes. Its zero value is empty and ready for use.
type Container struct {
	now  func() time.Time
	mu   sync.Mutex // held by writers, never across anything slow
	held atomic.Pointer[history]
}

// history is one state of a container and never changed. Later states may share the array behind entries, and write
// only beyond the length of every state before.
type history struct {
	entries []Entry
	// staged says that the last entry is a prompt that no run has taken over yet.
	staged bool
	// read says that it was read from JSON and nothing was pushed since: no run is under way in it.
	read    bool
	summary string
	dropped int // how many entries were trimmed
}

// NewContainer returns an empty container whose entries get their time from now. Defaults to time.Now.
func NewContainer(now func() time.Time) *Container {
	return &Container{now: now}
}

func (c *Container) load() *history {
	if h := c.held.Load(); h != nil {
		return h
	}
	return &history{}
}

func (c *Container) time() time.Time {
	if c.now == nil {
		return time.Now()
	}
	return c.now()
}

// Len is how many entries there are.
func (c *Container) Len() int { return len(c.load().entries) }

// Empty reports whether there are none.
func (c *Container) Empty() bool { return c.Len() == 0 }

// Entries returns the entries as they are now. The slice is the caller's; what the entries point to must not be
// changed.
func (c *Container) Entries() []Entry { return slices.Clone(c.load().entries) }

// All yields the entries as they were when it was called, with their place.
func (c *Container) All() iter.Seq2[int, Entry] { return slices.All(c.load().entries) }

// PushInput stages what the user said, the parts of one message. It is an input until a run takes it over; one can
// be staged at a time.
func (c *Container) PushInput(parts ...turn.Draft) error {
	return c.push(Prompt{Parts: parts}, turn.Meta{})
}

// PushAssistant adds what the agent said to the input before it, with what is known of it.
func (c *Container) PushAssistant(m AgentMessage, meta turn.Meta) error {
	if m == nil {
		return invalid.New("message", "is missing", "push a response or a tool use")
	}
	return c.push(m, meta)
}

// PushToolResults adds the results of the tool use before it, one for each call, in the order of the calls.
func (c *Container) PushToolResults(results ...turn.Result) error {
	if len(results) > 0 && !slices.ContainsFunc(results, func(r turn.Result) bool { return r.Status != turn.CallCancelled }) {
		return c.push(CancelledTools{Results: results}, turn.Meta{})
	}
	return c.push(ToolResults{Results: results}, turn.Meta{})
}

func (c *Container) push(m Message, meta turn.Meta) error {
	return c.change(func(h history) (history, error) {
		if err := checkNext(h.last(), m); err != nil {
			return h, err
		}
		h.entries = append(h.entries, Entry{Message: m.clone(), At: c.time(), Meta: meta})
		h.staged, h.read = m.kind() == kindPrompt, false
		return h, nil
	})
}

// change replaces the state by what fn makes of it, unless fn returns an error.
func (c *Container) change(fn func(history) (history, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next, err := fn(*c.load())
	if err != nil {
		return err
	}
	c.held.Store(&next)
	return nil
}

func (h *history) last() *Entry {
	if len(h.entries) == 0 {
		return nil
	}
	return &h.entries[len(h.entries)-1]
}

// Staged returns the input that waits for a run, and whether there is one.
func (c *Container) Staged() (Prompt, bool) {
	h := c.load()
	if !h.staged {
		return Prompt{}, false
	}
	return h.last().Message.clone().(Prompt), true
}

// Rollback takes a staged input back and reports whether there was one.
func (c *Container) Rollback() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := *c.load()
	if !h.staged {
		return false
	}
	// Clipped: the next push must not write where somebody may be reading.
	n := len(h.entries) - 1
	h.entries, h.staged = h.entries[:n:n], false
	c.held.Store(&h)
	return true
}

// take makes a staged input part of the history: from now on it is answered or unanswered.
func (c *Container) take() {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := *c.load()
	h.staged = false
	c.held.Store(&h)
}

// Abandon marks the last entry as unanswered, if it is from the user's side, and reports whether it is: the
// next entry is a prompt then. A staged input is no longer staged.
func (c *Container) Abandon() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := *c.load()
	last := h.last()
	if last == nil || !last.User() {
		return false
	}
	if !last.Unanswered {
		h.entries = slices.Clone(h.entries)
		h.last().Unanswered = true
	}
	h.staged = false
	c.held.Store(&h)
	return true
}

// settle closes what a run left open that nobody ends any more: the container was written in the middle of it.
func (c *Container) settle() error {
	h := c.load()
	last := h.last()
	if !h.read || last == nil {
		return nil
	}
	if use, open := last.Message.(ToolUse); open {
		results := make([]turn.Result, len(use.Calls))
		for i, call := range use.Calls {
			results[i] = unmade(call.ID, call.Name)
		}
		if err := c.PushToolResults(results...); err != nil {
			return err
		}
	}
	if _, staged := c.Staged(); !staged {
		c.Abandon()
	}
	return nil
}
