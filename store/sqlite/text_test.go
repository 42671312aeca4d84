package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
	"github.com/turnstone-dev/turnstone/turn"
)

func mark(t testing.TB, s store.Store, k turn.Key) (through, head int64) {
	t.Helper()
	err := s.View(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), k)
		if err != nil {
			return err
		}
		head = info.Head
		through, err = tx.Log().TextMark(t.Context(), k.Tenant, info.Segment)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return through, head
}

func TestTheIndexIsFilledInTheBackground(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	keys := []turn.Key{create(t, s, key("a")).Key, create(t, s, key("b")).Key}
	for i := range 300 {
		mustSay(t, s, keys[i%2], fmt.Sprintf("common word%d", i))
		if i == 0 {
			if through, _ := mark(t, s, keys[0]); through != 0 {
				t.Error("an append waited for the index")
			}
		}
	}
	for _, k := range keys {
		eventually(t, "indexing", func() bool {
			through, head := mark(t, s, k)
			return through == head
		})
	}
	if n := len(search(t, s, keys[0], "common")); n != 100 { // a page
		t.Errorf("%d hits", n)
	}
	if n := len(search(t, s, keys[0], "word299")); n != 0 {
		t.Error("a turn of another session was found")
	}
	if n := len(search(t, s, keys[1], "word299 commonly")); n != 1 {
		t.Errorf("%d hits", n)
	}
}

// What was not indexed when a process ended is, in the next one that stays for a while.
func TestWhatWasLeftBehindIsIndexed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	k := create(t, s, key("s")).Key
	for range 10 {
		mustSay(t, s, k, "left behind")
	}
	closed(t, s)
	rawSQL(t, path, `DELETE FROM text_marks; INSERT INTO turn_text (turn_text) VALUES ('delete-all')`)
	again := open(t, path, sqlite.Config{})
	if through, _ := mark(t, again, k); through != 0 {
		t.Fatalf("the mark is %d", through)
	}
	if n := len(search(t, again, k, "left")); n != 10 {
		t.Errorf("%d hits without the index", n)
	}
	eventually(t, "indexing", func() bool {
		through, head := mark(t, again, k)
		return through == head
	})
	if n := len(search(t, again, k, "left")); n != 10 {
		t.Errorf("%d hits", n)
	}
}

// A process that runs for a moment indexes what it wrote before it ends, unless that is much.
// A process that runs for a moment indexes what it wrote before it ends, each time.
func TestCloseIndexesASmallRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	for turns := int64(1); turns <= 10; turns++ {
		s := open(t, path, sqlite.Config{})
		s.GiveClose(time.Minute)
		k, err := ensure(t.Context(), s, key("s"))
		if err != nil {
			t.Fatal(err)
		}
		mustSay(t, s, k.Key, "short visit")
		closed(t, s)
		c, err := lite.Open(path, lite.ReadWrite)
		if err != nil {
			t.Fatal(err)
		}
		q := c.Prepare(`SELECT through_seq FROM text_marks`)
		if there, err := q.Step(); err != nil || !there || q.ReadInt() != turns {
			t.Errorf("after visit %d the mark is not there: %v", turns, err)
		}
		q.Close()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATurnWithoutTermsMovesTheMark(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	mustSay(t, s, k, "…!")
	mustSay(t, s, k, "?")
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	if through, _ := mark(t, s, k); through != 2 {
		t.Errorf("the mark is %d", through)
	}
}

// Texts that look like the names and operators the index uses are only texts.
func TestTermsThatLookLikeSyntax(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	one, two := create(t, s, key("one")), create(t, s, key("two"))
	for _, text := range []string{"_2", "AND OR NOT NEAR", `"quoted" * ^ : -`, "terms:x", "2"} {
		mustSay(t, s, one.Key, text)
	}
	mustSay(t, s, two.Key, "something else")
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"and": 1, "AND OR": 1, "near": 1, `"quoted"`: 1, "2": 2, "_2": 2, "x": 1, "else": 0} {
		if n := len(search(t, s, one.Key, text)); n != want {
			t.Errorf("%q: %d hits, want %d", text, n, want)
		}
	}
	if n := len(search(t, s, two.Key, "2")); n != 0 {
		t.Errorf("%d turns of another session", n)
	}
}

// A piece is small however long the turns are, and all of them are indexed.
func TestLongTurnsAreIndexedInPieces(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	k := create(t, s, key("s")).Key
	for i := range 6 {
		mustSay(t, s, k, strings.Repeat("filler ", 30_000)+fmt.Sprintf("end%d", i))
	}
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	if through, _ := mark(t, s, k); through != 6 {
		t.Errorf("the mark is %d", through)
	}
	for i := range 6 {
		if n := len(search(t, s, k, fmt.Sprintf("end%d", i))); n != 1 {
			t.Errorf("end%d: %d hits", i, n)
		}
	}
}

// A search in a short session does not look at the turns of a long one.
func TestASearchLooksAtItsSessionOnly(t *testing.T) {
	s := openNew(t, sqlite.Config{})
	short, long := create(t, s, key("short")).Key, create(t, s, key("long")).Key
	mustSay(t, s, short, "common")
	sayMany(t, s, long, "common", 2000)
	if err := s.IndexText(t.Context()); err != nil {
		t.Fatal(err)
	}
	looks := func(k turn.Key) int64 {
		q, err := turn.Query{Text: "common", Limit: 10_000}.Compile()
		if err != nil {
			t.Fatal(err)
		}
		ctx := &countedContext{Context: t.Context()}
		err = s.View(ctx, func(tx store.Tx) error {
			info, err := tx.Log().Session(ctx, k)
			if err != nil {
				return err
			}
			_, err = q.Run(ctx, tx.Log(), info)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return ctx.looks.Load()
	}
	if n := looks(short); n > looks(long)/4 {
		t.Errorf("%d looks for the short session, %d for the long one", n, looks(long))
	}
}

// sayMany appends in one update.
func sayMany(t testing.TB, s store.Store, k turn.Key, text string, n int) {
	t.Helper()
	err := s.Update(t.Context(), func(tx store.Tx) error {
		for range n {
			sealed, err := seal(turn.User, turn.Text{Text: text})
			if err != nil {
				return err
			}
			if _, err := turn.Append(t.Context(), tx.Log(), k, tx.Now(), sealed); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Two processes may be at the same work; a turn is added to the index once.
func TestTheSlowerOfTwoIndexersAddsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shared.db")
	a, b := open(t, path, sqlite.Config{}), open(t, path, sqlite.Config{})
	k := create(t, a, key("s")).Key
	sayMany(t, a, k, "twice", 20)
	late, err := a.IndexSlowly(t.Context(), func() error { return b.IndexText(t.Context()) })
	if err != nil {
		t.Fatal(err)
	}
	if !late {
		t.Error("it does not know that it was late")
	}
	if n := len(search(t, a, k, "twice")); n != 20 {
		t.Errorf("%d hits", n)
	}
	if problems, err := a.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}
