package storetest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testText(t *testing.T, w *world) {
	find := func(k turn.Key, text string) []int64 {
		return seqs(w.query(k, turn.Query{Text: text, Limit: 1000}).Turns)
	}
	index := func() {
		t.Helper()
		if err := w.IndexText(w.ctx()); err != nil {
			t.Fatal(err)
		}
	}

	w.run("a search right after an append finds it, however far the index is", func(t *testing.T) {
		k := w.create(w.key("fresh")).Key
		var want []int64
		for i := range 30 {
			want = append(want, w.append(k, said(turn.User, fmt.Sprintf("needle number %d", i)))[0].Seq)
			w.append(k, said(turn.Agent, "hay"))
			same(t, "needles", find(k, "needles"), want)
			if i%10 == 5 {
				index()
				same(t, "indexed needles", find(k, "needles"), want)
			}
		}
	})

	w.run("the mark never runs ahead and IndexText brings it to the head", func(t *testing.T) {
		k := w.create(w.key("mark")).Key
		w.append(k, said(turn.User, "word"), said(turn.User, "..."), said(turn.User, "!!!"))
		index()
		info := w.session(k)
		var mark int64
		w.view(func(tx store.Tx) (err error) {
			mark, err = tx.Log().TextMark(w.ctx(), k.Tenant, info.Segment)
			return err
		})
		// A store without an index has no mark anywhere; one that has an index must count turns
		// without a single word too.
		if mark != info.Head && mark != 0 {
			t.Errorf("mark %d with the head at %d", mark, info.Head)
		}
		w.append(k, said(turn.User, "word"))
		same(t, "words", find(k, "word"), []int64{1, 4})
	})

	w.run("hits are whole terms of their own session and tenant, in order, up to a limit", func(t *testing.T) {
		other := w.elsewhere("other", "hits")
		for _, k := range []turn.Key{w.key("hits"), w.key("hits-2"), other} {
			w.create(k)
			for range 10 {
				w.append(k, said(turn.User, "alpha beta"), said(turn.Agent, "alphabet beta"), said(turn.User, "alpha"))
			}
		}
		index()
		info := w.session(w.key("hits"))
		for _, c := range []struct {
			rule  string
			span  turn.Span
			text  string
			f     turn.RowFilter
			limit int
			want  []int64
		}{
			{"both terms", turn.Span{From: 1, To: 9}, "beta alpha", turn.RowFilter{}, 99, []int64{1, 4, 7}},
			{"a limit", turn.Span{From: 1, To: 30}, "alpha", turn.RowFilter{}, 3, []int64{1, 3, 4}},
			{"inside the span", turn.Span{From: 4, To: 6}, "alpha", turn.RowFilter{}, 99, []int64{4, 6}},
			{"that pass the filter", turn.Span{From: 1, To: 6}, "beta", turn.RowFilter{Role: turn.Agent}, 99, []int64{2, 5}},
			{"nowhere", turn.Span{From: 1, To: 30}, "gamma", turn.RowFilter{}, 99, []int64{}},
		} {
			c.span.Segment = info.Segment
			w.view(func(tx store.Tx) error {
				mark, err := tx.Log().TextMark(w.ctx(), info.Tenant, info.Segment)
				if err != nil || mark == 0 {
					return err
				}
				hits, err := tx.Log().TextHits(w.ctx(), info.Tenant, c.span, words.Set(c.text), c.f, c.limit)
				same(t, c.rule, seqs(hits), c.want)
				return err
			})
		}
	})

	w.run("a long text is found by its last word", func(t *testing.T) {
		k := w.create(w.key("long")).Key
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, "w%d ", i)
		}
		w.append(k, said(turn.User, b.String()+"finally"), said(turn.User, "short"))
		same(t, "right away", find(k, "finally w19999"), []int64{1})
		index()
		same(t, "indexed", find(k, "finally w19999"), []int64{1})
	})

	w.run("a rolled back turn is never found", func(t *testing.T) {
		k := w.create(w.key("ghost")).Key
		w.append(k, said(turn.User, "real"))
		_, err := w.try(k, said(turn.User, "ghost"), returned("nothing"))
		refused(t, "batch", err, "content.call_id")
		index()
		same(t, "ghosts", find(k, "ghost"), []int64{})
		w.append(k, said(turn.User, "ghost"))
		index()
		same(t, "the real one", find(k, "ghost"), []int64{2})
	})

	w.run("searches miss nothing while writers append and the index is filled", func(t *testing.T) {
		k := w.create(w.key("busy")).Key
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 10 {
					if _, err := w.try(k, said(turn.User, "busy bee"), said(turn.Agent, "quiet")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		stop := make(chan struct{})
		var indexing sync.WaitGroup
		indexing.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := w.IndexText(w.ctx()); err != nil {
					t.Error(err)
					return
				}
			}
		})
		for range 30 {
			head := w.session(k).Head
			if head == 0 {
				continue
			}
			page := w.query(k, turn.Query{Text: "bees", Limit: 1000, To: head})
			if int64(len(page.Turns)) != head/2 {
				t.Errorf("%d found up to turn %d, want %d", len(page.Turns), head, head/2)
			}
		}
		all.Wait()
		close(stop)
		indexing.Wait()
		if n := len(find(k, "bee")); n != 40 {
			t.Errorf("%d found at the end, want 40", n)
		}
	})
}

func testCursors(t *testing.T, w *world) {
	k := w.create(w.key("paged")).Key
	w.append(k, says(20)...)

	w.run("pages stay what they were while writers append", func(t *testing.T) {
		stop, stopped := make(chan struct{}), make(chan error, 1)
		go func() {
			for {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if _, err := w.try(k, said(turn.User, "turn of a writer"), said(turn.Agent, "no")); err != nil {
					stopped <- err
					return
				}
			}
		}()
		type asked struct {
			q    turn.Query
			page turn.Page
		}
		var pages []asked
		var got []int64
		q := turn.Query{Text: "turns", Role: turn.User, Limit: 7}
		for len(pages) < 12 {
			page := w.query(k, q)
			if page.Next == 0 {
				continue // the writer is slower than the reader: ask again
			}
			pages = append(pages, asked{q, page})
			got = append(got, seqs(page.Turns)...)
			q.After = page.Next
		}
		close(stop)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		for _, p := range pages {
			same(t, "page asked again", w.query(k, p.q), p.page)
		}
		all := w.query(k, turn.Query{Text: "turns", Role: turn.User, Limit: 10_000})
		same(t, "pages together", got, seqs(all.Turns)[:len(got)])
	})

	w.run("sessions come once each while others are made", func(t *testing.T) {
		for i := range 9 {
			w.create(w.key(fmt.Sprintf("listed-%d", i)))
		}
		seen := make(map[string]int)
		f := turn.SessionFilter{Tenant: w.tenant, Limit: 2}
		for i := 0; ; i++ {
			var page []turn.SessionInfo
			w.view(func(tx store.Tx) (err error) {
				page, err = tx.Log().Sessions(w.ctx(), f)
				return err
			})
			if len(page) == 0 {
				break
			}
			for _, s := range page {
				seen[s.Session]++
			}
			f.Before = page[len(page)-1].Segment
			w.create(w.key(fmt.Sprintf("meanwhile-%d", i)))
			w.append(w.key("listed-4"), says(1)...) // activity does not reorder
		}
		want := map[string]int{"paged": 1}
		for i := range 9 {
			want[fmt.Sprintf("listed-%d", i)] = 1
		}
		same(t, "sessions", seen, want)
	})
}
