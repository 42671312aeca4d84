package compress_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

func window(t rapid.TB, context int) budget.Window {
	t.Helper()
	w, err := budget.WindowOf(context)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestCap(t *testing.T) {
	for _, tt := range []struct {
		context, summaryMax int
		want                [4]int // ultra, compact, moderate, detailed
	}{
		{2048, 1024, [4]int{100, 200, 300, 300}},
		{4096, 1024, [4]int{200, 300, 300, 300}},
		{8192, 1024, [4]int{400, 700, 700, 700}},
		{8192, 600, [4]int{400, 600, 600, 600}},
		{16384, 0, [4]int{800, 1024, 1024, 1024}},
		{32768, 0, [4]int{1500, 1500, 1500, 1500}},
		{65536, 0, [4]int{2000, 2000, 2000, 2000}},
		{65536, 1024, [4]int{1024, 1024, 1024, 1024}},
	} {
		for level, want := range tt.want {
			if got := compress.Cap(compress.Level(level), window(t, tt.context), tt.summaryMax); got != want {
				t.Errorf("%v at %d with at most %d: %d, want %d", compress.Level(level), tt.context, tt.summaryMax, got, want)
			}
		}
	}
	w := window(t, 8192)
	if compress.Cap(-3, w, 0) != compress.Cap(compress.Ultra, w, 0) || compress.Cap(9, w, 0) != compress.Cap(compress.Detailed, w, 0) {
		t.Error("what is no level has another cap than the nearest")
	}
}

// checkpoints makes one of each level, numbered in order, each of ten turns.
func checkpoints(levels string, tokens ...int64) []compress.Checkpoint {
	var all []compress.Checkpoint
	for i, l := range levels {
		n := int64(i + 1)
		all = append(all, compress.Checkpoint{
			Number: n, Version: 1, Level: compress.Level(strings.IndexRune("ucmd", l)), Range: turn.Range{From: 10*n - 9, To: 10 * n}, CurrentTokens: tokens[i%len(tokens)],
		})
	}
	return all
}

func TestAging(t *testing.T) {
	type step struct {
		From, To int64 // turns
		Of       int
		Level    compress.Level
		Budget   int
		New      bool
	}
	for _, tt := range []struct {
		name    string
		context int
		all     []compress.Checkpoint
		pass    compress.Pass
		want    []step
	}{
		{"nothing is old", 65536, checkpoints("ddd", 1000), compress.Pass{Number: 3}, nil},
		{"at three", 65536, checkpoints("ddd", 1000), compress.Pass{Number: 4}, []step{{1, 10, 1, compress.Moderate, 600, false}}},
		{"at six", 65536, checkpoints("mdd", 1000), compress.Pass{Number: 7}, []step{
			{1, 10, 1, compress.Compact, 512, false}, {11, 20, 1, compress.Moderate, 600, false}, {21, 30, 1, compress.Moderate, 600, false},
		}},
		{"straight to compact", 65536, checkpoints("d", 1000), compress.Pass{Number: 8}, []step{{1, 10, 1, compress.Compact, 512, false}}},
		{"at ten", 65536, checkpoints("cc", 1000), compress.Pass{Number: 11}, []step{{1, 10, 1, compress.Ultra, 512, false}}},
		{"merged at ten", 65536, checkpoints("ucm", 800), compress.Pass{Number: 12}, []step{
			{1, 20, 2, compress.Ultra, 640, false}, {21, 30, 1, compress.Compact, 512, false},
		}},
		{"once ultra for ever", 65536, checkpoints("u", 800), compress.Pass{Number: 99}, nil},
		{"small ones only a little", 65536, checkpoints("d", 100), compress.Pass{Number: 4}, []step{{1, 10, 1, compress.Moderate, 99, false}}},
		{"nothing at all", 65536, checkpoints("d", 1), compress.Pass{Number: 4}, nil},

		{"the first tier has one", 4096, checkpoints("d", 250), compress.Pass{Number: 2, Range: turn.Range{From: 11, To: 17}, Tokens: 300}, []step{{1, 17, 1, compress.Detailed, 300, true}}},
		{"the first tier, small", 4096, checkpoints("d", 20), compress.Pass{Number: 2, Range: turn.Range{From: 11, To: 17}, Tokens: 30}, []step{{1, 17, 1, compress.Detailed, 49, true}}},
		{"the first of the first tier", 4096, nil, compress.Pass{Number: 1, Range: turn.Range{From: 1, To: 7}, Tokens: 300}, nil},
		{"the second has a detailed one and the rest", 8192, checkpoints("ud", 400, 700), compress.Pass{Number: 3, Range: turn.Range{From: 21, To: 30}, Tokens: 700}, []step{{1, 20, 2, compress.Ultra, 400, false}}},
		{"the second's second", 8192, checkpoints("d", 700), compress.Pass{Number: 2, Tokens: 700}, nil},
		{"the third has five", 16384, checkpoints("ddddd", 300), compress.Pass{Number: 6, Tokens: 300}, []step{
			{1, 20, 2, compress.Ultra, 400, false}, {21, 30, 1, compress.Moderate, 299, false},
		}},
		{"their share", 16384, checkpoints("ddd", 1024), compress.Pass{Number: 4, Tokens: 1024}, []step{{1, 10, 1, compress.Moderate, 614, false}}},
		{"their share with what they stand in", 16384, checkpoints("ddd", 1024), compress.Pass{Number: 3, Tokens: 1024}, []step{{1, 20, 2, compress.Ultra, 800, false}}},
		{"and without a new one", 16384, checkpoints("ddd", 1364), compress.Pass{Number: 3}, []step{{1, 20, 2, compress.Ultra, 800, false}}},
		{"the last that fits", 16384, checkpoints("d", 3089), compress.Pass{Number: 2, Tokens: 1024}, nil},
		{"the first that does not", 16384, checkpoints("d", 3090), compress.Pass{Number: 2, Tokens: 1024}, []step{{1, 10, 1, compress.Ultra, 800, false}}},
		{"the first that does not beside what is quoted", 16384, checkpoints("d", 3089), compress.Pass{Number: 2, Tokens: 1024, Quoted: 1}, []step{{1, 10, 1, compress.Ultra, 800, false}}},
		{"more than their share", 16384, checkpoints("dddd", 1500), compress.Pass{Number: 4, Tokens: 1024}, []step{{1, 30, 3, compress.Ultra, 800, false}}},
		{"tokens are missing", 16384, checkpoints("d", 900), compress.Pass{Number: 2, Missing: 300}, []step{{1, 10, 1, compress.Ultra, 600, false}}},
		{"tokens are missing that aging frees", 16384, checkpoints("d", 900), compress.Pass{Number: 4, Missing: 300}, []step{{1, 10, 1, compress.Moderate, 540, false}}},
		{"tokens are missing that merging frees", 16384, checkpoints("ddd", 900), compress.Pass{Number: 3, Missing: 300}, []step{{1, 20, 2, compress.Ultra, 720, false}}},
		{"more are missing than one merging frees", 16384, checkpoints("dd", 900), compress.Pass{Number: 3, Missing: 1600}, []step{{1, 20, 2, compress.Ultra, 232, false}}},
		{"more are missing than there are", 16384, checkpoints("d", 900), compress.Pass{Number: 2, Missing: 5000}, []step{{1, 10, 1, compress.Ultra, 1, false}}},
		{"one alone is more than its share", 16384, checkpoints("d", 9000), compress.Pass{Number: 2, Tokens: 1024}, []step{{1, 10, 1, compress.Ultra, 800, false}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []step
			for _, s := range compress.Aging(tt.all, tt.pass, window(t, tt.context), 1024) {
				got = append(got, step{s.Range.From, s.Range.To, len(s.Of), s.Level, s.Budget, s.New})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestAgingForEver compresses again and again: what stands in the prompt stays within its bounds, and
// nothing grows.
func TestAgingForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := window(t, rapid.SampledFrom([]int{2048, 4096, 8192, 16384, 32768, 131072}).Draw(t, "context"))
		most := w.Tier().MaxCheckpoints()
		if w.Tier() == 2 {
			most++
		}
		var all []compress.Checkpoint
		for number := int64(1); number <= 60; number++ {
			pass := compress.Pass{
				Number: number, Range: turn.Range{From: number, To: number},
				Tokens: rapid.IntRange(1, compress.Cap(compress.Detailed, w, 1024)).Draw(t, "tokens"),
			}
			next := map[int64]compress.Checkpoint{}
			for _, c := range all {
				next[c.Range.From] = c
			}
			added := true
			for _, s := range compress.Aging(all, pass, w, 1024) {
				before := 0
				for _, c := range s.Of {
					before += int(c.CurrentTokens)
					delete(next, c.Range.From)
				}
				if s.New {
					added = false
					before += pass.Tokens
				}
				if s.Budget < 1 || s.Budget >= before || s.Budget > compress.Cap(s.Level, w, 1024) {
					t.Fatalf("from %d to %d tokens at %v", before, s.Budget, s.Level)
				}
				next[s.Range.From] = compress.Checkpoint{Number: s.Of[len(s.Of)-1].Number, Level: s.Level, Range: s.Range, CurrentTokens: int64(s.Budget)}
			}
			if added {
				next[pass.Range.From] = compress.Checkpoint{Number: number, Level: compress.Detailed, Range: pass.Range, CurrentTokens: int64(pass.Tokens)}
			}
			all = all[:0:0]
			total, covered := 0, int64(0)
			for seq := int64(1); seq <= number; seq++ {
				if c, ok := next[seq]; ok {
					all = append(all, c)
					total += int(c.CurrentTokens) + compress.Frame
					covered += c.Range.To - c.Range.From + 1
				}
			}
			if len(all) > most || covered != number || total > w.Usable*30/100 {
				t.Fatalf("after %d: %d checkpoints of %d turns take %d of %d tokens", number, len(all), covered, total, w.Usable*30/100)
			}
		}
	})
}
