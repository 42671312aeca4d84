// Package scenario runs transcripts: the engine's behaviour as pages that a person can read.
//
// A transcript is a txtar archive. Its comment says in prose what it shows; its file "transcript"
// holds commands, each on a line after "> ", and what the engine answered beneath. The same
// transcript is run against every store and must read the same.
package scenario

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
)

const section = "transcript"

// Clock is the time of a transcript. It stands still until a command moves it. It is safe for
// concurrent use, since stores work in the background too.
type Clock struct{ seconds atomic.Int64 }

var beginning = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// NewClock returns a clock at the time at which every transcript begins.
func NewClock() *Clock { return &Clock{} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	return beginning.Add(time.Duration(c.seconds.Load()) * time.Second)
}

// Advance moves the clock on by whole seconds.
func (c *Clock) Advance(d time.Duration) { c.seconds.Add(int64(d / time.Second)) }

// Play runs the commands of a transcript on a store that uses the clock, and returns the archive
// with the answers in place of those it came with. The error is about the transcript itself; what
// the engine refuses is an answer. The store is closed.
func Play(ctx context.Context, archive []byte, st store.Store, clock *Clock) ([]byte, error) {
	a := txtar.Parse(archive)
	if len(a.Files) != 1 || a.Files[0].Name != section {
		return nil, fmt.Errorf("transcript: want one file called %q", section)
	}
	eng, err := turnstone.Open(ctx, st, turnstone.Config{Clock: clock.Now, Entropy: &counter{}})
	if err != nil {
		return nil, err
	}
	p := &player{engine: eng, store: st, clock: clock, leases: make(map[string]*turnstone.Lease)}
	var out strings.Builder
	for n, line := range strings.Split(string(a.Files[0].Data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			fmt.Fprintln(&out, line)
			continue
		}
		command, ok := strings.CutPrefix(line, "> ")
		if !ok {
			continue
		}
		answer, err := p.run(ctx, command)
		if err != nil {
			return nil, fmt.Errorf("transcript line %d: %w", n+1, err)
		}
		fmt.Fprintf(&out, "%s\n%s", line, answer)
	}
	a.Files[0].Data = []byte(strings.TrimRight(out.String(), "\n") + "\n")
	return txtar.Format(a), eng.Close()
}

// counter is randomness that is the same every time.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		c.n++
		p[i] = c.n
	}
	return len(p), nil
}

// fields splits a command into words. A word that begins with { or [ or " reaches to the end of
// the line: it is JSON or a sentence, and always last.
func fields(command string) []string {
	var words []string
	for {
		command = strings.TrimLeft(command, " ")
		if command == "" {
			return words
		}
		if strings.ContainsRune(`{["`, rune(command[0])) {
			return append(words, strings.TrimRight(command, " "))
		}
		word, rest, _ := strings.Cut(command, " ")
		words, command = append(words, word), rest
	}
}
