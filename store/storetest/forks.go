package storetest

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func (w *world) tryFork(parent turn.Key, at int64, child turn.SessionInfo) (info turn.SessionInfo, err error) {
	err = w.Update(w.ctx(), func(tx store.Tx) (err error) {
		info, err = turn.Fork(w.ctx(), tx.Log(), parent, at, child, tx.Now())
		return err
	})
	return info, err
}

func (w *world) fork(parent turn.Key, at int64, child turn.Key) turn.SessionInfo {
	w.Helper()
	info, err := w.tryFork(parent, at, turn.SessionInfo{Key: child})
	if err != nil {
		w.Fatalf("fork %v at %d: %v", parent, at, err)
	}
	return info
}

func testForks(t *testing.T, w *world) {
	texts := func(k turn.Key) (all []string) {
		for i, u := range w.log(k) {
			if u.Session != k.Session || u.Seq != int64(i+1) {
				t.Errorf("turn %d of %s says session %s, seq %d", i+1, k.Session, u.Session, u.Seq)
			}
			all = append(all, u.Content.Searchable())
		}
		return all
	}
	user := func(text string) turn.Draft { return said(turn.User, text) }

	w.run("a fork of a fork of a fork reads its own path, and siblings diverge", func(t *testing.T) {
		root, child, grand, sibling, great := w.key("root"), w.key("child"), w.key("grand"), w.key("sibling"), w.key("great")
		w.create(root)
		w.append(root, user("r1"), user("r2"), user("r3"), user("r4"))
		w.fork(root, 3, child)
		w.append(child, user("c4"), user("c5"))
		w.append(root, user("r5"))
		w.fork(child, 4, grand)
		w.fork(child, 5, sibling)
		w.append(grand, user("g5"))
		w.append(sibling, user("s6"))
		w.append(child, user("c6"))
		w.fork(grand, 5, great)
		w.append(great, user("gg6"))

		same(t, "root", texts(root), []string{"r1", "r2", "r3", "r4", "r5"})
		same(t, "child", texts(child), []string{"r1", "r2", "r3", "c4", "c5", "c6"})
		same(t, "grandchild", texts(grand), []string{"r1", "r2", "r3", "c4", "g5"})
		same(t, "sibling", texts(sibling), []string{"r1", "r2", "r3", "c4", "c5", "s6"})
		same(t, "great-grandchild", texts(great), []string{"r1", "r2", "r3", "c4", "g5", "gg6"})

		info := w.session(great)
		same(t, "parent", info.Parent, "grand")
		same(t, "fork point", info.ForkSeq, int64(5))
		same(t, "spans", info.Inherited, []turn.Span{
			{Segment: w.session(root).Segment, From: 1, To: 3},
			{Segment: w.session(child).Segment, From: 4, To: 4},
			{Segment: w.session(grand).Segment, From: 5, To: 5},
		})
		same(t, "turns are shared, not copied", w.log(great)[0].ID, w.log(root)[0].ID)
		w.view(func(tx store.Tx) error {
			list, err := tx.Log().Sessions(w.ctx(), turn.SessionFilter{Tenant: w.tenant, Limit: 1})
			same(t, "listed", list, []turn.SessionInfo{info})
			return err
		})
	})

	w.run("a fork point inside the inherited part skips the sessions after it", func(t *testing.T) {
		w.create(w.key("a"))
		w.append(w.key("a"), says(4)...)
		w.fork(w.key("a"), 4, w.key("b"))
		w.append(w.key("b"), user("b5"))
		info := w.fork(w.key("b"), 2, w.key("c"))
		same(t, "spans", info.Inherited, []turn.Span{{Segment: w.session(w.key("a")).Segment, From: 1, To: 2}})
		w.append(w.key("c"), user("c3"))
		same(t, "texts", texts(w.key("c")), []string{"turn 1", "turn 2", "c3"})
	})

	w.run("a fork of nothing shares nothing", func(t *testing.T) {
		w.create(w.key("empty"))
		info := w.fork(w.key("empty"), 0, w.key("of-empty"))
		if len(info.Inherited) != 0 || info.Head != 0 {
			t.Errorf("inherited %v, head %d", info.Inherited, info.Head)
		}
		same(t, "seqs", seqs(w.append(w.key("of-empty"), says(1)...)), []int64{1})
		w.append(w.key("empty"), says(3)...)
		info = w.fork(w.key("empty"), 0, w.key("of-start"))
		same(t, "spans", info.Inherited, []turn.Span(nil))
	})

	w.run("a child takes what it does not say from its parent", func(t *testing.T) {
		parent := blank(w.key("described"), noon)
		parent.User, parent.Title, parent.Model, parent.Mode = "ana", "title", "m", "chat"
		w.update(func(tx store.Tx) error {
			_, err := tx.Log().InsertSession(w.ctx(), parent)
			return err
		})
		info, err := w.tryFork(parent.Key, 0, turn.SessionInfo{Key: w.key("like-it"), Title: "own"})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "described", []string{info.User, info.Title, info.Model, info.Mode}, []string{"ana", "own", "m", "chat"})
		same(t, "stored", w.session(info.Key), info)
	})

	w.run("spans that were handed in or out are the caller's", func(t *testing.T) {
		info := blank(w.key("spans"), noon)
		info.Parent, info.ForkSeq, info.Head = "gone", 2, 2
		want := []turn.Span{{Segment: 1 << 40, From: 1, To: 2}}
		info.Inherited = slices.Clone(want)
		w.update(func(tx store.Tx) error {
			_, err := tx.Log().InsertSession(w.ctx(), info)
			info.Inherited[0].To = 99
			return err
		})
		w.session(info.Key).Inherited[0].To = 99
		w.view(func(tx store.Tx) error {
			list, err := tx.Log().Sessions(w.ctx(), turn.SessionFilter{Tenant: w.tenant, Limit: 1})
			if err == nil {
				same(t, "listed", list[0].Inherited, want)
				list[0].Inherited[0].To = 99
			}
			return err
		})
		same(t, "spans", w.session(info.Key).Inherited, want)
	})

	w.run("refused: no parent, no such turn, a taken name", func(t *testing.T) {
		k := w.create(w.key("parent")).Key
		w.append(k, says(2)...)
		_, err := w.tryFork(w.key("nobody"), 0, turn.SessionInfo{Key: w.key("x")})
		is(t, "no parent", err, turn.ErrNotFound)
		for _, at := range []int64{-1, 3} {
			_, err = w.tryFork(k, at, turn.SessionInfo{Key: w.key("x")})
			refused(t, "no such turn", err, "at")
		}
		_, err = w.tryFork(k, 1, turn.SessionInfo{Key: k})
		is(t, "taken name", err, turn.ErrExists)
	})

	w.run("a fork point inside a unit is refused", func(t *testing.T) {
		k := w.create(w.key("unit")).Key
		w.append(k, user("go"), called("a", "b"), returned("a"), user("and?"), returned("b"), user("fine"), called("c"), user("waiting"))
		allowed := map[int64]bool{0: true, 1: true, 5: true, 6: true}
		for at := range int64(9) {
			child := turn.SessionInfo{Key: w.key("at-" + string(rune('0'+at)))}
			_, err := w.tryFork(k, at, child)
			if allowed[at] {
				if err != nil {
					t.Errorf("fork at %d: %v", at, err)
				}
				continue
			}
			refused(t, "fork inside a unit", err, "at")
		}
		// The child of a finished unit may use its ids anew.
		w.append(w.key("at-6"), called("a"), returned("a"))
	})

	w.run("a fork point inside an inherited unit is refused too", func(t *testing.T) {
		k := w.create(w.key("old-unit")).Key
		w.append(k, user("go"), called("a"), returned("a"))
		w.fork(k, 3, w.key("heir"))
		w.append(w.key("heir"), user("on"))
		_, err := w.tryFork(w.key("heir"), 2, turn.SessionInfo{Key: w.key("x")})
		refused(t, "fork inside a unit", err, "at")
	})
}

func testBookmarks(t *testing.T, w *world) {
	k, other := w.create(w.key("marked")).Key, w.create(w.key("other")).Key
	mark := func(k turn.Key, b turn.Bookmark) error {
		return w.Update(w.ctx(), func(tx store.Tx) error { return tx.Log().InsertBookmark(w.ctx(), k, b) })
	}
	list := func(k turn.Key) (marks []turn.Bookmark) {
		w.view(func(tx store.Tx) (err error) {
			marks, err = tx.Log().Bookmarks(w.ctx(), k)
			return err
		})
		return marks
	}
	// By name means by bytes: upper case before lower, accents last, on every store.
	want := []turn.Bookmark{
		{Name: "Zebra", Seq: 3, At: noon}, {Name: "_x", Seq: 0, At: noon}, {Name: "a", Seq: 2, At: noon.Add(1000)},
		{Name: "a b", Seq: 1, At: noon}, {Name: "apple", Seq: 1, At: noon}, {Name: "zebra", Seq: 3, At: noon}, {Name: "émile", Seq: 3, At: noon},
	}
	for _, i := range []int{4, 0, 6, 2, 5, 3, 1} {
		if err := mark(k, want[i]); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "by name", list(k), want)

	w.run("a taken name is ErrExists and the bookmark does not move", func(t *testing.T) {
		is(t, "second", mark(k, turn.Bookmark{Name: "apple", Seq: 3, At: noon}), turn.ErrExists)
		same(t, "bookmarks", list(k), want)
	})

	w.run("a bookmark belongs to its session", func(t *testing.T) {
		if err := mark(other, turn.Bookmark{Name: "apple", Seq: 0, At: noon}); err != nil {
			t.Fatal(err)
		}
		if got := list(w.elsewhere("else", "marked")); len(got) > 0 {
			t.Errorf("another tenant sees %v", got)
		}
		if n := len(list(other)); n != 1 {
			t.Errorf("%d bookmarks in the other session, want 1", n)
		}
	})
}
