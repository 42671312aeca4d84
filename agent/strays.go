package agent

import (
	"context"
	"sync"

	"github.com/turnstone-dev/turnstone/llm"
)

// strays counts goroutines of tools, hooks, models and readers of files, so that somebody can wait for those that nobody
// waits for any longer.
type strays struct {
	mu   sync.Mutex // guards all below
	n    int
	none chan struct{} // closed when n comes back to 0
}

func (s *strays) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n == 0 {
		s.none = make(chan struct{})
	}
	s.n++
}

func (s *strays) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n--; s.n == 0 {
		close(s.none)
	}
}

func (s *strays) wait(ctx context.Context) error {
	s.mu.Lock()
	n, none := s.n, s.none
	s.mu.Unlock()
	if n == 0 {
		return nil
	}
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return llm.Ended(ctx)
	}
}
