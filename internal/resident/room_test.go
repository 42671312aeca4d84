package resident

import (
	"runtime"
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

// TestSpread makes garbage of 96 MB, a MB at a time: with room for 64 there are hardly any collections, though it was
// told once and collections before would have had it forgotten, and without it there are dozens.
func TestSpread(t *testing.T) {
	t.Setenv("GOGC", "")
	stop := Spread(64 << 20)
	for range 3 {
		settle(t)
	}
	if n := collections(); n > 3 {
		t.Errorf("%d collections of 96 MB, with room for 64", n)
	}
	stop()
	settle(t)
	if n := collections(); n < 6 {
		t.Errorf("%d collections of 96 MB, left to the runtime", n)
	}
}

func TestSpreadLeavesAloneWhatTheEnvironmentSays(t *testing.T) {
	t.Setenv("GOGC", "50")
	defer Spread(1 << 30)()
	settle(t)
	if n := collections(); n < 6 {
		t.Errorf("%d collections of 96 MB, with GOGC set", n)
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

func collections() uint32 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 96 {
		garbage = make([]byte, 1<<20)
	}
	runtime.ReadMemStats(&after)
	return after.NumGC - before.NumGC
}
