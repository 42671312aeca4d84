package commit_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// Whether room is looked for or known from the last look, what is archived is always what is least important by then.
func TestRoomIsMadeOfTheLeastImportant(t *testing.T) {
	types := []memory.Type{memory.Event, memory.ScratchItem, memory.ToolResult}
	t.Run("mem", func(t *testing.T) { roomIsMade(t, newMem(), types) })
	// Of one type there are more than a look finds, and the oldest go first.
	t.Run("one type", func(t *testing.T) { roomIsMade(t, newMem(), types[:1]) })
	t.Run("sqlite", func(t *testing.T) {
		st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		roomIsMade(t, st, types)
	})
}

func roomIsMade(t *testing.T, st store.Store, types []memory.Type) {
	const quota, each, slack = 1500, 100, 93
	l := &looking{Store: st}
	w := newWorld(t, l, commit.Config{Selection: memory.Selection{Quota: memory.Quota{Session: quota}}})
	live, rooms := map[string]memory.Episode{}, 0
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 40 {
		ex := talk("a", "b")
		for i := range each {
			c := fact(fmt.Sprint("fact ", n, "-", i))
			if i > 5 {
				c.Type = types[i%len(types)]
				c.Given = full(0.5 + float64(random.IntN(200))/1000)
				if len(types) == 1 {
					c.Given = full(0.5 + float64(n)/100)
				}
			}
			ex.Candidates = append(ex.Candidates, c)
		}
		if n == 30 {
			// What was known of the session is not known any more.
			w.update(func(tx store.Tx) error {
				w.pipeline.Changed(key)
				return nil
			})
		}
		for _, e := range w.commit(ex).Episodes {
			live[e.ID] = e
		}
		if excess := len(live) - quota; excess > 0 {
			rooms++
			archive(live, excess+slack)
		}
		if diff := gocmp.Diff(slices.Sorted(maps.Keys(live)), w.liveItems(3*quota)); diff != "" {
			t.Fatalf("exchange %d: live items\n%s", n, diff)
		}
	}
	if l.rooms != rooms || l.looks == 0 || l.looks > rooms/2 {
		t.Errorf("made room %d times, want %d, and looked %d times", l.rooms, rooms, l.looks)
	}
}

// What is archived so that not every exchange has to make room is a small part of the quota, and what matters most is not of it.
func TestRoomIsASmallPartOfTheQuota(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		for _, test := range []struct{ quota, left int }{{1, 1}, {15, 15}, {16, 15}, {200, 188}} {
			w := open(commit.Config{Selection: memory.Selection{Quota: memory.Quota{Session: int64(test.quota)}}})
			ex := talk("a", "b")
			for i := range test.quota {
				ex.Candidates = append(ex.Candidates, memory.Candidate{Type: memory.Event, Text: fmt.Sprint("event ", i), Given: full(0.5)})
			}
			w.commit(ex)
			if got := len(w.liveItems(1000)); got != test.quota {
				t.Errorf("quota %d: %d are live before there are too many", test.quota, got)
			}
			ex = talk("c", "d")
			ex.Candidates = []memory.Candidate{{Type: memory.Event, Text: "what matters most", Given: full(1)}}
			most := w.commit(ex).Episodes[0].ID
			if live := w.liveItems(1000); len(live) != test.left || !slices.Contains(live, most) {
				t.Errorf("quota %d: %d are live, want %d, what matters most among them: %t", test.quota, len(live), test.left, slices.Contains(live, most))
			}
		}
	})
}

// archive takes out the n least important items that may go.
func archive(live map[string]memory.Episode, n int) {
	var ids []string
	for id, e := range live {
		if e.Type != memory.UserData {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(live[a].Importance, live[b].Importance), cmp.Compare(a, b))
	})
	for _, id := range ids[:n] {
		delete(live, id)
	}
}

// liveItems are the ids of what is remembered and not archived, in order.
func (w *world) liveItems(limit int) (ids []string) {
	w.Helper()
	w.view(func(tx store.Tx, info turn.SessionInfo) error {
		rows, err := tx.Memory().Items(w.Context(), memory.Filter{Tenant: key.Tenant, Segment: info.Segment, Limit: limit, Now: tx.Now()})
		for i := range rows {
			ids = append(ids, rows[i].ID)
		}
		return err
	})
	slices.Sort(ids)
	return ids
}
