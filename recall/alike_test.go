package recall_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// vocabulary is few words, so that they meet often.
var vocabulary = strings.Fields(`heron gull tern skua auk went gone see saw three 3 gate river bank? the of and it when
	bought buy port billing lunch April 2026 Lisbon kettle`)

func sentence(r *rand.Rand) string {
	text := make([]string, 1+r.IntN(9))
	for i := range text {
		text[i] = vocabulary[r.IntN(len(vocabulary))]
	}
	return strings.Join(text, " ")
}

// fill writes the same to every store it is given: sessions, some of them forks, tool calls, summaries and
// memory. Part of it is indexed.
func fill(w *world, sessions, turns int) {
	r := rand.New(rand.NewPCG(1, 2))
	for s := range sessions {
		key := w.create(fmt.Sprintf("s%d", s), []string{"ann", "bob"}[s%2])
		for i := range turns {
			switch i % 9 {
			case 3:
				id := fmt.Sprintf("%d-%d", s, i)
				w.append(key,
					turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: id, Name: "look", Arguments: `"` + sentence(r) + `"`}}}},
					turn.Draft{Role: turn.System, Content: turn.Result{Name: "look", CallID: id, Status: turn.CallOK, Result: `"` + sentence(r) + `"`}})
			case 5:
				w.append(key, turn.Draft{Role: turn.System, Kind: turn.KindSummary, Covers: turn.Range{From: 1, To: 2}, Content: turn.Text{Text: sentence(r)}})
			case 7:
				w.remember(key, sentence(r), r.Float64())
			default:
				w.talk(key, []string{"user: ", "agent: "}[i%2]+sentence(r))
			}
		}
		w.clock.put(w.clock.now().AddDate(0, 0, 3))
		if s == sessions/2 {
			if err := w.IndexText(w.Context()); err != nil {
				w.Fatal(err)
			}
		}
		if s%4 == 1 {
			fork := turn.Key{Tenant: "acme", Session: fmt.Sprintf("f%d", s)}
			w.update(func(tx store.Tx) error {
				_, err := turn.Fork(w.Context(), tx.Log(), key, 3, turn.SessionInfo{Key: fork}, tx.Now())
				return err
			})
			w.talk(fork, "user: "+sentence(r), "agent: "+sentence(r))
		}
	}
}

// TestAllStoresFindTheSame asks every store the same, in the same words, whatever each has indexed: a few
// sessions, and more than are looked up one by one.
func TestAllStoresFindTheSame(t *testing.T) {
	for _, size := range []struct{ sessions, turns int }{{6, 30}, {80, 3}} {
		all := stores(t)
		for _, w := range all {
			fill(w, size.sessions, size.turns)
		}
		r := rand.New(rand.NewPCG(3, 4))
		found := 0
		for i := range 60 {
			q := recall.Query{
				Text: sentence(r), Scope: []recall.Scope{recall.OfSession, recall.OfUser, recall.OfTenant}[i%3], Limit: 1 + i,
				Exclude: []turn.Range{{From: int64(1 + i%7), To: int64(i % 11)}, {From: 20}},
			}
			key := turn.Key{Tenant: "acme", Session: []string{"s0", "f1", "s5"}[i%3]}
			if i == 40 {
				for _, w := range all {
					if err := w.IndexText(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			want := all["mem"].search(key, q)
			for _, name := range []string{"sqlite", "postgres"} {
				if diff := cmp.Diff(want, all[name].search(key, q), cmp.AllowUnexported(recall.Hit{})); diff != "" {
					t.Fatalf("%s finds something else than mem for %+v: %s", name, q, diff)
				}
			}
			found += len(want)
		}
		if found < 300 {
			t.Errorf("only %d hits to compare", found)
		}
	}
}

// TestMoreThanIsReadOfAWord has a word in more turns than are read of it: the newest count, a rare word finds
// its old turn all the same, and what is indexed does not matter.
func TestMoreThanIsReadOfAWord(t *testing.T) {
	const turns = 5000
	all := stores(t)
	for _, w := range all {
		key := w.create("main", "")
		for from := 0; from < turns; from += 500 {
			lines := make([]string, 500)
			for i := range lines {
				lines[i] = fmt.Sprintf("user: heron number %d", (from+i)%1000)
			}
			w.talk(key, lines...)
		}
		w.talk(w.create("other", ""), "user: heron walrus")
	}
	key := turn.Key{Tenant: "acme", Session: "main"}
	for _, indexed := range []bool{false, true} {
		for query, first := range map[string][]string{
			"which heron 7":           {"[turn 4008]", "[turn 3008]", "[turn 2008]", "[turn 1008]", "[turn 8]"},
			"which heron, the walrus": {"[turn 1 of session other]"},
		} {
			for name, w := range all {
				if indexed {
					if err := w.IndexText(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				got := w.cited(key, recall.Query{Text: query, Scope: recall.OfTenant})
				if diff := cmp.Diff(first, got[:len(first)]); diff != "" {
					t.Errorf("%s, %q: %s", name, query, diff)
				}
			}
		}
	}
}
