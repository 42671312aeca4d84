package turnstone_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// contents is everything that a store holds but for what was announced: that a pass failed is.
func contents(t *testing.T, st store.Store) string {
	t.Helper()
	var b strings.Builder
	err := st.Dump(t.Context(), func(r store.Row) error {
		if r.Table != "events" {
			fmt.Fprintln(&b, r.Table, r.Values)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// passFault fails or panics at the nth time that a point is passed, and keeps what was stored before and after the
// update that it failed.
type passFault struct {
	t             *testing.T
	st            store.Store
	at            string
	nth           int
	panics, hit   bool
	before, after string
}

func (f *passFault) fault(point string) error {
	if point == "begin" {
		switch now := contents(f.t, f.st); {
		case !f.hit:
			f.before = now
		case f.after == "":
			f.after = now
		}
	}
	if point != f.at || f.hit {
		return nil
	}
	if f.nth--; f.nth > 0 {
		return nil
	}
	f.hit = true
	if f.panics {
		panic("crash at " + f.at)
	}
	return errors.New("crash at " + f.at)
}

// crashed calls f and returns whether it failed or panicked.
func crashed(f func() error) (failed bool) {
	defer func() {
		if recover() != nil {
			failed = true
		}
	}()
	return f() != nil
}

// TestAPassThatFailsAtAnyStepChangesNothing fails a pass at every write of its update, with an error and with a
// panic, whether it was asked for or the prompt was full: what is stored stays as it was, unless all of it was
// stored already, and the next prompt is as good as any.
func TestAPassThatFailsAtAnyStepChangesNothing(t *testing.T) {
	asked := func(s *turnstone.Session) error { _, err := s.Compress(t.Context(), small); return err }
	full := func(s *turnstone.Session) error { _, err := s.Prompt(t.Context(), small); return err }
	undone := func(s *turnstone.Session) error { _, err := s.Undo(t.Context(), 0, small); return err }
	restored := func(s *turnstone.Session) error { _, err := s.Restore(t.Context(), "here", small); return err }
	hits := make(map[string]int)
	for _, tt := range []struct {
		name      string
		exchanges int
		do        func(*turnstone.Session) error
	}{{"asked", 8, asked}, {"full", 13, full}, {"undone", 8, undone}, {"restored", 8, restored}} {
	points:
		for _, point := range faulty.PassPoints {
			for nth := 1; nth <= 3; nth++ {
				for _, panics := range []bool{false, true} {
					name := fmt.Sprintf("%s, %s %d, panics %v", tt.name, point, nth, panics)
					inner := mem.New(mem.Config{})
					st := faulty.New(inner)
					eng := open(t, st, turnstone.Config{Summariser: &summariser{do: func(context.Context, compress.Request) (string, error) { return "", nil }}})
					s := session(t, eng, "s")
					converseTo(t, s, 0, 5)
					compiled(t, s, small)
					if _, err := s.Snapshot(t.Context(), "here"); err != nil {
						t.Fatal(err)
					}
					converseTo(t, s, 5, tt.exchanges)
					if tt.name == "undone" {
						compressed(t, s)
					}
					f := &passFault{t: t, st: inner, at: point, nth: nth, panics: panics}
					st.Set(f.fault)
					failed := crashed(func() error { return tt.do(s) })
					st.Set(nil)
					if !f.hit {
						// It is not passed as often as that: nor is it more often, or with a panic.
						continue points
					}
					hits[tt.name+" "+point]++
					if f.after == "" {
						f.after = contents(t, inner)
					}
					// A prompt that fits goes on without the pass, and a passing fault may be gone when it is tried again.
					if told := eventsOf(t, eng, s, event.CompressionError); !failed && len(told) == 0 {
						t.Errorf("%s: nobody was told", name)
					}
					if point != "durable" && f.after != f.before {
						t.Errorf("%s: it changed\n%s", name, cmp.Diff(f.before, f.after))
					}
					if err := s.Settle(t.Context()); err != nil {
						t.Fatal(err)
					}
					if tt.name != "restored" {
						legal(t, compiled(t, s, small), tt.exchanges)
					}
					if err := tt.do(s); err != nil && !errors.Is(err, turnstone.ErrNothingToCompress) && !errors.Is(err, turnstone.ErrNothingToUndo) {
						t.Errorf("%s: afterwards: %v", name, err)
					}
					compiled(t, s, small)
				}
			}
		}
	}
	for _, want := range []string{
		"asked begin", "asked InsertSnapshot", "asked InsertCheckpoint", "asked InsertEpoch", "asked PutBreaker", "asked InsertTurns",
		"asked Advance", "asked InsertEvent", "asked end", "asked durable", "full InsertCheckpoint", "full InsertEpoch", "full InsertTurns",
		"undone InsertEpoch", "restored InsertEpoch", "restored InsertEvent",
	} {
		if hits[want] == 0 {
			t.Errorf("no pass came by %q: %v", want, hits)
		}
	}
}

// In the environment of a child that compresses: where its store is and where it dies.
const (
	passStore = "TURNSTONE_PASS_STORE"
	passPoint = "TURNSTONE_PASS_POINT"
)

// compressUntilDead holds a conversation and makes passes until the process is killed at its point of a pass.
func compressUntilDead(ctx context.Context, where string) error {
	st, err := sqlite.Open(ctx, where, sqlite.Config{})
	if err != nil {
		return err
	}
	faults := faulty.New(st)
	eng, err := turnstone.Open(ctx, faults, turnstone.Config{
		Summariser: &summariser{do: func(context.Context, compress.Request) (string, error) { return "", nil }},
	})
	if err != nil {
		return err
	}
	s, err := eng.Session(ctx, "s")
	if err != nil {
		return err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	for n := range 8 {
		_, err := s.Append(ctx,
			turn.Draft{Role: turn.User, Content: turn.Text{Text: fmt.Sprint("question ", info.Head, " ", n)}},
			turn.Draft{Role: turn.Agent, Content: turn.Text{Text: strings.Repeat(fmt.Sprintf("answer %d of %d is long. ", n, info.Head), 60)}})
		if err != nil {
			return err
		}
	}
	faults.Set(func(at string) error {
		if at == os.Getenv(passPoint) {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			fmt.Fprintln(os.Stderr, "still alive:", err)
			select {}
		}
		return nil
	})
	_, err = s.Compress(ctx, small)
	return fmt.Errorf("it was not killed: %w", err)
}

// TestTorturePassesSurviveKill kills a process at every step of a pass and looks at what it left: the conversation
// is whole, the pass is there or is not, and the next prompt is compiled.
func TestTorturePassesSurviveKill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	where := filepath.Join(t.TempDir(), "log.db")
	turns := int64(0)
	for range rounds(t, 10, 40*time.Second) {
		for _, point := range faulty.PassPoints {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			cmd := exec.CommandContext(ctx, self)
			cmd.Env = append(os.Environ(), passStore+"="+where, passPoint+"="+point)
			var complaints bytes.Buffer
			cmd.Stderr = &complaints
			err := cmd.Run()
			cancel()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Exited() {
				t.Fatalf("at %s: the child was not killed: %v\n%s", point, err, &complaints)
			}
			turns += 16
			checkKilledPass(t, where, point, turns)
		}
	}
}

func checkKilledPass(t *testing.T, where, point string, turns int64) {
	t.Helper()
	st, err := sqlite.Open(t.Context(), where, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	}()
	_, err = doctor.Examine(t.Context(), st, func(f doctor.Finding) { t.Errorf("after %s: %v", point, f) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := session(t, eng, "s")
	page, err := s.Query(t.Context(), turn.Query{Kind: turn.KindTurn, Limit: 10_000})
	if err != nil || int64(len(page.Turns)) != turns {
		t.Fatalf("after %s: %d turns of %d, %v", point, len(page.Turns), turns, err)
	}
	p := compiled(t, s, small)
	if p.Account.Free() < 0 {
		t.Errorf("after %s: %+v", point, p.Account)
	}
}
