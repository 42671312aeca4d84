package snapshot_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/turn"
)

// ranges are those that begin and end at turns, in pairs.
func ranges(turns ...int64) (list []turn.Range) {
	for pair := range slices.Chunk(turns, 2) {
		list = append(list, turn.Range{From: pair[0], To: pair[1]})
	}
	return list
}

func TestPath(t *testing.T) {
	for _, test := range []struct {
		before   []turn.Range
		at, head int64
		want     []turn.Range
	}{
		{nil, 10, 20, ranges(1, 10, 21, 0)},
		{nil, 20, 20, ranges(1, 0)},
		{nil, 0, 20, ranges(21, 0)},
		{nil, 0, 0, ranges(1, 0)},
		{ranges(1, 0), 10, 20, ranges(1, 10, 21, 0)},
		{ranges(5, 0), 4, 20, ranges(21, 0)},
		{ranges(1, 10, 21, 0), 25, 30, ranges(1, 10, 21, 25, 31, 0)},
		{ranges(1, 10, 21, 0), 30, 30, ranges(1, 10, 21, 0)},
		{ranges(1, 10, 21, 0), 20, 30, ranges(1, 10, 31, 0)},
		{ranges(1, 10, 21, 0), 10, 30, ranges(1, 10, 31, 0)},
		{ranges(1, 10, 21, 0), 9, 30, ranges(1, 9, 31, 0)},
		{ranges(1, 10), 10, 10, ranges(1, 0)},
	} {
		before := slices.Clone(test.before)
		got := snapshot.Path(test.before, test.at, test.head)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v back to %d of %d (-want +got)\n%s", test.before, test.at, test.head, diff)
		}
		if !slices.Equal(before, test.before) {
			t.Errorf("%v became %v", before, test.before)
		}
	}
}

func on(path []turn.Range, seq int64) bool {
	return slices.ContainsFunc(path, func(r turn.Range) bool { return seq >= r.From && (r.To == 0 || seq <= r.To) })
}

// A session goes on and is restored again and again, to places on its path and off it; at each restore the path
// holds what it must, and nothing else.
func TestPathsOfManyRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path, head := []turn.Range{{From: 1}}, int64(0)
		visible := func(int64) bool { return true } // by definition, restore for restore
		for step := range rapid.IntRange(1, 8).Draw(t, "restores") {
			head += rapid.Int64Range(0, 12).Draw(t, fmt.Sprint("said ", step))
			at := rapid.Int64Range(0, head).Draw(t, fmt.Sprint("back to ", step))
			before, was, end := path, visible, head
			path = snapshot.Path(before, at, end)
			visible = func(seq int64) bool { return seq > end || seq <= at && was(seq) }
			var count int64
			for seq := int64(1); seq <= head+20; seq++ {
				if on(path, seq) != visible(seq) {
					t.Fatalf("%v back to %d of %d is %v: turn %d is on it: %v", before, at, end, path, seq, on(path, seq))
				}
				if visible(seq) {
					count++
				}
				if got := snapshot.Count(path, seq); got != count {
					t.Fatalf("%v has %d turns up to %d, not %d", path, count, seq, got)
				}
			}
			for i, r := range path {
				if last := i == len(path)-1; last != (r.To == 0) || !last && (r.To < r.From || path[i+1].From <= r.To+1) {
					t.Fatalf("%v is out of order, or in more pieces than it needs", path)
				}
			}
		}
	})
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		path []turn.Range
		at   int64
		want int64
	}{
		{nil, 7, 7}, {nil, 0, 0}, {ranges(1, 3, 6, 0), 7, 5}, {ranges(1, 3, 6, 0), 4, 3}, {ranges(1, 3), 9, 3}, {ranges(5, 0), 2, 0},
	} {
		if got := snapshot.Count(test.path, test.at); got != test.want {
			t.Errorf("%v up to %d: %d, want %d", test.path, test.at, got, test.want)
		}
	}
}
