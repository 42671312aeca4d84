package main

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// machineSpeed is how long a fixed piece of work takes on one processor now, in milliseconds: the best of three. What
// is measured absolutely can be read only beside it: a machine that others share may be three times slower than it was
// an hour before.
func machineSpeed() float64 {
	const numbers = 400_000
	best := 0.0
	for range 3 {
		source := rand.New(rand.NewPCG(1, 2))
		xs := make([]uint64, numbers)
		for i := range xs {
			xs[i] = source.Uint64()
		}
		start := time.Now()
		slices.Sort(xs)
		if took := micros(start) / 1e3; best == 0 || took < best {
			best = took
		}
	}
	return best
}

// loop is work that touches no memory and nobody else: it is late only where the machine makes it late.
func loop(turns int) (x uint64) {
	x = 88172645463325252
	for range turns {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

// loopTurns is how many turns of the loop take so many microseconds at best.
func loopTurns(us float64) int {
	const turns = 100_000
	best := 0.0
	for range 20 {
		start := time.Now()
		runtime.KeepAlive(loop(turns)) // or the compiler would leave it out
		if took := micros(start); best == 0 || took < best {
			best = took
		}
	}
	return int(turns * us / best)
}
