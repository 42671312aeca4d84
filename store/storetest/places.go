package storetest

import (
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testPlaces(t *testing.T, w *world) {
	// manySpans is more than a store would look up one by one.
	const manySpans = 80
	spans := make([]turn.Span, manySpans)
	for i := range spans {
		info := w.create(w.key(fmt.Sprintf("places-%d", i)))
		w.append(info.Key, said(turn.User, "alpha"), said(turn.Agent, "beta"), said(turn.User, "alpha beta"), said(turn.User, "alphabet"))
		spans[manySpans-1-i] = turn.Span{Segment: info.Segment, From: 1, To: 4}
	}
	theirs := w.create(w.elsewhere("other", "places"))
	w.append(theirs.Key, said(turn.User, "alpha"))
	if err := w.IndexText(w.ctx()); err != nil {
		t.Fatal(err)
	}
	tenant := w.key("x").Tenant
	places := func(spans []turn.Span, term string, limit int) (found []turn.Place, indexed bool) {
		w.view(func(tx store.Tx) error {
			tails, err := tx.Log().TextTails(w.ctx(), tenant, spans)
			if err != nil {
				return err
			}
			indexed = len(tails) == 0
			found, err = tx.Log().TextPlaces(w.ctx(), tenant, spans, words.Terms(term)[0], limit)
			return err
		})
		return found, indexed
	}
	both := func(spans ...turn.Span) (want []turn.Place) {
		for _, s := range spans {
			want = append(want, turn.Place{Segment: s.Segment, Seq: 3}, turn.Place{Segment: s.Segment, Seq: 1})
		}
		return want
	}

	w.run("places of a term, in the order of the spans, the newest first", func(t *testing.T) {
		part := spans[0]
		part.From = 2
		for _, c := range []struct {
			rule  string
			spans []turn.Span
			limit int
			want  []turn.Place
		}{
			{"one span", spans[:1], 99, both(spans[0])},
			{"a part of it", []turn.Span{part}, 99, both(spans[0])[:1]},
			{"three, up to a limit", []turn.Span{spans[2], spans[0], spans[1]}, 5, both(spans[2], spans[0], spans[1])[:5]},
			{"one that is empty", []turn.Span{{Segment: spans[0].Segment, From: 3, To: 2}, spans[1]}, 99, both(spans[1])},
			{"many", spans, 999, both(spans...)},
			{"a part of the first of many", append([]turn.Span{part}, spans[1:]...), 2, []turn.Place{both(part)[0], both(spans[1])[0]}},
			{"none", spans, 0, nil},
			{"not another tenant's", []turn.Span{{Segment: theirs.Segment, From: 1, To: 1}}, 9, nil},
		} {
			if found, indexed := places(c.spans, "alpha", c.limit); indexed {
				same(t, c.rule, append([]turn.Place{}, found...), append([]turn.Place{}, c.want...))
			}
		}
	})

	w.run("and of a term that is everywhere", func(t *testing.T) {
		const everywhere = 1100
		drafts := make([]turn.Draft, everywhere)
		for i := range drafts {
			drafts[i] = said(turn.User, "omega")
		}
		info := w.create(w.key("everywhere"))
		w.append(info.Key, drafts...)
		w.append(w.key("places-0"), said(turn.User, "omega"))
		if err := w.IndexText(w.ctx()); err != nil {
			t.Fatal(err)
		}
		first := w.session(w.key("places-0")).Segment
		long := turn.Span{Segment: info.Segment, From: 1, To: everywhere - 1}
		found, indexed := places([]turn.Span{{Segment: first, From: 1, To: 5}, {Segment: first + 1e6, From: 2, To: 1}, long}, "omega", 3)
		if indexed {
			same(t, "places", found, []turn.Place{{Segment: first, Seq: 5}, {Segment: long.Segment, Seq: long.To}, {Segment: long.Segment, Seq: long.To - 1}})
		}
		found, indexed = places([]turn.Span{long}, "omega", 2000)
		if indexed {
			same(t, "how many", len(found), everywhere-1)
		}
	})

	w.run("what is not indexed is a tail", func(t *testing.T) {
		empty := turn.Span{Segment: spans[0].Segment, From: 5, To: 4}
		fresh := w.create(w.key("tails"))
		w.append(fresh.Key, said(turn.User, "one"), said(turn.User, "two"))
		w.view(func(tx store.Tx) error {
			whole := turn.Span{Segment: fresh.Segment, From: 2, To: 2}
			tails, err := tx.Log().TextTails(w.ctx(), tenant, []turn.Span{empty, whole})
			if err != nil {
				return err
			}
			mark, err := tx.Log().TextMark(w.ctx(), tenant, fresh.Segment)
			if want := []turn.Span{whole}; mark < 2 {
				same(t, "tails", tails, want)
			}
			return err
		})
	})

	w.run("turns are read by their places, in the order of those", func(t *testing.T) {
		one, two := spans[0].Segment, spans[1].Segment
		for _, c := range []struct {
			rule   string
			places []turn.Place
			want   []string
		}{
			{"here and there", []turn.Place{{Segment: two, Seq: 3}, {Segment: one, Seq: 9}, {Segment: theirs.Segment, Seq: 1}, {Segment: one, Seq: 2}, {Segment: two, Seq: 1}},
				[]string{"false 3 alpha beta", "true 2 beta", "false 1 alpha"}},
			{"one after the other", []turn.Place{{Segment: one, Seq: 1}, {Segment: one, Seq: 2}, {Segment: one, Seq: 3}},
				[]string{"true 1 alpha", "true 2 beta", "true 3 alpha beta"}},
			{"from before the first to behind the last", []turn.Place{{Segment: one, Seq: 0}, {Segment: one, Seq: 1}, {Segment: one, Seq: 2}, {Segment: one, Seq: 3},
				{Segment: one, Seq: 4}, {Segment: one, Seq: 5}}, []string{"true 1 alpha", "true 2 beta", "true 3 alpha beta", "true 4 alphabet"}},
			{"not what is between", []turn.Place{{Segment: one, Seq: 1}, {Segment: one, Seq: 3}, {Segment: one, Seq: 4}},
				[]string{"true 1 alpha", "true 3 alpha beta", "true 4 alphabet"}},
			{"backwards", []turn.Place{{Segment: one, Seq: 3}, {Segment: one, Seq: 2}, {Segment: one, Seq: 1}},
				[]string{"true 3 alpha beta", "true 2 beta", "true 1 alpha"}},
			{"over to another segment", []turn.Place{{Segment: two, Seq: 2}, {Segment: one, Seq: 3}, {Segment: one, Seq: 4}},
				[]string{"false 2 beta", "true 3 alpha beta", "true 4 alphabet"}},
			{"twice", []turn.Place{{Segment: one, Seq: 2}, {Segment: one, Seq: 2}, {Segment: one, Seq: 3}, {Segment: one, Seq: 2}},
				[]string{"true 2 beta", "true 2 beta", "true 3 alpha beta", "true 2 beta"}},
			{"of another tenant", []turn.Place{{Segment: theirs.Segment, Seq: 1}, {Segment: theirs.Segment, Seq: 2}}, nil},
			{"none", nil, nil},
		} {
			var found []turn.Stored
			w.view(func(tx store.Tx) (err error) {
				found, err = tx.Log().TurnsAt(w.ctx(), tenant, c.places)
				return err
			})
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%t %d %s", f.Segment == one, f.Seq, f.Content.Searchable()))
			}
			same(t, c.rule, got, c.want)
		}
	})
}
