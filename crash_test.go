package turnstone_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	oteltrace "go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// In the environment of a child: where its store is, where it dies and how often it comes by before.
const (
	crashStore = "TURNSTONE_CRASH_STORE"
	crashPoint = "TURNSTONE_CRASH_POINT"
	crashAfter = "TURNSTONE_CRASH_AFTER"
	crashFrom  = "TURNSTONE_CRASH_FROM"
)

func TestMain(m *testing.M) {
	if where := os.Getenv(passStore); where != "" {
		if err := compressUntilDead(context.Background(), where); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	if where := os.Getenv(sayStore); where != "" {
		if err := sayUntilDead(context.Background(), where); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	if folder := os.Getenv(forgetFolder); folder != "" {
		if err := forgetUntilDead(context.Background(), folder); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if where := os.Getenv(crashStore); where != "" {
		if err := commitUntilDead(context.Background(), where); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func openCrashStore(ctx context.Context, where string) (store.Store, error) {
	if strings.HasPrefix(where, "postgres") {
		return postgres.Open(ctx, where, postgres.Config{})
	}
	return sqlite.Open(ctx, where, sqlite.Config{})
}

// commitUntilDead commits exchange after exchange and says so after each, until the process is killed at
// its point.
func commitUntilDead(ctx context.Context, where string) error {
	st, err := openCrashStore(ctx, where)
	if err != nil {
		return err
	}
	after, _ := strconv.Atoi(os.Getenv(crashAfter))
	from, _ := strconv.Atoi(os.Getenv(crashFrom))
	point := os.Getenv(crashPoint)
	die := func(at string) {
		if at != point {
			return
		}
		if after--; after >= 0 {
			return
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Fprintln(os.Stderr, "still alive:", err)
		select {}
	}
	faults := faulty.New(st)
	eng, err := turnstone.Open(ctx, faults, turnstone.Config{
		Observe: func(_ turn.Key, s commit.State) { die("state " + string(s)) },
		// Between the second and the third phase.
		Reflector: commit.ReflectFunc(func(ctx context.Context, s *commit.Situation, a commit.Assessment) (commit.Reflection, error) {
			r, err := commit.Rules{}.Reflect(ctx, s, a)
			die("reflected")
			return r, err
		}),
		Tracer: deadlyTracer{die: die},
	})
	if err != nil {
		return err
	}
	chat, err := eng.Session(ctx, "talk")
	if err != nil {
		return err
	}
	faults.Set(func(at string) error {
		die(at)
		return nil
	})
	for n := from; ; n++ {
		res, err := chat.Commit(ctx, crashExchange(n))
		if err != nil {
			return err
		}
		fmt.Println("acknowledged", n, res.ExportID)
	}
}

// deadlyTracer is given an exchange between the fifth phase and its end.
type deadlyTracer struct {
	noop.Tracer
	die func(at string)
}

func (t deadlyTracer) Start(ctx context.Context, name string, o ...oteltrace.SpanStartOption) (context.Context, oteltrace.Span) {
	t.die("notified")
	return t.Tracer.Start(ctx, name, o...)
}

func crashExchange(n int) commit.Exchange {
	goal, why, kind, note := "Survive", fmt.Sprint("c", n), "alert", fmt.Sprint("n", n)
	progress := float64(n%1000) / 1000
	return commit.Exchange{
		Turns: []turn.Draft{
			{Role: turn.User, Content: turn.Text{Text: fmt.Sprint("q", n)}},
			{Role: turn.Agent, Content: turn.Text{Text: fmt.Sprint("a", n)}},
		},
		Candidates: []memory.Candidate{
			{Type: memory.UserData, Text: fmt.Sprint("f", n), Source: memory.FromUser},
			{Type: memory.UserData, Text: fmt.Sprint("h", n), Source: memory.FromUser},
		},
		Intentions: cortex.Changes{Goals: []cortex.GoalChange{{ID: "g", Title: &goal, Why: why, Progress: &progress}}},
		Scratch:    scratch.Changes{Put: []scratch.Change{{ID: fmt.Sprint("o", n%20), Type: &kind, Content: &note}}},
	}
}

// TestTortureCommitsSurviveKill kills a committing process at every write of a commit's update and
// between every two phases, and starts it again on what it left. The long form does so many times over.
func TestTortureCommitsSurviveKill(t *testing.T) {
	points := slices.Clone(faulty.Points)
	points = append(points, "HearLight", "reflected", "notified")
	for _, s := range []commit.State{commit.Completing, commit.ReadyForCommit, commit.Committing, commit.Complete} {
		points = append(points, "state "+string(s))
	}
	for name, where := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "log.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			w := &crashWorld{T: t, where: where(t), acknowledged: make(map[int]string), published: make(map[string]int)}
			for round := range rounds(t, 8, 50*time.Second) {
				for i, point := range points {
					w.run(point, (round*7+i)%5)
					// A relay that was killed keeps others waiting for a while: daemons are looked at once
					// a round.
					w.check(point, i == len(points)-1)
				}
			}
			if len(w.acknowledged) < len(points) {
				t.Errorf("only %d exchanges were acknowledged", len(w.acknowledged))
			}
		})
	}
}

// rounds are those of a test that has one in its short form, and in its long one as many as begin within its share of the
// time, so that a slow machine comes to an end too.
func rounds(t *testing.T, long int, share time.Duration) iter.Seq[int] {
	t.Helper()
	if os.Getenv("TURNSTONE_TORTURE") == "" {
		long = 1
	}
	return func(yield func(int) bool) {
		begun := time.Now()
		for round := range long {
			if round > 0 && time.Since(begun) > share {
				t.Logf("%d of %d rounds in %s", round, long, share)
				return
			}
			if !yield(round) {
				return
			}
		}
	}
}

type crashWorld struct {
	*testing.T
	where        string
	next         int
	acknowledged map[int]string // exchange → export
	published    map[string]int // export → how often a daemon got it
}

// run has a child commit until it dies at the point.
func (w *crashWorld) run(point string, after int) {
	w.Helper()
	runToDeath(w.T, crashStore+"="+w.where, point, after, w.next, func(line string) {
		var n int
		var export string
		if _, err := fmt.Sscanf(line, "acknowledged %d %s", &n, &export); err == nil {
			w.acknowledged[n] = export
			w.next = n + 1
		}
	})
	w.next++ // whether the last one is there is nobody's to know: it is not tried again
}

// runToDeath has a child work on a store from the given exchange on until it is killed at the point, and hears what it says.
func runToDeath(t *testing.T, where, point string, after, from int, hear func(line string)) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), where, crashPoint+"="+point, crashAfter+"="+strconv.Itoa(after), crashFrom+"="+strconv.Itoa(from))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		hear(lines.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Success() || exit.Exited() {
		t.Fatalf("at %q: the child was not killed: %v\n%s", point, err, complaints.String())
	}
}

// check opens what the child left: every exchange is there whole or not at all, every acknowledged one is,
// and, if asked for, daemons get each.
func (w *crashWorld) check(point string, deliver bool) {
	w.Helper()
	ctx := w.Context()
	st, err := openCrashStore(ctx, w.where)
	if err != nil {
		w.Fatal(err)
	}
	eng, err := turnstone.Open(ctx, st, turnstone.Config{})
	if err != nil {
		w.Fatal(err)
	}
	defer func() {
		if err := eng.Close(); err != nil {
			w.Error(err)
		}
	}()
	exports := w.whole(eng, point)
	for n, id := range w.acknowledged {
		if exports[n] != id {
			w.Errorf("after %q: exchange %d was acknowledged as %s and is %q", point, n, id, exports[n])
		}
	}
	if deliver {
		w.deliver(eng, exports, point)
	}
	_, err = doctor.Examine(ctx, st, func(f doctor.Finding) { w.Errorf("after %q: %v", point, f) }, func(int64) {})
	if err != nil {
		w.Errorf("after %q: %v", point, err)
	}
}

// whole returns the export of every exchange that is in the store, and fails if one is in some targets only.
func (w *crashWorld) whole(eng *turnstone.Engine, point string) map[int]string {
	w.Helper()
	ctx := w.Context()
	chat, err := eng.Find(ctx, "talk")
	if err != nil {
		w.Fatal(err)
	}
	found := make(map[string]int)
	openers := make(map[int]string)
	for after := int64(0); ; {
		page, err := chat.Query(ctx, turn.Query{Limit: 1000, After: after})
		if err != nil {
			w.Fatal(err)
		}
		for _, t := range page.Turns {
			text := t.Content.Searchable()
			if t.Kind == turn.KindTurn {
				found[text]++
			}
			if n, ok := strings.CutPrefix(text, "q"); ok && t.Role == turn.User {
				i, _ := strconv.Atoi(n)
				openers[i] = t.ID
			}
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	for cursor := ""; ; {
		page, err := chat.Remembered(ctx, memory.Search{Limit: 1000, Cursor: cursor, Archived: true})
		if err != nil {
			w.Fatal(err)
		}
		for _, item := range page.Items {
			found[item.Text]++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	history, err := chat.IntentionHistory(ctx, cortex.KindGoal, "g")
	if err != nil && !errors.Is(err, cortex.ErrNotFound) {
		w.Fatal(err)
	}
	for _, e := range history {
		for _, a := range e.Changes {
			found[a.Why]++
		}
	}
	exports := make(map[int]string)
	for n, opener := range openers {
		export, err := eng.Export(ctx, opener)
		if err != nil {
			w.Errorf("after %q: exchange %d has no export: %v", point, n, err)
			continue
		}
		exports[n] = export.ExportID
		if export.Turn.UserInput != fmt.Sprint("q", n) || len(export.Episodes) != 2 {
			w.Errorf("after %q: export of exchange %d: %+v", point, n, export)
		}
		for _, part := range []string{"q", "a", "f", "h", "c"} {
			if got := found[part+strconv.Itoa(n)]; got != 1 {
				w.Errorf("after %q: exchange %d has %s %d times", point, n, part, got)
			}
			delete(found, part+strconv.Itoa(n))
		}
	}
	if len(found) > 0 {
		w.Errorf("after %q: parts of exchanges without the rest: %v", point, slices.Sorted(maps.Keys(found)))
	}
	return exports
}

// deliver has a daemon take what is published and fails if something never is, or in another order.
func (w *crashWorld) deliver(eng *turnstone.Engine, exports map[int]string, point string) {
	w.Helper()
	got := make(chan event.Message, 1024)
	sub, err := eng.Subscribe(w.Context(), "watcher", func(_ context.Context, m event.Message) (int, error) {
		got <- m
		return 1, nil
	}, bus.Options{})
	if err != nil {
		w.Fatal(err)
	}
	defer func() {
		if err := sub.Close(); err != nil {
			w.Error(err)
		}
	}()
	missing := make(map[string]bool)
	for _, id := range exports {
		if w.published[id] == 0 {
			missing[id] = true
		}
	}
	timeout := time.NewTimer(2 * time.Minute)
	defer timeout.Stop()
	for len(missing) > 0 {
		select {
		case m := <-got:
			w.published[m.ID]++
			delete(missing, m.ID)
		case <-timeout.C:
			w.Fatalf("after %q: %d exports were never delivered", point, len(missing))
		}
	}
}
