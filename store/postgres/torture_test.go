package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/turn"
)

// The environment of the child process that is killed.
const (
	childURL   = "TURNSTONE_POSTGRES_CHILD_URL"
	childRound = "TURNSTONE_POSTGRES_CHILD_ROUND"
)

const tortureWriters = 16

func TestMain(m *testing.M) {
	if os.Getenv(childURL) != "" {
		if err := appendForEver(context.Background(), os.Getenv(childURL), os.Getenv(childRound)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// appendForEver appends from many goroutines, to a session of each and to one of all, and prints a
// line for each turn that was acknowledged.
func appendForEver(ctx context.Context, url, round string) error {
	s, err := postgres.Open(ctx, url, postgres.Config{})
	if err != nil {
		return err
	}
	failed := make(chan error)
	var printing sync.Mutex
	for i := range tortureWriters {
		go func() {
			for n := 0; ; n++ {
				session := fmt.Sprintf("own-%d", i)
				if n%4 == 0 {
					session = "shared"
				}
				a, err := insist(ctx, s, turn.Key{Tenant: turn.DefaultTenant, Session: session}, fmt.Sprintf("%s-%d-%d", round, i, n))
				if err != nil {
					failed <- err
					return
				}
				printing.Lock()
				fmt.Println(a.key.Session, a.seq, a.id)
				printing.Unlock()
			}
		}()
	}
	return <-failed
}

// A process that appends is killed: every turn it said was acknowledged is there, and seq has no gap.
func TestTortureKill(t *testing.T) {
	rounds := 5
	if os.Getenv("TURNSTONE_TORTURE") == "1" {
		rounds = 30
	}
	url := pgtest.URL(t)
	s := open(t, url, postgres.Config{})
	create(t, s, "shared")
	for i := range tortureWriters {
		create(t, s, fmt.Sprintf("own-%d", i))
	}
	var told []ack
	for round := range rounds {
		told = append(told, kill(t, url, round, 100+37*round)...)
	}
	checkAcks(t, s, told)
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}

// kill starts a child, lets it append for a while, kills it and returns what it printed.
func kill(t *testing.T, url string, round, after int) (told []ack) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self)
	child.Env = append(os.Environ(), childURL+"="+url, fmt.Sprintf("%s=%d", childRound, round))
	var complaints strings.Builder
	child.Stderr = &complaints
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		a := ack{key: turn.Key{Tenant: turn.DefaultTenant}}
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %s", &a.key.Session, &a.seq, &a.id); err != nil {
			break // the last line may be cut
		}
		if told = append(told, a); len(told) == after {
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := child.Wait(); err == nil || len(told) < after {
		t.Fatalf("the child ended by itself after %d turns: %v\n%s", len(told), err, complaints.String())
	}
	return told
}
