package turnstone_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestSoakStoresAgree runs made-up conversations on all three stores at once and holds every view of
// them against the others'. With TURNSTONE_SOAK=1 it goes on until it is stopped; every conversation
// is named by its seed.
func TestSoakStoresAgree(t *testing.T) {
	rounds := 8
	if os.Getenv("TURNSTONE_SOAK") != "" {
		rounds = int(^uint(0) >> 1)
	}
	clock := scenario.NewClock()
	lite, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soak.db"), sqlite.Config{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	pg, err := postgres.Open(t.Context(), pgtest.URL(t), postgres.Config{Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	var worlds []*world
	for _, st := range []store.Store{mem.New(mem.Config{Clock: clock.Now}), lite, pg} {
		worlds = append(worlds, &world{store: st, engine: open(t, st, turnstone.Config{Clock: clock.Now, Entropy: &fixed{}})})
	}
	for seed := range rounds {
		drafts := turngen.Log(60).Example(seed)
		var want string
		for i, w := range worlds {
			got := w.live(t, seed, drafts)
			if i == 0 {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: store %d differs from the first:\n%s", seed, i, diff)
			}
			if seed%50 == rounds%50-1 {
				w.examine(t)
			}
		}
	}
}

// fixed is randomness that is the same for every engine.
type fixed struct{ rand.PCG }

func (f *fixed) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f.Uint64())
	}
	return len(p), nil
}

type world struct {
	store  store.Store
	engine *turnstone.Engine
}

// live plays one conversation and returns everything that can be seen of it.
func (w *world) live(t *testing.T, seed int, drafts []turn.Draft) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(seed), 7))
	var seen strings.Builder
	s := session(t, w.engine, fmt.Sprint("s", seed))
	for len(drafts) > 0 {
		n := 1 + rng.IntN(min(4, len(drafts)))
		if _, err := s.Append(t.Context(), drafts[:n]...); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		drafts = drafts[n:]
		if rng.IntN(12) == 0 {
			s = w.fork(t, s, rng, &seen)
		}
		w.look(t, s, rng, &seen)
	}
	if rng.IntN(2) == 0 {
		if _, err := s.End(t.Context()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	var bundle bytes.Buffer
	if _, err := s.WriteBundle(t.Context(), &bundle, replay.WriteOptions{}); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	seen.Write(bundle.Bytes())
	return seen.String()
}

// fork goes on in a fork of the session at its end, where that is allowed, and leaves one behind
// that was made somewhere in its past.
func (w *world) fork(t *testing.T, s *turnstone.Session, rng *rand.Rand, seen *strings.Builder) *turnstone.Session {
	t.Helper()
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{rng.Int64N(info.Head + 1), turnstone.Head} {
		child, err := s.Fork(t.Context(), at, turn.SessionInfo{})
		fmt.Fprintln(seen, "fork", at, err)
		if err == nil && at == turnstone.Head {
			return child
		}
	}
	return s
}

func (w *world) look(t *testing.T, s *turnstone.Session, rng *rand.Rand, seen *strings.Builder) {
	t.Helper()
	window, err := s.Window(t.Context())
	show(seen, "window", window, err)
	o := turn.HistoryOptions{Turns: rng.IntN(20), KeepSystem: rng.IntN(2) == 0, UpTo: rng.Int64N(30)}
	history, err := s.History(t.Context(), o)
	show(seen, fmt.Sprint("history", o), history, err)
	q := turn.Query{Text: []string{"", "a", "look", "search", "the"}[rng.IntN(5)], Limit: 1 + rng.IntN(9), After: rng.Int64N(20)}
	page, err := s.Query(t.Context(), q)
	show(seen, fmt.Sprint("query", q.Text, q.Limit, q.After, page.Next), page.Turns, err)
	if rng.IntN(3) == 0 {
		if err := w.store.IndexText(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func show(seen *strings.Builder, what string, turns []turn.Turn, err error) {
	fmt.Fprintln(seen, what, err)
	for i := range turns {
		seen.Write(append(turns[i].AppendJSON(nil), '\n'))
	}
}

func (w *world) examine(t *testing.T) {
	t.Helper()
	if _, err := doctor.Examine(t.Context(), w.store, func(f doctor.Finding) { t.Error(f) }, nil); err != nil {
		t.Fatal(err)
	}
}
