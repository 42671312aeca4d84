package mem_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// export adds an export of a segment that ends with turn last and was made then.
func export(t *testing.T, s *mem.Store, id string, segment, last int64) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		return tx.Outbox().InsertExport(t.Context(), event.Export{
			Tenant: "default", Session: "s", Segment: segment, ID: id, First: last, Last: last, Body: `{}`, At: time.Unix(last, 0).UTC(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheSessionThatWaitedLongestIsPublishedFirst(t *testing.T) {
	s := mem.New(mem.Config{})
	export(t, s, "busy-2", 1, 30)
	export(t, s, "quiet-1", 2, 20)
	export(t, s, "old-2", 3, 40)
	export(t, s, "old-1", 3, 10)
	export(t, s, "busy-1", 1, 25)
	var sent []string
	for range 2 {
		_, err := s.Publish(t.Context(), 3, store.Publication{Send: func(_ context.Context, exports []event.Export) (int, error) {
			for _, e := range exports {
				sent = append(sent, e.ID)
			}
			return len(exports), nil
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"old-1", "old-2", "quiet-1", "busy-1", "busy-2"}; !slices.Equal(sent, want) {
		t.Errorf("sent %v, want %v", sent, want)
	}
}

func TestAPublisherThatWaitsForAnotherCanGiveUp(t *testing.T) {
	s := mem.New(mem.Config{})
	export(t, s, "e", 1, 1)
	n, err := s.Publish(t.Context(), 1, store.Publication{Send: func(context.Context, []event.Export) (int, error) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if n, err := s.Publish(ctx, 1, store.Publication{}); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the one that waits: %d, %v", n, err)
		}
		return 1, nil
	}})
	if n != 1 || err != nil {
		t.Errorf("the one that is waited for: %d, %v", n, err)
	}
}

func TestAPublicationClaimsNoMoreThanItWasGiven(t *testing.T) {
	for _, claimed := range []int{-1, 7} {
		s := mem.New(mem.Config{})
		export(t, s, "e", 1, 1)
		n, err := s.Publish(t.Context(), 5, store.Publication{Send: func(context.Context, []event.Export) (int, error) { return claimed, nil }})
		if want := max(0, min(claimed, 1)); n != want || err != nil {
			t.Errorf("%d claimed: %d noted, %v; want %d", claimed, n, err, want)
		}
	}
}
