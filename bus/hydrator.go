package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// Hydrator asks [Bodies] for messages in portions that fit in memory, however large bodies are. It is
// for those who implement a [Bus] and for one goroutine at a time.
type Hydrator struct {
	bodies  Bodies
	portion int
}

// NewHydrator returns a hydrator of bodies.
func NewHydrator(bodies Bodies) *Hydrator { return &Hydrator{bodies: bodies, portion: firstPortion} }

// A portion doubles while it has less bytes than enough and shrinks where it has more than plenty.
const (
	firstPortion = 64
	maxPortion   = 512
	enough       = 4 << 20
	plenty       = 16 << 20
)

// Next returns the messages of the first exports: as many as it finds right, at least one. An error is
// about the first export alone, or about the store, see [Away].
func (h *Hydrator) Next(ctx context.Context, exports []event.Export) ([]event.Message, error) {
	for {
		some := exports[:min(h.portion, len(exports))]
		messages, err := h.bodies.Messages(ctx, some)
		if err == nil && len(messages) != len(some) {
			err = fmt.Errorf("%d messages for %d exports", len(messages), len(some))
		}
		if err == nil {
			h.adapt(messages)
			return messages, nil
		}
		if len(some) == 1 || Away(err) {
			return nil, err
		}
		h.portion = 1
	}
}

func (h *Hydrator) adapt(messages []event.Message) {
	size := 0
	for _, m := range messages {
		size += len(m.Body)
	}
	switch {
	case size > plenty:
		h.portion = max(h.portion/4, 1)
	case size < enough && len(messages) == h.portion:
		h.portion = min(2*h.portion, maxPortion)
	}
}

// Away says whether an error is about a store that cannot be used at the moment, and not about what was
// to be read or written.
func Away(err error) bool {
	for _, away := range []error{
		store.ErrClosed, store.ErrLocked, store.ErrUnavailable, store.ErrFull, store.ErrReadOnly, store.ErrRemoved, store.ErrUnknown, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, away) {
			return true
		}
	}
	return false
}
