package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// childRole in the environment makes the test program a child with one task.
const childRole = "TURNSTONE_SQLITE_CHILD"

// roles are what a child can do with the file it is given. What it finds goes to standard output.
var roles = map[string]func(ctx context.Context, path string) error{
	"append for ever": appendForEver,
	"append one":      appendOne,
	"hold for ever":   holdForEver,
	"read":            readOnly,
}

func TestMain(m *testing.M) {
	if role, ok := roles[os.Getenv(childRole)]; ok {
		if err := role(context.Background(), os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(ctx context.Context, t testing.TB, role, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, self, path)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	return cmd
}

func appendOne(ctx context.Context, path string) error {
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	if _, err := ensure(ctx, s, key("shared")); err != nil {
		return err
	}
	if _, err := say(ctx, s, key("shared"), fmt.Sprint("from process ", os.Getpid())); err != nil {
		return err
	}
	return s.Close()
}

// holdForEver takes the lease of a session and a daemon's mark, says so and waits for its end.
func holdForEver(ctx context.Context, path string) error {
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	if _, err := ensure(ctx, s, key("held")); err != nil {
		return err
	}
	err = s.Update(ctx, func(tx store.Tx) error {
		if _, err := turn.Acquire(ctx, tx.Log(), key("held"), "the child's", tx.Now()); err != nil {
			return err
		}
		return tx.Outbox().PutMark(ctx, event.Mark{Daemon: "tail", Holder: "the child", Until: tx.Now().Add(time.Hour)})
	})
	if err != nil {
		return err
	}
	fmt.Println("held")
	select {}
}

// readOnly reads a store that the process may not write to, and tries to.
func readOnly(ctx context.Context, path string) error {
	s, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		return err
	}
	turns, err := readLog(ctx, s, key("s"))
	if err != nil || len(turns) != 1 {
		return fmt.Errorf("%d turns, %w", len(turns), err)
	}
	for name, err := range map[string]error{
		"update": s.Update(ctx, func(store.Tx) error { return errors.New("it ran") }),
		"index":  s.IndexText(ctx),
		"load":   s.Load(ctx, func(func(store.Row, error) bool) {}),
	} {
		if !errors.Is(err, store.ErrReadOnly) {
			return fmt.Errorf("%s: got %w, want ErrReadOnly", name, err)
		}
	}
	if _, ok := s.Generation(); ok {
		return errors.New("the store claims to know who else writes")
	}
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		return fmt.Errorf("check: %v, %w", problems, err)
	}
	if err := s.Close(); err != nil {
		return err
	}
	if err := s.Update(ctx, func(store.Tx) error { return nil }); !errors.Is(err, store.ErrClosed) {
		return fmt.Errorf("after close: %w", err)
	}
	return nil
}

func TestProcessesOpenANewFileAtOnce(t *testing.T) {
	alone(t)
	const processes = 8
	path := filepath.Join(t.TempDir(), "new.db")
	var children []*exec.Cmd
	for range processes {
		c := child(t.Context(), t, "append one", path)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, path, sqlite.Config{})
	turns := log(t, s, key("shared"))
	if len(turns) != processes || turns[processes-1].Seq != processes {
		t.Errorf("%d turns up to seq %d, want %d", len(turns), turns[len(turns)-1].Seq, processes)
	}
}

// One store sees what another process wrote, and says so.
func TestGenerationCountsOtherProcesses(t *testing.T) {
	alone(t)
	path := filepath.Join(t.TempDir(), "test.db")
	s := open(t, path, sqlite.Config{})
	k := create(t, s, key("shared")).Key
	mustSay(t, s, k, "mine")
	before, ok := s.Generation()
	if !ok {
		t.Fatal("the store cannot tell")
	}
	mustSay(t, s, k, "mine again")
	if now, _ := s.Generation(); now != before {
		t.Errorf("the generation went from %d to %d by the store's own writing", before, now)
	}
	if out, err := child(t.Context(), t, "append one", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	eventually(t, "a new generation", func() bool {
		now, _ := s.Generation()
		return now != before
	})
	before, _ = s.Generation()
	if out, err := child(t.Context(), t, "append one", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// An update looks for itself, without waiting for the next time that it would be due.
	err := s.Update(t.Context(), func(store.Tx) error {
		if now, _ := s.Generation(); now == before {
			t.Errorf("the generation is still %d inside an update", now)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
