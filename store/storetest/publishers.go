package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// receiver is where several publishers send to. It fails the test when a session is in two hands.
type receiver struct {
	t testing.TB

	mu     sync.Mutex // guards what follows
	inHand map[turn.Key]int
	came   map[turn.Key][]string // ids in the order they came
}

func newReceiver(t testing.TB) *receiver {
	return &receiver{t: t, inHand: make(map[turn.Key]int), came: make(map[turn.Key][]string)}
}

func (r *receiver) send(_ context.Context, exports []event.Export) (int, error) {
	sessions := make(map[turn.Key]bool)
	for _, e := range exports {
		sessions[turn.Key{Tenant: e.Tenant, Session: e.Session}] = true
	}
	r.hold(sessions, 1)
	defer r.hold(sessions, -1)
	for _, e := range exports {
		r.mu.Lock()
		key := turn.Key{Tenant: e.Tenant, Session: e.Session}
		r.came[key] = append(r.came[key], e.ID)
		r.mu.Unlock()
	}
	return len(exports), nil
}

func (r *receiver) hold(sessions map[turn.Key]bool, by int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range sessions {
		if r.inHand[key] += by; r.inHand[key] > 1 {
			r.t.Errorf("session %s is sent by two at once", key.Session)
		}
	}
}

// check holds what came against what was exported, each once and in the order of the turns.
func (r *receiver) check(want map[turn.Key][]string) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	same(r.t, "what came", r.came, want)
}

func testPublishAtOnce(t *testing.T, open opener) {
	w := newWorld(t, open)
	publishAtOnce(t, w, w, w)
}

// publishAtOnce has one writer per session and a publisher per world, all at once.
func publishAtOnce(t *testing.T, worlds ...*world) {
	w := worlds[0]
	const sessions, rounds = 4, 12
	var infos []turn.SessionInfo
	for i := range sessions {
		infos = append(infos, w.create(w.key(fmt.Sprintf("s-%d", i))))
	}
	want := make(map[turn.Key][]string)
	exports := make([][]event.Export, sessions)
	for i, info := range infos {
		for n := range int64(rounds) {
			e := w.exported(info, 2*n+1, 2*n+2)
			exports[i] = append(exports[i], e)
			want[info.Key] = append(want[info.Key], e.ID)
		}
	}
	var writers, publishers sync.WaitGroup
	written := make(chan struct{})
	read := make(chan []event.Export, 1)
	go func() { read <- worlds[len(worlds)-1].follow(t, sessions*rounds) }()
	to := newReceiver(t)
	for i := range infos {
		other := worlds[i%len(worlds)]
		writers.Go(func() {
			for _, e := range exports[i] {
				err := other.Update(other.ctx(), func(tx store.Tx) error { return tx.Outbox().InsertExport(other.ctx(), e) })
				if err != nil {
					t.Errorf("export of %s: %v", e.Session, err)
					return
				}
			}
		})
	}
	for _, other := range worlds {
		publishers.Go(func() {
			for last := false; ; {
				n, err := other.Publish(other.ctx(), 5, store.Publication{Send: to.send})
				if err != nil {
					t.Errorf("publish: %v", err)
					return
				}
				if n > 0 {
					continue
				}
				if last {
					return
				}
				select {
				case <-written:
					last = true
				default:
				}
			}
		})
	}
	writers.Wait()
	close(written)
	publishers.Wait()
	// A publisher may end while another still has a session in hand.
	for len(w.publishTo(to)) > 0 {
	}
	to.check(want)
	numbers := make(map[int64]bool)
	published, last := w.published(0, 1000)
	same(t, "what a reader saw that followed the numbers", <-read, published)
	for _, e := range published {
		numbers[e.Sent] = true
	}
	if len(published) != sessions*rounds || len(numbers) != len(published) || last != published[len(published)-1].Sent {
		t.Errorf("%d published with %d numbers up to %d", len(published), len(numbers), last)
	}
}

// follow reads what is published as a daemon does, from number to number, until n came or half a minute
// is over. It is safe for concurrent use.
func (w *world) follow(t *testing.T, n int) (seen []event.Export) {
	var after int64
	deadline := time.After(30 * time.Second)
	for len(seen) < n {
		var page []event.Export
		err := w.View(w.ctx(), func(tx store.Tx) (err error) {
			page, err = tx.Outbox().Published(w.ctx(), after, 3)
			return err
		})
		if err != nil {
			t.Errorf("published after %d: %v", after, err)
			return seen
		}
		for _, e := range page {
			seen, after = append(seen, e), e.Sent
		}
		select {
		case <-deadline:
			return seen
		default:
		}
	}
	return seen
}

// publishTo is a round of publishing; it returns what was noted.
func (w *world) publishTo(to *receiver) (noted []event.Export) {
	w.Helper()
	_, err := w.Publish(w.ctx(), 100, store.Publication{Send: to.send, Note: func(_ context.Context, _ store.Tx, exports []event.Export) error {
		noted = exports
		return nil
	}})
	if err != nil {
		w.Fatalf("publish: %v", err)
	}
	return noted
}
