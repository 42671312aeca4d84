package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// entomb writes tombstones over turns of a session's own segment.
func (w *world) entomb(tx store.Tx, info turn.SessionInfo, seqs ...int64) (int, error) {
	turns, err := store.Rewritable("turns", store.Among{Segments: []int64{}})
	if err != nil {
		return 0, err
	}
	seq, content, key, meta := turns.Position("seq"), turns.Position("content"), turns.Position("idempotency_key"), turns.Position("meta")
	return tx.Forgetting().Rewrite(w.ctx(), info.Tenant, "turns", store.Among{Segments: []int64{info.Segment}}, func(row []any) (store.Verdict, error) {
		if !slices.Contains(seqs, row[seq].(int64)) {
			return store.Keep, nil
		}
		row[content], row[key], row[meta] = string(turn.AppendContent(nil, turn.Forgotten{})), nil, nil
		return store.Change, nil
	})
}

func testForgetting(t *testing.T, w *world) {
	find := func(k turn.Key, text string) []int64 {
		return seqs(w.query(k, turn.Query{Text: text, Limit: 100}).Turns)
	}

	w.run("a turn that was written over is found by nothing that it said", func(t *testing.T) {
		for name, indexed := range map[string]bool{"indexed": true, "not indexed yet": false} {
			k := w.create(w.key("words-" + strings.ReplaceAll(name, " ", "-"))).Key
			spoken := said(turn.User, "the zanzibar plan")
			spoken.IdempotencyKey, spoken.Meta = "zanzibar-1", turn.Meta{Tokens: 3, Model: "zanzibar"}
			first := w.append(k, spoken, said(turn.Agent, "zanzibar it is"))
			w.append(k, said(turn.User, "and the budget?"))
			if indexed {
				if err := w.IndexText(w.ctx()); err != nil {
					t.Fatal(err)
				}
			}
			info := w.session(k)
			w.update(func(tx store.Tx) error {
				n, err := w.entomb(tx, info, 1)
				if n != 1 {
					t.Errorf("%s: %d turns were rewritten, want 1", name, n)
				}
				return err
			})
			for _, again := range []string{"at once", "after indexing", "after scrubbing"} {
				same(t, name+": "+again+": the word", find(k, "zanzibar"), []int64{2})
				same(t, name+": "+again+": another word", find(k, "budgets"), []int64{3})
				switch again {
				case "at once":
					if err := w.IndexText(w.ctx()); err != nil {
						t.Fatal(err)
					}
				case "after indexing":
					if err := w.Scrub(w.ctx()); err != nil {
						t.Fatal(err)
					}
				}
			}
			want := first[0].Tombstone()
			same(t, name+": the tombstone", w.log(k)[0], want)
			if !want.Gone() || first[0].Gone() {
				t.Error("a tombstone is gone, and what was said is not")
			}
			// The key is free again.
			if got := w.append(k, spoken)[0]; got.Seq != 4 {
				t.Errorf("%s: its key still stands for turn %d", name, got.Seq)
			}
		}
	})

	w.run("rows go by their key, among those that are meant, and only of their tenant", func(t *testing.T) {
		other := w.create(w.elsewhere("apart", "rows")).Key
		k, beside := w.create(w.key("rows")).Key, w.create(w.key("beside")).Key
		for _, key := range []turn.Key{k, beside, other} {
			w.append(key, said(turn.User, "hello"))
			w.open(map[turn.Key]turn.OpenExchange{key: streamed(key.Session)})
		}
		before := w.session(other)
		w.update(func(tx store.Tx) error {
			var met [][]any
			n, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "drafts", store.Among{Sessions: []string{"rows", "nobody"}}, func(row []any) (store.Verdict, error) {
				met = append(met, slices.Clone(row[:2]))
				return store.Delete, nil
			})
			same(t, "rows that were met", met, [][]any{{w.tenant, "rows"}})
			if n != 1 {
				t.Errorf("%d rows were deleted, want 1", n)
			}
			return err
		})
		same(t, "the draft", w.exchange(k), turn.OpenExchange{})
		for _, key := range []turn.Key{beside, other} {
			same(t, "the draft of "+key.Session, w.exchange(key), streamed(key.Session))
		}
		same(t, "the session of another tenant", w.session(other), before)
	})

	w.run("of many rows only the first are met where there is a limit", func(t *testing.T) {
		var segments []int64
		for _, name := range []string{"limited", "unlimited"} {
			info := w.create(w.key(name))
			w.append(info.Key, said(turn.User, "one"), said(turn.User, "two"))
			segments = append(segments, info.Segment)
		}
		for limit, want := range map[int]int{0: 4, 1: 1, 3: 3, 4: 4, 9: 4} {
			w.view(func(tx store.Tx) error {
				met := 0
				_, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "turns", store.Among{Segments: segments, Limit: limit}, func([]any) (store.Verdict, error) {
					met++
					return store.Keep, nil
				})
				same(t, fmt.Sprintf("rows met of %d", limit), met, want)
				return err
			})
		}
		w.update(func(tx store.Tx) error {
			n, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "turns", store.Among{Segments: segments[:1], Limit: 1}, func(row []any) (store.Verdict, error) {
				same(t, "the seq of the first", row[2], any(int64(1)))
				return store.Delete, nil
			})
			same(t, "rows deleted", n, 1)
			return err
		})
	})

	w.run("a choice that names nothing chooses nothing, and all is chosen by name", func(t *testing.T) {
		w.append(w.create(w.key("chosen")).Key, said(turn.User, "hello"))
		before := w.dump()
		w.update(func(tx store.Tx) error {
			for name, among := range map[string]store.Among{"zero": {}, "segments": {Segments: []int64{}}, "sessions": {Sessions: []string{}}} {
				_, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "sessions", among, func(row []any) (store.Verdict, error) {
					t.Errorf("%s: met %v", name, row)
					return store.Delete, nil
				})
				if err != nil {
					return err
				}
			}
			met := 0
			_, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "sessions", store.Among{All: true}, func([]any) (store.Verdict, error) {
				met++
				return store.Keep, nil
			})
			if met == 0 {
				t.Error("all are none")
			}
			return err
		})
		same(t, "rows", w.dump(), before)
	})

	w.run("the segment of another tenant has no rows of this one", func(t *testing.T) {
		theirs := w.create(w.elsewhere("apart", "segment"))
		w.append(theirs.Key, said(turn.User, "hello"))
		w.intend(theirs.Tenant, theirs.Segment, intend("trip", 1, 1, true))
		before := w.dump()
		for _, table := range []string{"turns", "intentions"} {
			w.update(func(tx store.Tx) error {
				n, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, table, store.Among{Segments: []int64{theirs.Segment}}, func(row []any) (store.Verdict, error) {
					t.Errorf("%s: a row of another tenant was met: %v", table, row)
					return store.Delete, nil
				})
				if n != 0 {
					t.Errorf("%s: %d rows of another tenant were deleted", table, n)
				}
				return err
			})
		}
		same(t, "rows", w.dump(), before)
	})

	w.run("what changes nothing is no change", func(t *testing.T) {
		k := w.create(w.key("idle")).Key
		w.append(k, said(turn.User, "hello"))
		before := w.dump()
		w.update(func(tx store.Tx) error {
			n, err := tx.Forgetting().Rewrite(w.ctx(), w.tenant, "turns", store.Among{Segments: []int64{w.sessionIn(tx, k).Segment}}, func([]any) (store.Verdict, error) {
				return store.Change, nil
			})
			if n != 0 {
				t.Errorf("%d rows were rewritten", n)
			}
			return err
		})
		same(t, "rows", w.dump(), before)
	})

	w.run("a refused rewrite, and one whose update fails, leave everything as it was", func(t *testing.T) {
		k := w.create(w.key("refused")).Key
		w.append(k, said(turn.User, "hello"), said(turn.User, "again"))
		info, before, boom := w.session(k), w.dump(), errors.New("boom")
		here := store.Among{Segments: []int64{info.Segment}}
		for name, rewrite := range map[string]func(store.Forgetting) error{
			"an unknown table": func(f store.Forgetting) error {
				_, err := f.Rewrite(w.ctx(), w.tenant, "thoughts", store.Among{}, func([]any) (store.Verdict, error) { return store.Delete, nil })
				return err
			},
			"a column that is not there": func(f store.Forgetting) error {
				_, err := f.Rewrite(w.ctx(), w.tenant, "leases", here, func([]any) (store.Verdict, error) { return store.Delete, nil })
				return err
			},
			"turns of no segment": func(f store.Forgetting) error {
				_, err := f.Rewrite(w.ctx(), w.tenant, "turns", store.Among{All: true}, func([]any) (store.Verdict, error) { return store.Delete, nil })
				return err
			},
			"another key": func(f store.Forgetting) error {
				_, err := f.Rewrite(w.ctx(), w.tenant, "turns", here, func(row []any) (store.Verdict, error) {
					row[2] = int64(77)
					return store.Change, nil
				})
				return err
			},
			"a value of another type": func(f store.Forgetting) error {
				_, err := f.Rewrite(w.ctx(), w.tenant, "turns", here, func(row []any) (store.Verdict, error) {
					row[7] = int64(77)
					return store.Change, nil
				})
				return err
			},
			"an error of the caller": func(f store.Forgetting) error {
				_, err := f.Rewrite(w.ctx(), w.tenant, "turns", here, func([]any) (store.Verdict, error) { return store.Delete, boom })
				is(t, "error of the caller", err, boom)
				return err
			},
		} {
			err := w.Update(w.ctx(), func(tx store.Tx) error { return rewrite(tx.Forgetting()) })
			if err == nil {
				t.Errorf("%s was not refused", name)
			}
			same(t, "rows after "+name, w.dump(), before)
		}
		err := w.Update(w.ctx(), func(tx store.Tx) error {
			if _, err := w.entomb(tx, info, 1, 2); err != nil {
				return err
			}
			return boom
		})
		is(t, "failed update", err, boom)
		same(t, "rows after a failed update", w.dump(), before)
		same(t, "words after a failed update", find(k, "hello"), []int64{1})
		err = w.View(w.ctx(), func(tx store.Tx) error {
			_, err := w.entomb(tx, info, 1)
			return err
		})
		is(t, "rewrite in a view", err, store.ErrReadOnly)
	})
}

// sessionIn is session inside a transaction.
func (w *world) sessionIn(tx store.Tx, k turn.Key) turn.SessionInfo {
	w.Helper()
	info, err := tx.Log().Session(w.ctx(), k)
	if err != nil {
		w.Errorf("session %v: %v", k, err)
	}
	return info
}
