package front_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// Many calls in a row got no reply, and then somebody else spoke in the session. Who has more to say goes on in a fork behind the
// last reply, however many they were.
func TestManyFailuresWhileAnotherSpeaks(t *testing.T) {
	for _, fails := range []int{1, 8, 20} {
		t.Run(fmt.Sprint(fails), func(t *testing.T) {
			script := []answer{says("first")}
			for range fails {
				script = append(script, answer{status: http.StatusServiceUnavailable, body: `{"error":"loading"}`})
			}
			w := newWorld(t, newScripted(t, front.Ollama, append(script, says("fine"))...))
			chat := w.talk(front.Ollama, true)
			id := chat.say("one").header.Get(front.SessionHeader)
			want := []string{"user: one", "agent: first"}
			for i := range fails {
				chat.send(user(fmt.Sprint(i)))
				want = append(want, fmt.Sprint("user: ", i))
			}
			session, err := w.engine.Find(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := session.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "somebody else"}}); err != nil {
				t.Fatal(err)
			}
			fork := chat.say("more").header.Get(front.SessionHeader)
			want = append(want, "user: more", "agent: fine")
			if diff := cmp.Diff(want, w.log(fork)); diff != "" {
				t.Error(diff)
			}
			made, err := w.engine.Find(t.Context(), fork)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := made.Info(t.Context()); err != nil || info.Parent != id {
				t.Errorf("it goes on in a session whose parent is %q, not %q: %v", info.Parent, id, err)
			}
		})
	}
}

// reads counts the turns that are read.
type reads struct {
	store.Store
	count atomic.Int64
}

func (r *reads) View(ctx context.Context, fn func(store.Tx) error) error {
	return r.Store.View(ctx, func(tx store.Tx) error { return fn(readingTx{tx, r}) })
}

type readingTx struct {
	store.Tx
	reads *reads
}

func (t readingTx) Log() turn.Rows { return readingRows{t.Tx.Log(), t.reads} }

type readingRows struct {
	turn.Rows
	reads *reads
}

func (r readingRows) Scan(ctx context.Context, tenant string, s turn.Span, f turn.RowFilter, limit int) ([]turn.Turn, error) {
	turns, err := r.Rows.Scan(ctx, tenant, s, f, limit)
	r.reads.count.Add(int64(len(turns)))
	return turns, err
}

// A conversation that begins as others do is told apart from them by their first turns, however long they are.
func TestEqualOpeningsAreReadBoundedly(t *testing.T) {
	st := &reads{Store: openStore(t, filepath.Join(t.TempDir(), "reads.db"))}
	eng := newEngine(t, st, nil)
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	upstream := newScripted(t, front.Ollama)
	upstream.oblige = func(*asked) answer { return says("Hello.") }
	w := &world{T: t, upstream: upstream, engine: eng, url: serve(t, eng, upstream)}
	cost := map[string][]int64{}
	for _, exchanges := range []int{2, 12} {
		for range 4 {
			old := w.talk(front.Ollama, true)
			old.say("hi")
			for range exchanges - 1 {
				old.say("and?")
			}
		}
		for name, history := range map[string][]m{"opening": nil, "other reply": {user("hi"), assistant("Hm.")}} {
			other := w.talk(front.Ollama, true)
			other.url, other.history = serve(t, eng, upstream), history
			before := st.count.Load()
			other.say(map[string]string{"opening": "hi", "other reply": "more"}[name])
			cost[name] = append(cost[name], st.count.Load()-before)
		}
	}
	for name, most := range map[string]int64{"opening": 8, "other reply": 60} { // one of the others is looked at, or each
		if read := cost[name]; read[1] > most {
			t.Errorf("%s: %d turns are read beside short sessions that begin alike, and beside long ones %d, more than %d", name, read[0], read[1], most)
		}
	}
}
