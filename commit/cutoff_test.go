package commit

import (
	"context"
	"sync"
	"testing"
	"time"
)

// TestAnswersAreNotLostToTheirOwnEnd: a judge that answers in time is heard each time, however its end and its
// answer fall together.
func TestAnswersAreNotLostToTheirOwnEnd(t *testing.T) {
	var group sync.WaitGroup
	for i := range 20_000 {
		got, err := cutOff(t.Context(), &group, time.Hour, func(context.Context) (int, error) { return i, nil })
		if got != i || err != nil {
			t.Fatalf("asked %d times, the last answer %d: %v", i+1, got, err)
		}
	}
	group.Wait()
}
