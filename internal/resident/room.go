package resident

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

const (
	// most is what a heap may grow to between collections where the machine has enough.
	most = 256 << 20
	// share is the part of the machine's memory that it may be.
	share = 8
	// usual is the percentage that the runtime starts with.
	usual = 100
	// least is what the runtime takes for what lives where less does.
	least = 4 << 20
)

// Room is how much a long-lived process may hold before it clears away what it no longer needs: little on a small
// machine, and in a container with little memory.
func Room() uint64 {
	if memory, known := available("/"); known {
		return min(most, memory/share)
	}
	return most
}

// Spread has the collector wait until the heap has taken so many bytes, or until it has twice what lives if that is more.
// A collection costs what lives and delays whatever is under way, and frees what died: a process in which little lives and
// much dies is better off with few. GOGC in the environment goes before it, and GOMEMLIMIT holds. Stop leaves it to the
// runtime again.
func Spread(room uint64) (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	s := &spreader{room: room, limit: given()}
	s.tune()
	s.await()
	return s.stop
}

// given is GOMEMLIMIT, or what stands in its place: once it was changed here nobody can ask for it any more.
var given = sync.OnceValue(func() int64 { return debug.SetMemoryLimit(-1) })

type spreader struct {
	room  uint64
	limit int64 // that was given

	mu      sync.Mutex // guards what follows, and is held while the runtime is told
	stopped bool
}

func (s *spreader) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	debug.SetGCPercent(usual)
	debug.SetMemoryLimit(s.limit)
}

// cycle is what nobody holds: that its finalizer runs says that there was a collection.
type cycle struct{ of *spreader }

func (s *spreader) await() {
	runtime.SetFinalizer(&cycle{s}, func(c *cycle) {
		if c.of.tune() {
			c.of.await()
		}
	})
}

// tune tells the runtime how far the heap may grow, and reports whether it may be told again.
func (s *spreader) tune() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return false
	}
	sizes := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
	}
	metrics.Read(sizes)
	size := func(i int) uint64 { return sizes[i].Value.Uint64() }
	live, looked := size(0), size(0)+size(1)+size(2)
	debug.SetGCPercent(percent(s.room, live, looked))
	debug.SetMemoryLimit(min(s.limit, bound(s.room, live, looked, size(3)-min(size(3), size(4)+size(5)+size(6)))))
	return true
}

// percent is how much of what is looked through may be added to what lives.
func percent(room, live, looked uint64) int {
	if room <= live {
		return usual
	}
	return max(usual, int((room-live)*100/max(looked, least)))
}

// bound is what the process may take at most, with what is not of the heap, until it is tuned again. A percentage of what lived
// before is a multiple of the machine's memory where much lives all of a sudden, and a busy process may not come to tune it for
// long. It is twice what the heap is to grow to, and holds up nothing otherwise.
func bound(room, live, looked, others uint64) int64 {
	return int64(others + 2*max(room, live+looked, 2*least))
}
