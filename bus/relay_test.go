package bus_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
)

// outbox is a store that can only publish, as its script says.
type outbox struct {
	store.Store
	rounds []time.Time
	limits []int
	// publisher is which bus publishes; nil is the one inside the process.
	publisher func() string
	script    func(round int) (int, error)
}

// view is a transaction that knows which bus publishes.
type view struct {
	store.Tx
	event.Rows
	bus string
}

func (v view) Outbox() event.Rows { return v }

func (v view) Bus(context.Context) (string, error) { return v.bus, nil }

func (o *outbox) View(_ context.Context, fn func(store.Tx) error) error {
	v := view{}
	if o.publisher != nil {
		v.bus = o.publisher()
	}
	return fn(v)
}

func (o *outbox) Publish(_ context.Context, limit int, p store.Publication) (int, error) {
	o.rounds, o.limits = append(o.rounds, time.Now()), append(o.limits, limit)
	return o.script(len(o.rounds))
}

// silent is a bus that counts announcements.
type silent struct {
	bus.Bus
	announced int
}

func (s *silent) Publish(_ context.Context, exports []event.Export) (int, error) {
	return len(exports), nil
}
func (s *silent) Name() string      { return "" }
func (s *silent) NeedsBodies() bool { return false }
func (s *silent) Announce()         { s.announced++ }

// run runs a relay in the background and returns what ends it.
func run(t *testing.T, r *bus.Relay) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		r.Run(ctx)
	}()
	return func() {
		cancel()
		<-over
	}
}

func TestRelayWaitsLongerAfterEachError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		o, b := &outbox{}, &silent{}
		o.script = func(round int) (int, error) {
			switch {
			case round <= 11:
				return 0, errBroken
			case round == 12:
				return 1, nil
			case round == 13:
				return 0, errBroken
			}
			return 0, nil
		}
		begin := time.Now()
		stop := run(t, bus.NewRelay(o, b, bus.RelayConfig{Log: slog.NewTextHandler(&log, nil)}))
		time.Sleep(104 * time.Second)
		stop()
		var waits []time.Duration
		for i, at := range o.rounds[:14] {
			waits = append(waits, at.Sub(begin)/time.Millisecond)
			begin = o.rounds[i]
		}
		want := []time.Duration{0, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600, 25600, 25600, 50, 100}
		if !slices.Equal(waits, want) {
			t.Errorf("waits in ms %v, want %v", waits, want)
		}
		if b.announced != 1 || strings.Count(log.String(), "broken") != 12 {
			t.Errorf("announced %d times, log:\n%s", b.announced, log.String())
		}
	})
}

// What is published by another bus shows nowhere but in the log.
func TestRelayTellsThatAnotherBusPublishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		o, begin := &outbox{script: func(int) (int, error) { return 0, nil }}, time.Now()
		o.publisher = func() string {
			// The first is there when it starts, each other one for two looks.
			return []string{"nats", "other", "", "nats"}[int((time.Since(begin)+time.Minute)/(2*time.Minute))]
		}
		stop := run(t, bus.NewRelay(o, &silent{}, bus.RelayConfig{Log: slog.NewTextHandler(&log, nil)}))
		time.Sleep(6*time.Minute + 30*time.Second)
		stop()
		var told []string
		for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
			_, of, _ := strings.Cut(line, `msg="another bus publishes the exports of the store" bus=`)
			told = append(told, of)
		}
		if want := []string{"nats", "other", "nats"}; !slices.Equal(told, want) {
			t.Errorf("told of %q, want %q:\n%s", told, want, log.String())
		}
	})
}

func TestRelayLooksWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outbox{script: func(int) (int, error) { return 0, nil }}
		stop := run(t, bus.NewRelay(o, &silent{}, bus.RelayConfig{}))
		time.Sleep(5500 * time.Millisecond)
		stop()
		if len(o.rounds) != 6 || o.limits[0] != 512 {
			t.Errorf("%d rounds of %v, want 6 of 512", len(o.rounds), o.limits)
		}
	})
}

func TestWakesWhileAtWorkCountAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outbox{script: func(int) (int, error) {
			time.Sleep(time.Second)
			return 0, nil
		}}
		r := bus.NewRelay(o, &silent{}, bus.RelayConfig{Idle: time.Hour})
		stop := run(t, r)
		synctest.Wait()
		for range 5 {
			r.Wake()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(o.rounds) != 2 {
			t.Errorf("%d rounds, want 2", len(o.rounds))
		}
		stop()
	})
}

func TestRelayGoesOnWhileThereIsSomething(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, b := &outbox{}, &silent{}
		// Two full rounds, one that took all there was, and one that finds nothing.
		o.script = func(round int) (int, error) { return []int{8, 8, 3, 0}[round-1], nil }
		begin := time.Now()
		stop := run(t, bus.NewRelay(o, b, bus.RelayConfig{Idle: time.Hour, Batch: 8}))
		time.Sleep(time.Second)
		stop()
		var at []time.Duration
		for _, round := range o.rounds {
			at = append(at, round.Sub(begin)/time.Millisecond)
		}
		if !slices.Equal(at, []time.Duration{0, 0, 0, 50}) || b.announced != 3 {
			t.Errorf("rounds at %v ms, %d announcements", at, b.announced)
		}
	})
}

func TestRelayEndsWithItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outbox{script: func(int) (int, error) { return 0, store.ErrClosed }}
		bus.NewRelay(o, &silent{}, bus.RelayConfig{}).Run(t.Context())
		if len(o.rounds) != 1 {
			t.Errorf("%d rounds", len(o.rounds))
		}
	})
}

func TestFlushPublishesUntilNothingWaits(t *testing.T) {
	o, b := &outbox{}, &silent{}
	o.script = func(round int) (int, error) { return max(3-round, 0), nil }
	r := bus.NewRelay(o, b, bus.RelayConfig{Batch: 7})
	if err := r.Flush(t.Context()); err != nil || len(o.rounds) != 3 || b.announced != 2 || o.limits[2] != 7 {
		t.Errorf("%v, %d rounds, %d announcements, limits %v", err, len(o.rounds), b.announced, o.limits)
	}
	o.script = func(int) (int, error) { return 2, errBroken }
	if err := r.Flush(t.Context()); !errors.Is(err, errBroken) || b.announced != 3 {
		t.Errorf("%v, %d announcements: what was sent before an error is announced", err, b.announced)
	}
}

func TestFlushWaitsForTheRoundThatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := 0
		o := &outbox{script: func(int) (int, error) {
			if running++; running > 1 {
				t.Error("two rounds at once")
			}
			time.Sleep(time.Second)
			running--
			return 0, nil
		}}
		r := bus.NewRelay(o, &silent{}, bus.RelayConfig{Idle: time.Hour})
		stop := run(t, r)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := r.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("flush: %v", err)
		}
		if err := r.Flush(t.Context()); err != nil {
			t.Error(err)
		}
		stop()
	})
}

func TestRelayLingersSoThatCommitsShareARound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &outbox{script: func(int) (int, error) { return 0, nil }}
		r := bus.NewRelay(o, &silent{}, bus.RelayConfig{Linger: 20 * time.Millisecond, Idle: time.Hour})
		stop := run(t, r)
		defer stop()
		synctest.Wait()
		began := time.Now()
		for range 5 {
			r.Wake()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		// The first look, one for all that came while it lingered, and one for a wake that came meanwhile.
		if n := len(o.rounds); n < 2 || n > 3 || o.rounds[1].Sub(began) != 20*time.Millisecond {
			t.Errorf("rounds %v after %v", o.rounds, began)
		}
	})
}
