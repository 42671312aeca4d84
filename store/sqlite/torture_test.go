package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/store/sqlite"
)

const (
	tortureWriters  = 16
	tortureSessions = 5
)

func tortureSession(i int) string { return fmt.Sprintf("session-%d", i%tortureSessions) }

// appendForEver appends from many goroutines and prints a line for each turn that was acknowledged.
func appendForEver(ctx context.Context, path string) error {
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	// Short, so that copying the log is interrupted too.
	s.ShortenLog(64, 512)
	for i := range tortureSessions {
		if _, err := ensure(ctx, s, key(tortureSession(i))); err != nil {
			return err
		}
	}
	failed := make(chan error)
	var printing sync.Mutex
	for i := range tortureWriters {
		go func() {
			for n := i; ; n++ {
				session := tortureSession(n)
				said, err := say(ctx, s, key(session), fmt.Sprintf("process %d, writer %d, turn %d %s", os.Getpid(), i, n, strings.Repeat(".", n%3000)))
				if err != nil {
					failed <- err
					return
				}
				printing.Lock()
				fmt.Println(session, said.Seq, said.ID)
				printing.Unlock()
			}
		}()
	}
	return <-failed
}

type ack struct {
	session string
	seq     int64
	id      string
}

// A process that appends is killed at any moment: the file opens, every turn that was acknowledged is
// there, seq has no gap and nothing is there twice.
func TestTortureKill(t *testing.T) {
	rounds := 5
	if os.Getenv("TURNSTONE_TORTURE") == "1" {
		rounds = 50
	}
	path := filepath.Join(t.TempDir(), "killed.db")
	var told []ack
	for round := range rounds {
		told = append(told, kill(t, path, 1+rand.IntN(800))...)
		s := open(t, path, sqlite.Config{})
		checkAcks(t, s, told)
		if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Errorf("round %d: check: %v, %v", round, problems, err)
		}
		closed(t, s)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d turns acknowledged in %d rounds", len(told), rounds)
}

// kill starts a child, lets it append for a while, kills it and returns what it printed.
func kill(t *testing.T, path string, after int) (told []ack) {
	t.Helper()
	c := child(t.Context(), t, "append for ever", path)
	var complaints strings.Builder
	c.Stderr = &complaints
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what was cut off was not acknowledged
		}
		var a ack
		if _, err := fmt.Sscanf(line, "%s %d %s\n", &a.session, &a.seq, &a.id); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		if told = append(told, a); len(told) == after {
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Wait(); err == nil || len(told) < after {
		t.Fatalf("the child ended by itself after %d turns: %v\n%s", len(told), err, complaints.String())
	}
	return told
}

func checkAcks(t *testing.T, s *sqlite.Store, told []ack) {
	t.Helper()
	ids := make(map[ack]bool)
	said := make(map[string]bool)
	for i := range tortureSessions {
		session := tortureSession(i)
		for at, turn := range log(t, s, key(session)) {
			if turn.Seq != int64(at+1) {
				t.Fatalf("%s: turn %d has seq %d", session, at+1, turn.Seq)
			}
			ids[ack{session, turn.Seq, turn.ID}] = true
			text := turn.Content.Searchable()
			if said[text] {
				t.Errorf("%s: %.40q is there twice", session, text)
			}
			said[text] = true
		}
	}
	for _, a := range told {
		if !ids[a] {
			t.Errorf("turn %d of %s, %s, was acknowledged and is not there", a.seq, a.session, a.id)
		}
	}
}
