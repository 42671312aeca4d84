package recall_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// prose is about n words as often as words are used: the k-th one in about every 10k-th place, some
// 20,000 different ones.
func prose(r *rand.Rand, n int) string {
	text := make([]string, n)
	for i := range text {
		text[i] = fmt.Sprintf("w%d", int(math.Exp(r.Float64()*math.Log(20_000))))
	}
	return strings.Join(text, " ")
}

// BenchmarkSearch asks for a common word, a rare one and some in between, in one session of so many turns and
// in as many turns of 1,000 sessions, all of them indexed.
func BenchmarkSearch(b *testing.B) {
	for _, turns := range []int{10_000, 1_000_000} {
		for _, sessions := range []int{1, 1000} {
			b.Run(fmt.Sprintf("turns=%d/sessions=%d", turns, sessions), func(b *testing.B) {
				w := with(b, func(clock func() time.Time) (store.Store, error) {
					return sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "log.db"), sqlite.Config{Clock: clock, Synchronous: sqlite.Normal})
				})
				r := rand.New(rand.NewPCG(5, 6))
				var key turn.Key
				for s := range sessions {
					key = w.create(fmt.Sprintf("s%d", s), "ann")
					for left := turns / sessions; left > 0; left -= 1000 {
						lines := make([]string, min(left, 1000))
						for i := range lines {
							lines[i] = "user: " + prose(r, 20)
						}
						w.talk(key, lines...)
					}
				}
				if err := w.IndexText(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					q := recall.Query{Text: fmt.Sprintf("when was w%d with w%d, w%d and w%d", 2+i%9, 50+i%100, 500+i%1000, 5000+i%1000), Scope: recall.OfTenant}
					if len(w.search(key, q)) == 0 {
						b.Fatalf("nothing for %q", q.Text)
					}
				}
			})
		}
	}
}

// BenchmarkTranscript is a search in 600 lines in memory.
func BenchmarkTranscript(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	lines := make([]recall.Line, 600)
	for i := range lines {
		lines[i] = recall.Line{ID: fmt.Sprint(i), Session: fmt.Sprint(i / 20), Speaker: "Ann", Text: prose(r, 20)}
	}
	talk := recall.NewTranscript(lines)
	for i := 0; b.Loop(); i++ {
		if _, err := talk.Search(b.Context(), fmt.Sprintf("w%d w%d w%d", 3+i%9, 50+i%100, 500+i%1000)); err != nil {
			b.Fatal(err)
		}
	}
}
