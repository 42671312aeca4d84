package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/event"
)

// tape is the events of one tenant, numbered from 1 on, as several replicas see them.
type tape struct {
	mu        sync.Mutex // guards what follows
	events    []event.Event
	listeners map[int]func(event.Event)
	err       error // what reading comes to
	reads     int
}

func newTape() *tape { return &tape{listeners: make(map[int]func(event.Event))} }

// add stores an event and tells those who listen, as the own engine does.
func (t *tape) add(session string) {
	t.mu.Lock()
	e := t.append(session)
	told := slices.Collect(func(yield func(func(event.Event)) bool) {
		for _, f := range t.listeners {
			if !yield(f) {
				return
			}
		}
	})
	t.mu.Unlock()
	for _, f := range told {
		f(e)
	}
}

// append stores an event as another replica does: nobody is told.
func (t *tape) append(session string) event.Event {
	e := event.Event{ID: strconv.Itoa(len(t.events) + 1), Place: int64(len(t.events)) + 1, Session: session, Kind: event.Undone}
	t.events = append(t.events, e)
	return e
}

func (t *tape) elsewhere(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.append(session)
}

func (t *tape) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
}

func (t *tape) Events(ctx context.Context, session, after string, limit int) (list []event.Event, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads++
	from := 0
	if after != "" {
		if from, err = strconv.Atoi(after); err != nil {
			return nil, err
		}
	}
	for _, e := range t.events[from:] {
		if session == "" || e.Session == session {
			list = append(list, e)
		}
		if len(list) == limit {
			break
		}
	}
	return list, errors.Join(t.err, ctx.Err())
}

func (t *tape) LastEvent(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) == 0 {
		return "", errors.Join(t.err, ctx.Err())
	}
	return t.events[len(t.events)-1].Cursor(), errors.Join(t.err, ctx.Err())
}

func (t *tape) Listen(f func(event.Event)) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := len(t.events) + len(t.listeners)<<32
	t.listeners[id] = f
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.listeners, id)
	}
}

// follow collects what comes until there are so many, by their numbers.
func follow(t *testing.T, s *subscriber, n int) (got []int) {
	t.Helper()
	for len(got) < n {
		frames, err := s.next(t.Context(), time.Hour)
		if err != nil {
			t.Errorf("after %d of %d: %v", len(got), n, err)
			return got
		}
		for _, f := range frames {
			got = append(got, number(t, f))
		}
	}
	return got
}

func number(t *testing.T, f *frame) int {
	t.Helper()
	n, err := strconv.Atoi(f.cursor)
	if err != nil || !bytes.HasPrefix(f.bytes, []byte("id: "+f.cursor+"\nevent: undone\ndata: {\"id\":\""+f.cursor+"\",")) {
		t.Errorf("%v, frame %s: %q", err, f.cursor, f.bytes)
	}
	return n
}

func numbers(from, to int) (list []int) {
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

func subscribe(t *testing.T, h *hub, from source, session string) *subscriber {
	t.Helper()
	s, err := h.subscribe(t.Context(), "acme", from, session)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestHubTellsWhatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, h := newTape(), newHub(slog.DiscardHandler)
		defer h.close()
		from.add("a")
		all, some := subscribe(t, h, from, ""), subscribe(t, h, from, "b")
		if all.cursor != "1" {
			t.Errorf("begins after %q", all.cursor)
		}
		began := time.Now()
		from.add("a")
		from.add("b")
		if d := cmp.Diff(numbers(2, 3), follow(t, all, 2)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]int{3}, follow(t, some, 1)); d != "" {
			t.Error(d)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("events of this engine came after %s", took)
		}
		from.elsewhere("b")
		follow(t, all, 1)
		follow(t, some, 1)
		if took := time.Since(began); took > hubPoll {
			t.Errorf("events of others came after %s", took)
		}
		if all.cursor != "4" || some.cursor != "4" {
			t.Errorf("go on after %s and %s", all.cursor, some.cursor)
		}
		all.leave()
		some.leave()
	})
}

// A store shows an event when all older ones are durable, which may be after it was heard of.
func TestHubLooksAgainSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, h := newTape(), newHub(slog.DiscardHandler)
		defer h.close()
		s := subscribe(t, h, from, "")
		defer s.leave()
		synctest.Wait()
		began := time.Now()
		for _, tell := range from.listeners {
			tell(event.Event{})
		}
		synctest.Wait()
		from.elsewhere("a")
		follow(t, s, 1)
		if took := time.Since(began); took >= hubPoll/2 {
			t.Errorf("came after %s", took)
		}
	})
}

func TestHubWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from, h := newTape(), newHub(slog.DiscardHandler)
		s := subscribe(t, h, from, "")
		if frames, err := s.next(t.Context(), time.Minute); frames != nil || err != nil {
			t.Errorf("%v, %v", frames, err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		cancel(gone)
		if _, err := s.next(ctx, time.Minute); !errors.Is(err, gone) {
			t.Error(err)
		}
		if _, err := h.subscribe(ctx, "acme", from, ""); !errors.Is(err, gone) {
			t.Error(err)
		}
		go h.close()
		if _, err := s.next(t.Context(), time.Minute); !errors.Is(err, errHubClosed) {
			t.Error(err)
		}
		h.close()
		if _, err := h.subscribe(t.Context(), "acme", from, ""); !errors.Is(err, errHubClosed) {
			t.Error(err)
		}
	})
}

// Tenants have feeds of their own, which end with their last subscriber.
func TestHubReadsOnlyForSubscribers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs, h := newTape(), newTape(), newHub(slog.DiscardHandler)
		defer h.close()
		first, second := subscribe(t, h, ours, ""), subscribe(t, h, ours, "a")
		other, err := h.subscribe(t.Context(), "other", theirs, "")
		if err != nil {
			t.Fatal(err)
		}
		theirs.add("a")
		ours.add("a")
		for _, s := range []*subscriber{first, second, other} {
			if d := cmp.Diff([]int{1}, follow(t, s, 1)); d != "" {
				t.Error(d)
			}
			if frames, err := s.next(t.Context(), time.Minute); len(frames) > 0 || err != nil {
				t.Errorf("%d more events, %v", len(frames), err)
			}
		}
		first.leave()
		second.leave()
		synctest.Wait()
		before := ours.reads
		if len(ours.listeners) > 0 || len(h.feeds) != 1 {
			t.Errorf("%d listeners, %d feeds", len(ours.listeners), len(h.feeds))
		}
		time.Sleep(time.Hour) // of the bubble
		if ours.reads > before {
			t.Errorf("%d times read for nobody", ours.reads-before)
		}
		again := subscribe(t, h, ours, "")
		ours.add("a")
		if d := cmp.Diff([]int{2}, follow(t, again, 1)); d != "" {
			t.Error(d)
		}
		again.leave()
		other.leave()
	})
}

func TestHubResumes(t *testing.T) {
	for _, stored := range []int{0, 1, 2, hubPage - 1, hubPage, hubPage + 1, 3 * hubPage, 3*hubPage + 7} {
		for _, seen := range []int{0, 1, stored - 1, stored} {
			if seen < 0 || seen > stored {
				continue
			}
			t.Run(fmt.Sprintf("%d of %d", seen, stored), func(t *testing.T) {
				from, h := newTape(), newHub(slog.DiscardHandler)
				defer h.close()
				for range stored {
					from.add("a")
				}
				s := subscribe(t, h, from, "a")
				defer s.leave()
				s.resume(place(event.Event{Place: int64(seen)}))
				if d := cmp.Diff(numbers(seen+1, stored), follow(t, s, stored-seen)); d != "" {
					t.Error(d)
				}
				from.add("b")
				from.add("a")
				if d := cmp.Diff([]int{stored + 2}, follow(t, s, 1)); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// Somebody who takes nothing holds nobody up, costs no more than so many events, and loses nothing.
func TestHubBehind(t *testing.T) {
	from, h := newTape(), newHub(slog.DiscardHandler)
	defer h.close()
	slow, fast := subscribe(t, h, from, ""), subscribe(t, h, from, "")
	defer slow.leave()
	defer fast.leave()
	const n = 5*hubPending + 3
	for i := 1; i <= n; i++ {
		from.add("a")
		if i%100 == 0 || i == n {
			follow(t, fast, i-fastCount(fast))
		}
		slow.feed.mu.Lock()
		if len(slow.pending) > hubPending {
			t.Fatalf("%d events wait", len(slow.pending))
		}
		slow.feed.mu.Unlock()
	}
	if d := cmp.Diff(numbers(1, n), follow(t, slow, n)); d != "" {
		t.Error(d)
	}
	from.add("a")
	if d := cmp.Diff([]int{n + 1}, follow(t, slow, 1)); d != "" {
		t.Error(d)
	}
}

func fastCount(s *subscriber) int {
	n, err := strconv.Atoi(s.cursor)
	if err != nil {
		return 0
	}
	return n
}

// However subscribers come, go on elsewhere and dawdle, each is given every event once and in order.
func TestHubLosesAndDoublesNothing(t *testing.T) {
	const n = 6000
	from := newTape()
	replicas := []*hub{newHub(slog.DiscardHandler), newHub(slog.DiscardHandler), newHub(slog.DiscardHandler)}
	var wg sync.WaitGroup
	for i := range 12 {
		chance := rand.New(rand.NewPCG(7, uint64(i)))
		session := []string{"", "a", "b"}[i%3]
		wg.Go(func() {
			var got []int
			last := strconv.Itoa(n)
			if session == "a" {
				last = strconv.Itoa(n - 1)
			}
			for cursor := ""; cursor != last; {
				s, err := replicas[chance.IntN(len(replicas))].subscribe(t.Context(), "acme", from, session)
				if err != nil {
					t.Error(err)
					return
				}
				s.resume(cursor)
				for range chance.IntN(20) {
					frames, err := s.next(t.Context(), time.Millisecond)
					if err != nil {
						t.Error(err)
					}
					for _, f := range frames {
						got = append(got, number(t, f))
						cursor = f.cursor
					}
					if cursor == last {
						break
					}
				}
				s.leave()
			}
			var want []int
			for n := 1; n <= len(from.events); n++ {
				if e := from.events[n-1]; session == "" || e.Session == session {
					want = append(want, n)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("subscriber %d: %s", i, d)
			}
		})
	}
	for i := 1; i <= n; i++ {
		session := "a"
		if i%3 == 0 {
			session = "b"
		}
		if i%5 == 0 {
			from.elsewhere(session)
		} else {
			from.add(session)
		}
	}
	wg.Wait()
	for _, h := range replicas {
		h.close()
	}
}

// While the store is away nobody is sent away, and nothing is lost.
func TestHubWithoutItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		from, h := newTape(), newHub(slog.NewTextHandler(&log, nil))
		defer h.close()
		s := subscribe(t, h, from, "")
		defer s.leave()
		away := errors.New("the store is away")
		from.fail(away)
		from.add("a")
		if frames, err := s.next(t.Context(), time.Minute); len(frames) > 0 || err != nil {
			t.Errorf("%d events, %v", len(frames), err)
		}
		if _, err := h.subscribe(t.Context(), "acme", from, ""); !errors.Is(err, away) {
			t.Error(err)
		}
		from.fail(nil)
		from.add("a")
		if d := cmp.Diff(numbers(1, 2), follow(t, s, 2)); d != "" {
			t.Error(d)
		}
		if got := strings.Count(log.String(), away.Error()); got != 1 {
			t.Errorf("logged %d times: %s", got, &log)
		}
		from.fail(away)
		s.resume("1")
		if _, err := s.next(t.Context(), time.Minute); !errors.Is(err, away) {
			t.Error(err)
		}
	})
}
