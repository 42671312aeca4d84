package storetest

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// RunShared holds two stores on one database to what they promise each other. Open returns both, on
// a new and empty database on each call; RunShared closes them.
func RunShared(t *testing.T, open func(t testing.TB) (a, b store.Store)) {
	for _, topic := range []struct {
		name string
		test func(t *testing.T, a, b *world)
	}{
		{"both append to one session without gap or double", testSharedAppend},
		{"what one acknowledged the other sees", testSharedReads},
		{"an idempotency key counts for both", testSharedKeys},
		{"the generation changes when the other writes", testSharedGeneration},
		{"a lease holds against the other, and fences once lost", testSharedLease},
		{"both may fill the index", testSharedText},
		{"the follow-up context is shared where it is kept in the database", testSharedLight},
		{"two publishers send every export once and in order", testSharedPublishers},
		{"a session in the hand of one is not sent by the other", testSharedHand},
		{"another bus takes over from two publishers, and nothing is lost", testSharedBuses},
		{"one of two writes the next version of a goal", testSharedVersions},
		{"no step of a daemon's mark is lost", testSharedMark},
		{"one of two opens the next epoch and notes its call", testSharedNumbers},
		{"nothing that was learned about a model is lost", testSharedCalibration},
		{"one of two makes the next checkpoint", testSharedCheckpoints},
		{"whoever reads events misses none and sees none twice", testSharedEvents},
		{"an event that becomes visible late is read after those that were read before it", testLateEvent},
		{"a key that one revoked is revoked for the other", testSharedAccess},
		{"one goes on when the other is closed", testSharedClose},
	} {
		t.Run(topic.name, func(t *testing.T) {
			one, two := open(t)
			ids := new(atomic.Uint64)
			pair := make([]*world, 2)
			for i, s := range []store.Store{one, two} {
				pair[i] = &world{TB: t, Store: s, tenant: turn.DefaultTenant, ids: ids}
				t.Cleanup(func() {
					if err := s.Close(); err != nil && !errors.Is(err, store.ErrClosed) {
						t.Errorf("close: %v", err)
					}
				})
			}
			topic.test(t, pair[0], pair[1])
		})
	}
}

func testSharedAppend(t *testing.T, a, b *world) {
	k := a.create(a.key("shared")).Key
	told := crowd(t, 16, 6, k, a, b)
	checkCrowd(t, a.log, k, told)
	checkCrowd(t, b.log, k, told)
}

func testSharedReads(t *testing.T, a, b *world) {
	k := a.create(a.key("shared")).Key
	for i := range 10 {
		from, to := a, b
		if i%2 == 1 {
			from, to = b, a
		}
		from.append(k, said(turn.User, "needle"))
		if head := to.session(k).Head; head != int64(i+1) {
			t.Fatalf("head %d after turn %d was acknowledged", head, i+1)
		}
		same(t, "search", len(to.query(k, turn.Query{Text: "needles"}).Turns), i+1)
	}
}

func testSharedKeys(t *testing.T, a, b *world) {
	k := a.create(a.key("shared")).Key
	d := said(turn.User, "pay")
	d.IdempotencyKey = "order-1"
	first := a.append(k, d)
	same(t, "same body", b.append(k, d), first)
	d.Content = turn.Text{Text: "pay twice"}
	_, err := b.try(k, d)
	is(t, "other body", err, turn.ErrConflict)
	_, err = b.tryFork(k, 1, turn.SessionInfo{Key: k})
	is(t, "taken session", err, turn.ErrExists)
}

func testSharedGeneration(t *testing.T, a, b *world) {
	k := a.create(a.key("shared")).Key
	if _, ok := b.Generation(); !ok {
		return // it cannot tell, and says so
	}
	for range 3 {
		// Quiet first: what happened before must not be taken for what happens now.
		before := settledGeneration(t, b)
		a.append(k, says(1)...)
		wrote := time.Now()
		if !waitFor(5*time.Second, func() bool {
			now, ok := b.Generation()
			return !ok || now != before
		}) {
			t.Fatalf("the generation is still %d", before)
		}
		// The promise is a tenth of a second; the rest is for a busy machine.
		if late := time.Since(wrote); late > time.Second {
			t.Errorf("the generation changed after %v", late)
		}
	}
}

// settledGeneration returns the generation once it has stood still for twice the promised time.
func settledGeneration(t *testing.T, w *world) uint64 {
	t.Helper()
	last, _ := w.Generation()
	since := time.Now()
	if !waitFor(10*time.Second, func() bool {
		if now, _ := w.Generation(); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > 200*time.Millisecond
	}) {
		t.Fatal("the generation does not come to rest")
	}
	return last
}

// waitFor asks every few milliseconds until it is so or the time is over.
func waitFor(limit time.Duration, so func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	over := time.After(limit)
	for !so() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
}

func testSharedLease(t *testing.T, a, b *world) {
	k := a.create(a.key("shared")).Key
	one, two := leaser{a, k}, leaser{b, k}
	held, err := one.acquire("one", noon)
	if err != nil {
		t.Fatal(err)
	}
	_, err = two.acquire("two", noon.Add(time.Second))
	var busy *turn.LeaseHeldError
	if !errors.As(err, &busy) || !busy.Until.Equal(held.Until) {
		t.Errorf("got %v, want a LeaseHeldError until %v", err, held.Until)
	}
	if _, err := two.acquire("two", held.Until); err != nil {
		t.Fatal(err)
	}
	is(t, "write of the first holder", one.write("one", held.Until), turn.ErrLeaseLost)
	if err := two.write("two", held.Until); err != nil {
		t.Error(err)
	}
	same(t, "log", seqs(a.log(k)), []int64{1})
}

func testSharedText(t *testing.T, a, b *world) {
	k := a.create(a.key("shared")).Key
	errs := make(chan error, 4)
	for _, w := range []*world{a, b} {
		go func() {
			var err error
			for i := 0; i < 20 && err == nil; i++ {
				_, err = w.try(k, said(turn.User, "needle"), said(turn.Agent, "hay"))
			}
			errs <- err
		}()
		go func() {
			var err error
			for i := 0; i < 10 && err == nil; i++ {
				err = w.IndexText(w.ctx())
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []*world{a, b} {
		same(t, "found", len(w.query(k, turn.Query{Text: "needles", Limit: 1000}).Turns), 40)
		if err := w.IndexText(w.ctx()); err != nil {
			t.Fatal(err)
		}
		same(t, "found, indexed", len(w.query(k, turn.Query{Text: "needles", Limit: 1000}).Turns), 40)
	}
}

func testSharedLight(t *testing.T, a, b *world) {
	if _, embedded := a.Light().(*dialogue.Light); embedded {
		return
	}
	k := dialogue.LightKey{Tenant: "default", Session: "s"}
	if err := a.Light().Store(a.ctx(), k, dialogue.LightContext{LastIntent: new("add")}); err != nil {
		t.Fatal(err)
	}
	c, ok, err := b.Light().Retrieve(b.ctx(), k)
	if err != nil || !ok || *c.LastIntent != "add" {
		t.Errorf("%+v, %v, %v", c, ok, err)
	}
	// What one hears takes nothing away of what the other keeps at the same time.
	done := make(chan error, 1)
	go func() {
		var err error
		for i := 0; i < 50 && err == nil; i++ {
			err = b.Update(b.ctx(), func(tx store.Tx) error { return tx.Light().HearLight(b.ctx(), k, fmt.Sprint("heard ", i)) })
		}
		done <- err
	}()
	for i := range 50 {
		intent := fmt.Sprint("intent ", i)
		if err := a.Light().Store(a.ctx(), k, dialogue.LightContext{LastIntent: &intent}); err != nil {
			t.Fatal(err)
		}
		if c, ok, err := b.Light().Retrieve(b.ctx(), k); err != nil || !ok || *c.LastIntent != intent {
			t.Fatalf("after %s: %+v, %v, %v", intent, c, ok, err)
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func testSharedClose(t *testing.T, a, b *world) {
	k := a.create(a.key("shared")).Key
	a.append(k, says(2)...)
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, "seqs", seqs(b.append(k, says(1)...)), []int64{3})
	same(t, "log", len(b.log(k)), 3)
}
