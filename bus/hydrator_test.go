package bus_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// library makes bodies of a size and notes how many it was asked for.
type library struct {
	size  int
	bad   string
	err   error
	asked []int
	short bool
}

func (l *library) Messages(_ context.Context, exports []event.Export) ([]event.Message, error) {
	l.asked = append(l.asked, len(exports))
	var messages []event.Message
	for _, e := range exports {
		if e.ID == l.bad {
			return nil, l.err
		}
		messages = append(messages, event.Message{ID: e.ID, Body: make([]byte, l.size)})
	}
	if l.short {
		messages = messages[1:]
	}
	return messages, nil
}

func exports(n int) []event.Export {
	all := make([]event.Export, n)
	for i := range all {
		all[i].ID = fmt.Sprint(i)
	}
	return all
}

// drain asks until all exports have a message or are refused.
func drain(t *testing.T, h *bus.Hydrator, all []event.Export) (refused []string) {
	t.Helper()
	for len(all) > 0 {
		messages, err := h.Next(t.Context(), all)
		if err != nil {
			refused = append(refused, all[0].ID)
			all = all[1:]
			continue
		}
		if len(messages) == 0 {
			t.Fatal("no message and no error")
		}
		for i, m := range messages {
			if m.ID != all[i].ID {
				t.Fatalf("message %s for export %s", m.ID, all[i].ID)
			}
		}
		all = all[len(messages):]
	}
	return refused
}

func TestPortionsFollowTheSizeOfBodies(t *testing.T) {
	small := &library{size: 10}
	drain(t, bus.NewHydrator(small), exports(2000))
	if want := []int{64, 128, 256, 512, 512, 512, 16}; !slices.Equal(small.asked, want) {
		t.Errorf("small bodies: asked for %v, want %v", small.asked, want)
	}
	large := &library{size: 6 << 20}
	drain(t, bus.NewHydrator(large), exports(84))
	if want := []int{64, 16, 4}; !slices.Equal(large.asked, want) {
		t.Errorf("large bodies: asked for %v, want %v", large.asked, want)
	}
}

func TestOneExportThatCannotBeMadeStandsAlone(t *testing.T) {
	l := &library{bad: "70", err: errBroken}
	if got := drain(t, bus.NewHydrator(l), exports(200)); !slices.Equal(got, []string{"70"}) {
		t.Errorf("refused %v, want 70 alone", got)
	}
}

func TestAStoreThatIsAwayIsNotAskedForEach(t *testing.T) {
	for _, err := range []error{store.ErrClosed, store.ErrLocked, store.ErrUnavailable, store.ErrFull, store.ErrReadOnly, store.ErrUnknown, context.Canceled} {
		l := &library{bad: "3", err: fmt.Errorf("read: %w", err)}
		if _, got := bus.NewHydrator(l).Next(t.Context(), exports(10)); !errors.Is(got, err) || len(l.asked) != 1 {
			t.Errorf("%v: got %v, asked %v", err, got, l.asked)
		}
	}
}

func TestMissingMessagesAreAnError(t *testing.T) {
	if _, err := bus.NewHydrator(&library{short: true}).Next(t.Context(), exports(1)); err == nil {
		t.Error("no error for no message")
	}
}
