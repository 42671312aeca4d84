package resident

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
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
	s := &spreader{room: room}
	s.tune()
	s.await()
	return func() {
		s.stopped.Store(true)
		debug.SetGCPercent(usual)
	}
}

type spreader struct {
	room    uint64
	stopped atomic.Bool
}

// cycle is what nobody holds: that its finalizer runs says that there was a collection.
type cycle struct{ of *spreader }

func (s *spreader) await() {
	runtime.SetFinalizer(&cycle{s}, func(c *cycle) {
		if !c.of.stopped.Load() {
			c.of.tune()
			c.of.await()
		}
	})
}

func (s *spreader) tune() {
	sizes := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(sizes)
	live := sizes[0].Value.Uint64()
	debug.SetGCPercent(percent(s.room, live, live+sizes[1].Value.Uint64()+sizes[2].Value.Uint64()))
}

// percent is how much of what is looked through may be added to what lives.
func percent(room, live, looked uint64) int {
	if room <= live {
		return usual
	}
	return max(usual, int((room-live)*100/max(looked, least)))
}
