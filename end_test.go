package turnstone_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestEndLeavesABundleAndNoOpenCalls(t *testing.T) {
	dir := t.TempDir()
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{BundleDir: dir})
	s := session(t, eng, "a:b")
	if _, err := s.Append(t.Context(), turn.Draft{Role: turn.Agent, Content: turn.Text{
		ToolCalls: []turn.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}},
	}}); err != nil {
		t.Fatal(err)
	}
	path, err := s.End(t.Context())
	if err != nil || filepath.Dir(path) != filepath.Join(dir, "default") {
		t.Fatalf("bundle at %q, %v", path, err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := replay.Verify(t.Context(), f, replay.VerifyOptions{})
	if err != nil || sum.Turns != 2 {
		t.Fatalf("bundle holds %d turns, %v; want the call and its synthetic result", sum.Turns, err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files in the folder, %v; want the bundle alone", len(files), err)
	}
	info, err := s.Info(t.Context())
	if err != nil || info.Status != turn.Ended {
		t.Fatalf("status %s, %v", info.Status, err)
	}
	say(t, s, turn.User, "one more thing")
	if info, err := s.Info(t.Context()); err != nil || info.Status != turn.Active {
		t.Fatalf("status %s, %v after an append; want active", info.Status, err)
	}
}

func TestEndIsRefusedWhileSomebodyIsAtWork(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	lease, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var held *turn.LeaseHeldError
	if _, err := s.End(t.Context()); !errors.As(err, &held) {
		t.Fatalf("end: %v, want *LeaseHeldError", err)
	}
	if err := lease.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Acquire(t.Context()); err != nil {
		t.Fatalf("end kept the lease: %v", err)
	}
}

// Who cannot end a session since it goes on and on is told what to do.
func TestEndOfASessionThatGoesOn(t *testing.T) {
	st := &watched{Store: mem.New(mem.Config{})}
	s := session(t, open(t, st, turnstone.Config{}), "a")
	st.read.Store(func() { say(t, s, turn.User, "and another thing") })
	_, err := s.End(t.Context())
	st.read.Store(func() {})
	if !errors.Is(err, turnstone.ErrBusy) || !strings.Contains(err.Error(), "try again") {
		t.Error(err)
	}
}

func TestBundlesStayInTheirFolder(t *testing.T) {
	dir := t.TempDir()
	seen := make(map[string]bool)
	for _, name := range []string{"...", ".hidden", "a", "A", "a:b", "a.b", strings.Repeat(":", 128), strings.Repeat(":", 127) + "."} {
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{Tenant: name, BundleDir: filepath.Join(dir, "bundles")})
		path, err := session(t, eng, name).End(t.Context())
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		inside, err := filepath.Rel(filepath.Join(dir, "bundles"), path)
		if err != nil || len(strings.Split(inside, string(filepath.Separator))) != 2 || strings.HasPrefix(inside, ".") {
			t.Errorf("%q: the bundle is at %s", name, path)
		}
		if key := strings.ToLower(path); seen[key] {
			t.Errorf("%q shares %s with another name", name, path)
		} else {
			seen[key] = true
		}
	}
}

func TestEndForgetsTheFollowUpContext(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "a")
	eng.Light(t.Context(), []byte(`{"session":"a","action":"store","last_intent":"i","last_task_id":null,"pending_fields":[],"last_user_message":null}`))
	if _, err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := string(eng.Light(t.Context(), []byte(`{"session":"a","action":"retrieve"}`))); got != `{"success":true,"context":null}` {
		t.Errorf("got %s", got)
	}
}

func TestEndIdleGoesOnAfterAFailure(t *testing.T) {
	clock := scenario.NewClock()
	dir := t.TempDir()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now, BundleDir: dir})
	session(t, eng, "older")
	session(t, eng, "newer")
	if err := os.MkdirAll(filepath.Join(dir, "default", "newer.bundle", "in-the-way"), 0o700); err != nil {
		t.Fatal(err)
	}
	clock.Advance(2 * time.Hour)
	ended, err := eng.EndIdle(t.Context())
	if err == nil || !strings.Contains(err.Error(), "bundle of newer") || len(ended) != 1 || ended[0] != "older" {
		t.Errorf("ended %v, %v", ended, err)
	}
}

func TestLeaseGuardsTheState(t *testing.T) {
	clock := scenario.NewClock()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	s := session(t, eng, "a")
	lease, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	push := func(st *dialogue.State) error {
		_, _, err := st.StackOn("f", "f", dialogue.Options{})
		return err
	}
	if rev, err := lease.Believe(t.Context(), push); err != nil || rev.Number != 1 {
		t.Fatalf("revision %d, %v", rev.Number, err)
	}
	clock.Advance(16 * time.Second)
	if _, err := s.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := lease.Believe(t.Context(), push); !errors.Is(err, turn.ErrLeaseLost) {
		t.Errorf("got %v, want ErrLeaseLost", err)
	}
}

func TestEndIdleEndsOnlyWhatRests(t *testing.T) {
	clock := scenario.NewClock()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	resting, busy, fresh := session(t, eng, "resting"), session(t, eng, "busy"), session(t, eng, "fresh")
	clock.Advance(59 * time.Minute)
	say(t, fresh, turn.User, "hi")
	clock.Advance(time.Minute)
	if _, err := busy.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, err := eng.EndIdle(t.Context())
	if err != nil || len(ended) != 1 || ended[0] != resting.ID() {
		t.Fatalf("ended %v, %v; want resting alone", ended, err)
	}
	again, err := eng.EndIdle(t.Context())
	if err != nil || len(again) != 0 {
		t.Fatalf("ended %v again, %v", again, err)
	}
}

// A session that ended goes on when something is said in it, whichever way, and it is announced once.
func TestReopeningIsAnnounced(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("Hello.", "Hello.")})
	keyed := turn.Draft{Role: turn.User, Content: turn.Text{Text: "first"}, IdempotencyKey: "k"}
	for name, test := range map[string]struct {
		do   func(*turnstone.Session) error
		want int
	}{
		"an append": {func(s *turnstone.Session) error {
			_, err := s.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "again"}})
			return err
		}, 1},
		"a commit": {func(s *turnstone.Session) error {
			_, err := s.Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "again"}}}})
			return err
		}, 1},
		"an exchange": {func(s *turnstone.Session) error {
			_, err := s.Say(t.Context(), "again")
			return err
		}, 1},
		"what was sent before": {func(s *turnstone.Session) error {
			_, err := s.Append(t.Context(), keyed)
			return err
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := session(t, eng, strings.ReplaceAll(name, " ", "-"))
			if _, err := s.Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{keyed}}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.End(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := test.do(s); err != nil {
					t.Fatal(err)
				}
			}
			if got := eventsOf(t, eng, s, event.SessionReopened); len(got) != test.want {
				t.Errorf("announced %+v", got)
			}
			info, err := s.Info(t.Context())
			if err != nil || (info.Status == turn.Active) != (test.want == 1) {
				t.Errorf("it is %s, %v", info.Status, err)
			}
		})
	}
}

// Who reopens a session is told so, once.
func TestReopeningIsTold(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.NewScript("Hello.", "Hello.", "Hello.")})
	for name, do := range map[string]func(*turnstone.Session) (bool, error){
		"an append": func(s *turnstone.Session) (bool, error) {
			done, err := s.Extend(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "again"}})
			return done.Reopened, err
		},
		"an exchange": func(s *turnstone.Session) (bool, error) {
			reply, err := s.Say(t.Context(), "again")
			return reply.Reopened, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := session(t, eng, strings.ReplaceAll(name, " ", "-"))
			for i, want := range []bool{false, true, false} {
				if i == 1 {
					if _, err := s.End(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if reopened, err := do(s); err != nil || reopened != want {
					t.Errorf("%d: reopened %t, %v", i, reopened, err)
				}
			}
		})
	}
	t.Run("what was sent before", func(t *testing.T) {
		s := session(t, eng, "keyed")
		keyed := turn.Draft{Role: turn.User, Content: turn.Text{Text: "first"}, IdempotencyKey: "k"}
		for range 2 {
			if done, err := s.Extend(t.Context(), keyed); err != nil || done.Reopened || len(done.Turns) != 1 {
				t.Errorf("%+v, %v", done, err)
			}
			if _, err := s.End(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
