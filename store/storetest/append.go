package storetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func testAppend(t *testing.T, w *world) {

	w.run("turns come back in the order they were given, numbered from 1", func(t *testing.T) {
		k := w.create(w.key("ordered")).Key
		turns := w.append(k, says(5)...)
		turns = append(turns, w.append(k, says(2)...)...)
		same(t, "seqs", seqs(turns), []int64{1, 2, 3, 4, 5, 6, 7})
		same(t, "log", w.log(k), turns)
	})

	w.run("what an append returns is what is read, every field of it", func(t *testing.T) {
		k := w.create(w.key("fields")).Key
		w.append(k, says(1)...)
		turns := w.append(k, turn.Draft{
			Role: turn.System, Kind: turn.KindSummary, Content: turn.Text{Text: "so far"}, Covers: turn.Range{From: 1, To: 1},
			MessageID: "m", IdempotencyKey: "i", Meta: turn.Meta{Tokens: 7, Model: "m-1", Latency: 1234567 * time.Nanosecond},
		})
		want := turn.Turn{
			ID: turns[0].ID, Session: "fields", Seq: 2, Role: turn.System, Form: turn.FormText, Kind: turn.KindSummary,
			Content: turn.Text{Text: "so far"}, CreatedAt: turns[0].CreatedAt, MessageID: "m", IdempotencyKey: "i",
			Covers: turn.Range{From: 1, To: 1}, Meta: turn.Meta{Tokens: 7, Model: "m-1", Latency: 1234 * time.Microsecond},
		}
		same(t, "returned", turns, []turn.Turn{want})
		same(t, "read", w.log(k)[1:], []turn.Turn{want})
	})

	w.run("a transaction reads its own writes", func(t *testing.T) {
		k := w.create(w.key("own")).Key
		sealed, err := w.seal(says(3)...)
		if err != nil {
			t.Fatal(err)
		}
		var inside []turn.Turn
		var head int64
		w.update(func(tx store.Tx) error {
			if _, err := turn.Append(w.ctx(), tx.Log(), k, tx.Now(), sealed[:2]...); err != nil {
				return err
			}
			if _, err := turn.Append(w.ctx(), tx.Log(), k, tx.Now(), sealed[2]); err != nil {
				return err
			}
			info, err := tx.Log().Session(w.ctx(), k)
			if err != nil {
				return err
			}
			head = info.Head
			inside, err = turn.History(w.ctx(), tx.Log(), info, turn.HistoryOptions{Turns: 10})
			return err
		})
		if head != 3 {
			t.Errorf("head inside the transaction: %d, want 3", head)
		}
		same(t, "inside and after", inside, w.log(k))
	})

	w.run("a view after an update sees it", func(t *testing.T) {
		k := w.create(w.key("after")).Key
		for i := range 20 {
			w.append(k, says(1)...)
			if n := len(w.log(k)); n != i+1 {
				t.Fatalf("after update %d: %d turns", i+1, n)
			}
		}
	})

	w.run("64 writers on one session leave no gap and no double", func(t *testing.T) {
		k := w.create(w.key("crowd")).Key
		checkCrowd(t, w.log, k, crowd(t, 64, 3, k, w))
	})

	w.run("writers on many sessions keep each in order", func(t *testing.T) {
		var all sync.WaitGroup
		for i := range 16 {
			k := w.create(w.key(fmt.Sprintf("one-of-many-%d", i))).Key
			all.Go(func() {
				for n := range 4 {
					if turns, err := w.try(k, says(2)...); err != nil || turns[1].Seq != int64(2*n+2) {
						t.Errorf("%s: %v, %v", k.Session, seqs(turns), err)
					}
				}
			})
		}
		all.Wait()
	})

	w.run("a view is one state while writers append", func(t *testing.T) { testOneState(t, w) })
}

// crowd appends from many goroutines at once, spread over the worlds, and returns what each was told.
func crowd(t *testing.T, writers, rounds int, k turn.Key, worlds ...*world) [][]turn.Turn {
	told := make([][]turn.Turn, writers)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range writers {
		w := worlds[i%len(worlds)]
		all.Go(func() {
			<-start
			for n := range rounds {
				turns, err := w.try(k, said(turn.User, fmt.Sprintf("writer %d, round %d", i, n)))
				if err != nil {
					t.Errorf("writer %d, round %d: %v", i, n, err)
					return
				}
				told[i] = append(told[i], turns...)
			}
		})
	}
	close(start)
	all.Wait()
	return told
}

// checkCrowd holds the log against what its writers were told.
func checkCrowd(t *testing.T, read func(turn.Key) []turn.Turn, k turn.Key, told [][]turn.Turn) {
	t.Helper()
	log := read(k)
	n := 0
	ids := make(map[string]bool)
	for i, turns := range told {
		for j, mine := range turns {
			n++
			ids[mine.ID] = true
			if j > 0 && mine.Seq <= turns[j-1].Seq {
				t.Errorf("writer %d was told seq %d after %d", i, mine.Seq, turns[j-1].Seq)
			}
			if mine.Seq < 1 || mine.Seq > int64(len(log)) {
				t.Errorf("writer %d was told seq %d, the log has %d turns", i, mine.Seq, len(log))
				continue
			}
			same(t, "acknowledged turn", log[mine.Seq-1], mine)
		}
	}
	if len(log) != n || len(ids) != n {
		t.Errorf("%d turns in the log, %d acknowledged with %d ids", len(log), n, len(ids))
	}
	for i := range log {
		if log[i].Seq != int64(i+1) {
			t.Fatalf("turn %d has seq %d", i+1, log[i].Seq)
		}
	}
}

// testOneState appends two turns at a time: no view may see an odd number of them.
func testOneState(t *testing.T, w *world) {
	k := w.create(w.key("pairs")).Key
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 40 && err == nil; i++ {
			_, err = w.try(k, says(2)...)
		}
		done <- err
	}()
	for writing := true; writing; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			writing = false
		default:
		}
		err := w.View(w.ctx(), func(tx store.Tx) error {
			before, err := tx.Log().Session(w.ctx(), k)
			if err != nil {
				return err
			}
			turns, err := turn.History(w.ctx(), tx.Log(), before, turn.HistoryOptions{Turns: 1000})
			if err != nil {
				return err
			}
			after, err := tx.Log().Session(w.ctx(), k)
			if err != nil {
				return err
			}
			past, err := tx.Log().Scan(w.ctx(), k.Tenant, turn.Span{Segment: before.Segment, From: before.Head + 1, To: 1 << 40}, turn.RowFilter{}, 10)
			if err != nil {
				return err
			}
			if before.Head != after.Head || before.Head%2 != 0 || int64(len(turns)) != before.Head || len(past) > 0 {
				return fmt.Errorf("head %d, then %d, with %d turns and %d past the head", before.Head, after.Head, len(turns), len(past))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func testIdempotency(t *testing.T, w *world) {
	once := func(text, k string) turn.Draft {
		d := said(turn.User, text)
		d.IdempotencyKey = k
		return d
	}

	w.run("the same key and body again gives the first turn and writes nothing", func(t *testing.T) {
		k := w.create(w.key("again")).Key
		first := w.append(k, once("pay", "order-1"))
		before := w.session(k)
		d := once("pay", "order-1")
		d.Meta = turn.Meta{Tokens: 9}
		same(t, "second", w.append(k, d), first)
		same(t, "session", w.session(k), before)
	})

	w.run("the same key with another body is ErrConflict and writes nothing", func(t *testing.T) {
		k := w.create(w.key("other")).Key
		w.append(k, once("pay", "order-1"))
		for what, d := range map[string]turn.Draft{
			"text":    once("pay twice", "order-1"),
			"role":    {Role: turn.Agent, Content: turn.Text{Text: "pay"}, IdempotencyKey: "order-1"},
			"form":    {Role: turn.User, Content: turn.Speech{Transcript: "pay"}, IdempotencyKey: "order-1"},
			"message": {Role: turn.User, Content: turn.Text{Text: "pay"}, IdempotencyKey: "order-1", MessageID: "m"},
			"kind": {
				Role: turn.System, Content: turn.Text{Text: "pay"}, IdempotencyKey: "order-1",
				Kind: turn.KindSummary, Covers: turn.Range{From: 1, To: 1},
			},
		} {
			_, err := w.try(k, said(turn.User, "along with it"), d)
			is(t, "another "+what, err, turn.ErrConflict)
		}
		same(t, "seqs", seqs(w.log(k)), []int64{1})
	})

	w.run("a batch that repeats a key writes the rest", func(t *testing.T) {
		k := w.create(w.key("batch")).Key
		turns := w.append(k, once("a", "ka"), once("b", "kb"))
		again := w.append(k, once("a", "ka"), once("c", "kc"), once("b", "kb"), once("c", "kc"))
		same(t, "seqs", seqs(again), []int64{1, 3, 2, 3})
		same(t, "first", again[0], turns[0])
		same(t, "log", seqs(w.log(k)), []int64{1, 2, 3})
	})

	w.run("a key belongs to its session", func(t *testing.T) {
		one, two := w.create(w.key("mine")).Key, w.create(w.key("yours")).Key
		w.append(one, once("pay", "order-1"))
		turns := w.append(two, said(turn.User, "hello"), once("refund", "order-1"))
		same(t, "seqs", seqs(turns), []int64{1, 2})
	})

	w.run("of writers with one key one writes and all get its turn", func(t *testing.T) {
		k := w.create(w.key("race")).Key
		var all sync.WaitGroup
		var mu sync.Mutex
		ids := make(map[string]int)
		for range 16 {
			all.Go(func() {
				turns, err := w.try(k, once("pay", "order-1"))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				ids[turns[0].ID]++
			})
		}
		all.Wait()
		if len(ids) != 1 || len(w.log(k)) != 1 {
			t.Errorf("%d ids, %d turns; want one of each", len(ids), len(w.log(k)))
		}
	})

	w.run("of writers with one key and two bodies one body wins", func(t *testing.T) {
		k := w.create(w.key("duel")).Key
		var all sync.WaitGroup
		var mu sync.Mutex
		ok, conflicts := make(map[string]int), 0
		for i := range 16 {
			text := fmt.Sprintf("body %d", i%2)
			all.Go(func() {
				_, err := w.try(k, once(text, "order-1"))
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					ok[text]++
				case errors.Is(err, turn.ErrConflict):
					conflicts++
				default:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(ok) != 1 || conflicts != 8 {
			t.Errorf("bodies accepted: %v, conflicts: %d; want one body and 8", ok, conflicts)
		}
	})
}
