package agent

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Summary is what stands for the entries that were trimmed, empty where nothing does.
func (c *Container) Summary() string { return c.load().summary }

// Dropped is how many entries were trimmed so far.
func (c *Container) Dropped() int { return c.load().dropped }

// Trim drops the oldest exchanges so that about keep entries stay: whole ones only, so that more may stay, and
// the last one always does. The log still has them. Where summarise is not nil it is asked, without a lock, for
// the text that stands for them from now on, given the one before; its error is returned and nothing is dropped.
// Should somebody else have trimmed meanwhile, or taken so much back that others would have to stay, nothing is dropped
// either.
func (c *Container) Trim(keep int, summarise func(before string, dropped []Entry) (string, error)) error {
	h := c.load()
	n := h.cut(keep)
	if n == 0 {
		return nil
	}
	summary := h.summary
	if summarise != nil {
		var err error
		if summary, err = summarise(h.summary, append([]Entry(nil), h.entries[:n]...)); err != nil {
			return fmt.Errorf("summary of %d entries: %w", n, err)
		}
	}
	return c.change(func(now history) (history, error) {
		if now.dropped != h.dropped || now.cut(keep) < n {
			return now, nil
		}
		// Copied, so that what was dropped can be freed.
		now.entries = append([]Entry(nil), now.entries[n:]...)
		now.summary, now.dropped = summary, now.dropped+n
		return now, nil
	})
}

// cut is how many entries can go: up to the last prompt of which at least keep entries stay, and never the last
// exchange.
func (h *history) cut(keep int) int {
	for n := len(h.entries) - 1; n > 0; n-- {
		if h.entries[n].Message.kind() == kindPrompt && len(h.entries)-n >= keep {
			return n
		}
	}
	return 0
}

// Branch returns a new container that begins with the first n entries of this one, as they are now. It must not
// part calls from their results. An input that ends it counts as unanswered. The two share nothing that changes.
func (c *Container) Branch(n int) (*Container, error) {
	h := *c.load()
	if n < 0 || n > len(h.entries) {
		return nil, invalid.New("n", fmt.Sprintf("%d is not from 0 to %d", n, len(h.entries)), "give how many entries to keep")
	}
	h.entries, h.staged = h.entries[:n:n], false
	if last := h.last(); last != nil && last.Message.kind() == kindToolUse {
		return nil, invalid.New("n", fmt.Sprintf("entry %d calls tools and entry %d has the results", n-1, n), "keep both or neither")
	}
	branch := NewContainer(c.now)
	branch.held.Store(&h)
	branch.Abandon()
	return branch, nil
}
