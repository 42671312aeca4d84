package memory

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// plainLikeness is the sketch of words as it is said to be: by bin, a byte of the smallest; 0: none.
func plainLikeness(words []uint64) (bins [16]byte) {
	for bin := range bins {
		lowest := uint64(math.MaxUint64)
		for _, word := range words {
			if word&15 == uint64(bin) && mix(word) <= lowest {
				lowest = mix(word)
				bins[bin] = byte(lowest>>8%255 + 1)
			}
		}
	}
	return bins
}

func TestTheNearestIsTheOneWithTheMostInCommon(t *testing.T) {
	words := rapid.SliceOfN(rapid.Map(rapid.Uint64Range(1, 40), mix), 0, 24)
	rapid.Check(t, func(t *rapid.T) {
		of := words.Draw(t, "words")
		l := sketch(of, "the item itself", "")
		mine := plainLikeness(of)
		var recent Recent
		want := 0.0
		for _, other := range rapid.SliceOfN(words, 0, 12).Draw(t, "recent") {
			recent.add(sketch(other, "another", "1"))
			same, either := 0, 0
			for bin, theirs := range plainLikeness(other) {
				if theirs != 0 || mine[bin] != 0 {
					either++
				}
				if theirs != 0 && mine[bin] == theirs {
					same++
				}
			}
			if either > 0 {
				want = max(want, float64(same)/float64(either))
			}
		}
		if got := recent.nearest(&l); got != want {
			t.Fatalf("the nearest is like it by %v, want %v", got, want)
		}
		recent.add(l)
		if got := recent.nearest(&l); got != 1 {
			t.Fatalf("the item itself is like it by %v, want 1", got)
		}
	})
}

// An item is known again wherever in the ring it is and however near others are, even one without words.
func TestTheSameIsAlwaysTheNearest(t *testing.T) {
	words := rapid.SliceOfN(rapid.Map(rapid.Uint64Range(1, 12), mix), 0, 6)
	rapid.Check(t, func(t *rapid.T) {
		recent := Recent{size: 5}
		all := rapid.SliceOfN(words, 1, 12).Draw(t, "words")
		for i, of := range all {
			recent.add(sketch(of, "item", string(rune('a'+i))))
		}
		for i, of := range all {
			l := sketch(of, "item", string(rune('a'+i)))
			if got := recent.nearest(&l); i >= len(all)-5 && got != 1 {
				t.Fatalf("item %d of %d is like itself by %v, want 1", i, len(all), got)
			}
		}
		if recent.Len() != min(len(all), 5) {
			t.Fatalf("%d items are remembered of %d, want at most 5", recent.Len(), len(all))
		}
	})
}
