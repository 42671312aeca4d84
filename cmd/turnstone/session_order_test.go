package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/turn"
)

// TestLastUsedKeepsNoMoreThanIsShown: whatever order sessions come in, those used last stay, and few others are held.
func TestLastUsedKeepsNoMoreThanIsShown(t *testing.T) {
	const count, page = 500, 10
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]turn.SessionInfo, count)
	for i := range all {
		used := time.Unix(int64(random.IntN(count/2)), 0) // some at the same time
		all[i].Session, all[i].Segment, all[i].LastActivity = fmt.Sprint(i), int64(count-i), used
	}
	sorted := slices.SortedFunc(slices.Values(all), usedLater)
	for _, limit := range []int{0, 1, 7, page, 99, count - 1, count, math.MaxInt} {
		for _, skip := range []int{0, 1, 30, count} {
			t.Run(fmt.Sprintf("%d after %d", limit, skip), func(t *testing.T) {
				best := lastUsed{limit: limit}
				if skip > 0 {
					best.after = sorted[skip-1]
				}
				for list := range slices.Chunk(all, page) {
					best.add(list)
					if limit > 0 && limit < count && len(best.kept) > 2*limit+page {
						t.Fatalf("%d are held", len(best.kept))
					}
				}
				want := sorted[skip:]
				if limit > 0 && limit < len(want) {
					want = want[:limit+1]
				}
				if got := best.sorted(); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
					t.Errorf("kept %d, not the %d used last", len(got), len(want))
				}
			})
		}
	}
}
