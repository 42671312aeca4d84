package inproc

import "sync"

// progress knows up to which number every message was settled, though they are settled in any order.
// It is safe for concurrent use.
type progress struct {
	mu      sync.Mutex // guards all below
	through int64
	taken   []int64 // not settled up to here, rising
	settled map[int64]bool
}

func newProgress(through int64) *progress {
	return &progress{through: through, settled: make(map[int64]bool)}
}

func (p *progress) take(number int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = append(p.taken, number)
}

func (p *progress) settle(number int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if number <= p.through {
		return
	}
	p.settled[number] = true
	for len(p.taken) > 0 && p.settled[p.taken[0]] {
		p.through = p.taken[0]
		delete(p.settled, p.through)
		p.taken = p.taken[1:]
	}
}

func (p *progress) reached() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.through
}
