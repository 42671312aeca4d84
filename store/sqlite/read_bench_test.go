package sqlite_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// vocabulary is drawn from as people do: few words often, most rarely.
var vocabulary = func() []string {
	random := rand.New(rand.NewPCG(7, 7))
	words := make([]string, 20_000)
	for i := range words {
		var w strings.Builder
		for range 2 + random.IntN(9) {
			w.WriteByte(byte('a' + random.IntN(26)))
		}
		words[i] = w.String()
	}
	return words
}()

func prose(random *rand.Rand, size int) string {
	zipf := rand.NewZipf(random, 1.1, 4, uint64(len(vocabulary)-1))
	var text strings.Builder
	for text.Len() < size {
		text.WriteString(vocabulary[zipf.Uint64()])
		text.WriteByte(' ')
	}
	return text.String()[:size]
}

// seeded are the rows of one session with n turns of about 400 bytes, and of how many bytes of text.
func seeded(n int, textBytes *int) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		random := rand.New(rand.NewPCG(1, 2))
		start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
		session := store.Row{Table: "sessions", Values: []any{
			"default", "long", int64(1), "", "", "", "", "active", nil, int64(0), int64(n), start, start,
		}}
		if !yield(session, nil) {
			return
		}
		roles := []string{"user", "agent"}
		for i := range n {
			text := prose(random, 200+random.IntN(400))
			*textBytes += len(text)
			row := store.Row{Table: "turns", Values: []any{
				"default", int64(1), int64(i + 1), newID(), roles[i%2], "text", nil, `{"text":"` + text + `"}`,
				start + int64(i), nil, nil, nil, nil, nil, nil,
			}}
			if !yield(row, nil) {
				return
			}
		}
	}
}

func openSeeded(b testing.TB, n int) (*sqlite.Store, string, int) {
	path := filepath.Join(b.TempDir(), "seeded.db")
	s := open(b, path, sqlite.Config{})
	size := 0
	if err := s.Load(b.Context(), seeded(n, &size)); err != nil {
		b.Fatal(err)
	}
	return s, path, size
}

func BenchmarkRead(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		s, _, _ := openSeeded(b, n)
		start := time.Now()
		if err := s.IndexText(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Logf("%d turns indexed in %v", n, time.Since(start))
		read := func(name string, do func(tx store.Tx, info turn.SessionInfo) error) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					err := s.View(b.Context(), func(tx store.Tx) error {
						info, err := tx.Log().Session(b.Context(), key("long"))
						if err != nil {
							return err
						}
						return do(tx, info)
					})
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		read("session", func(store.Tx, turn.SessionInfo) error { return nil })
		read("last50", func(tx store.Tx, info turn.SessionInfo) error {
			_, err := turn.History(b.Context(), tx.Log(), info, turn.HistoryOptions{Turns: 50, KeepSystem: true})
			return err
		})
		read("history50", func(tx store.Tx, info turn.SessionInfo) error {
			_, err := turn.History(b.Context(), tx.Log(), info, turn.HistoryOptions{Turns: 50})
			return err
		})
		for name, text := range map[string]string{"rare": vocabulary[5000], "common": vocabulary[0] + " " + vocabulary[1]} {
			search, err := turn.Query{Text: text, Limit: 20}.Compile()
			if err != nil {
				b.Fatal(err)
			}
			read("search-"+name, func(tx store.Tx, info turn.SessionInfo) error {
				_, err := search.Run(b.Context(), tx.Log(), info)
				return err
			})
		}
	}
}

// TestDisk measures what a turn of 400 bytes costs on disk, index included.
func TestDisk(t *testing.T) {
	alone(t)
	sizes := []int{1_000, 10_000}
	var perTurn []float64
	for _, n := range sizes {
		s, path, text := openSeeded(t, n)
		if err := s.IndexText(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(info.Size()) / float64(text)
		t.Logf("%d turns: %d bytes of text, %d bytes on disk, %.2f a byte", n, text, info.Size(), ratio)
		if n == 10_000 && ratio > 2.5 {
			t.Errorf("%.2f bytes on disk for a byte of text, want at most 2.5", ratio)
		}
		perTurn = append(perTurn, float64(info.Size())/float64(n))
	}
	if growth := perTurn[1] / perTurn[0]; growth > 1.1 {
		t.Errorf("a turn takes %.2f times the space among %d than among %d", growth, sizes[1], sizes[0])
	}
}
