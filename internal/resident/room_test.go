package resident

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	const mb = 1 << 20
	for name, test := range map[string]struct {
		room, live, looked uint64
		want               int
	}{
		"before the first collection": {256 * mb, 0, 0, 6400},
		"little lives":                {256 * mb, 6 * mb, 10 * mb, 2500},
		"stacks are looked through":   {256 * mb, 56 * mb, 100 * mb, 200},
		"half of the room lives":      {256 * mb, 128 * mb, 128 * mb, 100},
		"more than half lives":        {256 * mb, 200 * mb, 220 * mb, 100},
		"more lives than there is":    {256 * mb, 300 * mb, 310 * mb, 100},
		"no room":                     {0, 0, 0, 100},
	} {
		if got := percent(test.room, test.live, test.looked); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

// TestSpread makes garbage, a MB at a time: with room for 64 there are hardly any collections, though it was
// told once and collections before would have had it forgotten, and without it there are dozens. On a processor that others
// keep busy one takes its time, and much garbage is made meanwhile.
func TestSpread(t *testing.T) {
	t.Setenv("GOGC", "")
	stop := Spread(64 << 20)
	for range 3 {
		settle(t)
	}
	if n := collections(96); n > 3 {
		t.Errorf("%d collections of 96 MB, with room for 64", n)
	}
	stop()
	settle(t)
	if n := collections(320); n < 6 {
		t.Errorf("%d collections of 320 MB, left to the runtime", n)
	}
}

// A process in which much lives all of a sudden does not grow by what the percentage of before makes of it, though nobody comes to
// tune it.
func TestSpreadBoundsWhatSuddenlyLives(t *testing.T) {
	const mb = 1 << 20
	t.Setenv("GOGC", "")
	limit := debug.SetMemoryLimit(-1)
	defer Spread(64 * mb)() // as another server in the process does
	stop := Spread(64 * mb)
	settle(t)
	held, free := make(chan struct{}), make(chan struct{})
	runtime.SetFinalizer(&struct{ to chan struct{} }{held}, func(*struct{ to chan struct{} }) { close(held); <-free })
	runtime.GC()
	<-held
	var lives [][]byte
	for range 64 {
		lives = append(lives, make([]byte, mb))
	}
	runtime.GC()
	heap, most := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}, uint64(0)
	for range 600 {
		garbage = make([]byte, mb)
		metrics.Read(heap)
		most = max(most, heap[0].Value.Uint64())
	}
	runtime.KeepAlive(lives)
	close(free)
	settle(t)
	// Without a bound all 664 would be there; with it a collection that others keep from its processor ends a little late.
	if most > 450*mb {
		t.Errorf("%d MB of the heap, where 64 live", most/mb)
	}
	stop()
	if got := debug.SetMemoryLimit(-1); got != limit {
		t.Errorf("a limit of %d is left behind, want %d", got, limit)
	}
}

// A collection that ends when it was stopped tells the runtime nothing any more.
func TestSpreadThatWasStopped(t *testing.T) {
	s := &spreader{room: 64 << 20, limit: debug.SetMemoryLimit(-1)}
	s.stop()
	if again := s.tune(); again {
		t.Error("it is tuned again")
	}
	if got := debug.SetGCPercent(usual); got != usual {
		t.Errorf("%d percent", got)
	}
}

func TestBound(t *testing.T) {
	const mb = 1 << 20
	for name, test := range map[string]struct {
		room, live, looked, others uint64
		want                       int64
	}{
		"little lives":     {256 * mb, 6 * mb, 10 * mb, 20 * mb, 532 * mb},
		"much lives":       {256 * mb, 200 * mb, 220 * mb, 20 * mb, 860 * mb},
		"there are stacks": {8 * mb, 10 * mb, 110 * mb, 120 * mb, 360 * mb},
		"there is no room": {0, 0, 0, mb, 17 * mb},
	} {
		if got := bound(test.room, test.live, test.looked, test.others); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}

func TestSpreadLeavesAloneWhatTheEnvironmentSays(t *testing.T) {
	t.Setenv("GOGC", "50")
	defer Spread(1 << 30)()
	settle(t)
	if n := collections(320); n < 6 {
		t.Errorf("%d collections of 320 MB, with GOGC set", n)
	}
}

// settle collects and waits for the finalizers that were due.
func settle(t *testing.T) {
	t.Helper()
	done := make(chan struct{})
	runtime.SetFinalizer(&struct{ to chan struct{} }{done}, func(*struct{ to chan struct{} }) { close(done) })
	runtime.GC()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("no finalizer ran")
	}
}

var garbage []byte

// collections is how many there are while so many MB of garbage are made.
func collections(mb int) uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range mb {
		garbage = make([]byte, 1<<20)
	}
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}
