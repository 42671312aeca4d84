// Package ids makes and checks the names of things: ULIDs for turns, readable names for sessions.
package ids

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Source makes ULIDs that rise strictly within the process, whatever the clock does. It is safe for
// concurrent use.
type Source struct {
	mu      sync.Mutex // guards all below
	entropy io.Reader
	last    ulid.ULID
}

// New returns a source that takes its randomness from entropy, or from the system where it is nil.
// The source reads entropy under its own lock; given the same bytes and times it makes the same ids.
// Where entropy ends or fails the system's randomness takes its place: no two processes may make the same id.
func New(entropy io.Reader) *Source {
	if entropy == nil {
		// Buffered, since a system call per id would be most of its cost.
		entropy = bufio.NewReaderSize(rand.Reader, 1024)
	}
	return &Source{entropy: entropy}
}

// Next returns an id of 26 characters that sorts after every id this source made before. Where the
// clock stands still or goes back the last id is counted up instead.
func (s *Source) Next(now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Times before 1970 and after the year 10889 do not fit and count as 0 and the last one.
	ms := min(uint64(max(now.UnixMilli(), 0)), ulid.MaxTime())
	if ms > s.last.Time() || s.last.IsZero() {
		// A time that fits is no error.
		_ = s.last.SetTime(ms)
		if _, err := io.ReadFull(s.entropy, s.last[6:]); err != nil {
			// Returns no error, ever: without the system's randomness the program ends.
			rand.Read(s.last[6:])
		}
		return s.last.String()
	}
	// A carry out of the random part runs on into the time, so that the next id still is greater.
	for i := len(s.last) - 1; i >= 0; i-- {
		if s.last[i]++; s.last[i] != 0 {
			break
		}
	}
	return s.last.String()
}

// Floor returns the least id there is of a time: every id that was made before it sorts before it.
func Floor(at time.Time) string {
	var id ulid.ULID
	// A time that fits is no error.
	_ = id.SetTime(min(uint64(max(at.UnixMilli(), 0)), ulid.MaxTime()))
	return id.String()
}

// Derived returns an id of a time that is made from names: the same ones have the same id.
func Derived(at time.Time, names ...string) string {
	var id ulid.ULID
	// A time that fits is no error.
	_ = id.SetTime(min(uint64(max(at.UnixMilli(), 0)), ulid.MaxTime()))
	sum := sha256.New()
	for _, name := range names {
		fmt.Fprintf(sum, "%d:%s", len(name), name)
	}
	copy(id[6:], sum.Sum(nil))
	return id.String()
}

// Valid reports whether s is a ULID as Next writes it.
func Valid(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}

// CheckName refuses a name of a session or tenant that is not 1–128 letters, digits and . _ : -, and one or two dots
// alone, which no path of a URL can hold. The error names the field.
func CheckName(field, name string) error {
	const fix = "use 1 to 128 letters, digits and . _ : -"
	if name == "" {
		return invalid.New(field, "is empty", fix)
	}
	if len(name) > 128 {
		return invalid.New(field, fmt.Sprintf("is %d bytes long", len(name)), fix)
	}
	if name == "." || name == ".." {
		return invalid.New(field, fmt.Sprintf("%q is a step in a path", name), fix)
	}
	for _, c := range name {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && c != '.' && c != '_' && c != ':' && c != '-' {
			return invalid.New(field, fmt.Sprintf("%q holds %q", name, c), fix)
		}
	}
	return nil
}
