package front_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/server/front"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// logs are all sessions as they were made.
func (w *world) logs() [][]string {
	w.Helper()
	var all [][]string
	for _, id := range w.sessions() {
		all = append(all, w.log(id))
	}
	return all
}

// Clients say the same words as others do. Each goes on with its own conversation, by what it is called or whose it is.
func TestConversationsAreKeptApart(t *testing.T) {
	named := func(name string) func(*talk) {
		return func(chat *talk) { chat.header = http.Header{front.SessionHeader: {name}} }
	}
	of := func(user string) func(*talk) { return func(chat *talk) { chat.more = m{"user": user} } }
	nobody := func(*talk) {}
	for name, test := range map[string]struct {
		first, second func(*talk)
		want          [][]string
	}{
		"one of them is named":   {named("mine"), nobody, nil},
		"the other one is named": {nobody, named("mine"), nil},
		"both are named":         {named("mine"), named("yours"), nil},
		"one of them has a user": {of("alice"), nobody, nil},
		"the other one has one":  {nobody, of("alice"), nil},
		"both have users":        {of("alice"), of("bob"), nil},
		"a user and a name":      {of("alice"), named("alice"), nil},
		"the same user": {
			of("alice"), of("alice"), [][]string{{"user: hello", "agent: hi", "user: more", "agent: two", "user: and more", "agent: three"}},
		},
		"the same name": {
			named("mine"), named("mine"), [][]string{{"user: hello", "agent: hi", "user: more", "agent: two", "user: and more", "agent: three"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, replica := range []bool{false, true} { // what one knows, and what stands in the store
				w := newWorld(t, newScripted(t, front.OpenAI, says("hi"), says("two"), says("three")))
				first := w.talk(front.OpenAI, true)
				test.first(first)
				first.say("hello")
				second := w.talk(front.OpenAI, false)
				test.second(second)
				if replica {
					second.url = serve(t, w.engine, w.upstream)
				}
				second.history = []m{user("hello"), assistant("hi")}
				second.say("more")
				second.say("and more")
				want := test.want
				if want == nil {
					want = [][]string{{"user: hello", "agent: hi"}, {"user: hello", "agent: hi", "user: more", "agent: two", "user: and more", "agent: three"}}
				}
				if diff := cmp.Diff(want, w.logs()); diff != "" {
					t.Errorf("replica %v: %s", replica, diff)
				}
			}
		})
	}
}

// Who is named in a session that began without a name goes on in it, as it was.
func TestNamedLater(t *testing.T) {
	w := newWorld(t, newScripted(t, front.Ollama, says("first"), says("second"), says("third"), says("fourth"), says("fifth")))
	chat := w.talk(front.Ollama, true)
	id := chat.say("one").header.Get(front.SessionHeader)
	chat.header.Set(front.SessionHeader, id)
	chat.say("two")
	chat.history = chat.history[:2]
	fork := chat.say("TWO").header.Get(front.SessionHeader)
	if fork == id {
		t.Fatal("what was changed is not forked")
	}
	// The fork was made under another name, and is called by its own now.
	chat.header.Set(front.SessionHeader, fork)
	if got := chat.say("three").header.Get(front.SessionHeader); got != fork {
		t.Errorf("it goes on in %s", got)
	}
	chat.history = chat.history[:4]
	if got := chat.say("THREE").header.Get(front.SessionHeader); got == fork {
		t.Error("what was changed in a fork is not forked")
	}
	want := [][]string{
		{"user: one", "agent: first", "user: two", "agent: second"},
		{"user: one", "agent: first", "user: TWO", "agent: third", "user: three", "agent: fourth"},
		{"user: one", "agent: first", "user: TWO", "agent: third", "user: THREE", "agent: fifth"},
	}
	if diff := cmp.Diff(want, w.logs()); diff != "" {
		t.Error(diff)
	}
}

// The user of OpenAI's API is the user of the session, forks included. Ollama's has none.
func TestUser(t *testing.T) {
	for name, test := range map[string]struct {
		api     front.Kind
		session string
		want    string
	}{
		"openai":        {front.OpenAI, "", "alice"},
		"openai, named": {front.OpenAI, "mine", "alice"},
		"ollama":        {front.Ollama, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newScripted(t, test.api, says("first"), says("other")))
			chat := w.talk(test.api, false)
			chat.more = m{"user": "alice"}
			if test.session != "" {
				chat.header.Set(front.SessionHeader, test.session)
			}
			chat.say("one")
			chat.history = chat.history[:0]
			chat.say("ONE")
			list, err := w.engine.Sessions(t.Context(), turn.SessionFilter{User: test.want})
			if err != nil || len(list) == 0 || list[0].User != test.want || len(list) != len(w.sessions()) {
				t.Errorf("%+v, %v", list, err)
			}
			if sent := w.upstream.last().raw; !strings.Contains(sent, `"user":"alice"`) {
				t.Errorf("the server is told %s", sent)
			}
		})
	}
	w := newWorld(t, newScripted(t, front.OpenAI))
	chat := w.talk(front.OpenAI, false)
	chat.more = m{"user": 7}
	if r := chat.send(user("hi")); r.status != http.StatusBadRequest || !strings.Contains(r.failure, "user") {
		t.Errorf("status %d: %s", r.status, r.body)
	}
}

// looks counts how often links are looked for.
type looks struct {
	store.Store
	count atomic.Int64
}

func (l *looks) View(ctx context.Context, fn func(store.Tx) error) error {
	return l.Store.View(ctx, func(tx store.Tx) error { return fn(lookingTx{tx, l}) })
}

type lookingTx struct {
	store.Tx
	looks *looks
}

func (t lookingTx) Chains() chain.Rows { return lookingRows{t.Tx.Chains(), t.looks} }

type lookingRows struct {
	chain.Rows
	looks *looks
}

func (r lookingRows) Linked(ctx context.Context, tenant string, hashes []chain.Hash) (int, error) {
	r.looks.count.Add(1)
	return r.Rows.Linked(ctx, tenant, hashes)
}

func (r lookingRows) Links(ctx context.Context, tenant string, h chain.Hash, limit int) ([]chain.Link, error) {
	r.looks.count.Add(1)
	return r.Rows.Links(ctx, tenant, h, limit)
}

// A history that nobody knows is looked for as often as a short one, however long it is.
func TestLongHistoryIsLookedForOnce(t *testing.T) {
	for name, header := range map[string]http.Header{"unnamed": {}, "named": {front.SessionHeader: {"mine"}}} {
		t.Run(name, func(t *testing.T) {
			st := &looks{Store: openStore(t, filepath.Join(t.TempDir(), "looks.db"))}
			eng := newEngine(t, st, nil)
			t.Cleanup(func() {
				if err := eng.Close(); err != nil {
					t.Error(err)
				}
			})
			upstream := newScripted(t, front.Ollama, says("first"), says("second"), says("third"))
			w := &world{T: t, upstream: upstream, engine: eng, url: serve(t, eng, upstream)}
			chat := w.talk(front.Ollama, false)
			chat.header = header
			var counts []int64
			for _, length := range []int{200, 400, 800} {
				chat.history = nil
				for i := range length / 2 {
					chat.history = append(chat.history, user(strconv.Itoa(length+i)), assistant("said elsewhere"))
				}
				before := st.count.Load()
				chat.say("and now?")
				counts = append(counts, st.count.Load()-before)
			}
			if counts[0] == 0 || counts[1] > 3*counts[0] || counts[2] != counts[1] {
				t.Errorf("looked %v times", counts)
			}
		})
	}
}

// A client that changes every reply before it sends it back is not looked for ever longer.
func TestChangedRepliesAreLookedForBoundedly(t *testing.T) {
	st := &looks{Store: openStore(t, filepath.Join(t.TempDir(), "looks.db"))}
	eng := newEngine(t, st, nil)
	t.Cleanup(func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
	upstream := newScripted(t, front.Ollama)
	upstream.oblige = func(*asked) answer { return says("a thought and a word") }
	w := &world{T: t, upstream: upstream, engine: eng, url: serve(t, eng, upstream)}
	chat := w.talk(front.Ollama, false)
	var counts []int64
	for i := range 40 {
		before := st.count.Load()
		chat.say(strconv.Itoa(i))
		chat.history[len(chat.history)-1] = assistant("a word")
		counts = append(counts, st.count.Load()-before)
	}
	if counts[1] == 0 || counts[39] != counts[20] {
		t.Errorf("looked %v times", counts)
	}
}
