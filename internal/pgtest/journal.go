package pgtest

import (
	"bytes"
	"sync"
)

const (
	readyLine   = "database system is ready to accept connections"
	journalSize = 32 << 10
)

// journal keeps the end of the server's log and notices when the server is ready.
type journal struct {
	ready chan struct{}

	// mu guards tail and seen.
	mu   sync.Mutex
	tail []byte
	seen bool
}

func newJournal() *journal { return &journal{ready: make(chan struct{})} }

// Write takes a piece of the log; it never fails.
func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.tail = append(j.tail, p...)
	if !j.seen && bytes.Contains(j.tail, []byte(readyLine)) {
		j.seen = true
		close(j.ready)
	}
	if extra := len(j.tail) - journalSize; extra > 0 {
		j.tail = append(j.tail[:0], j.tail[extra:]...)
	}
	return len(p), nil
}

// String returns the end of the log.
func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return string(bytes.TrimSpace(j.tail))
}
