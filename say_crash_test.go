package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/pgtest"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// sayStore says, in the environment of a child, where the store is that it talks in until it dies.
const sayStore = "TURNSTONE_SAY_STORE"

// longReply takes longer to be said than drafts take to be flushed, more than once.
func longReply(n int) string { return fmt.Sprintf("answer %d: ", n) + strings.Repeat("and so on ", 20) }

// crashModel calls a tool and then replies at length.
func crashModel(r llm.Request) llmtest.Reply {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == llm.User {
		return llmtest.Reply{Text: "Let me look.", Calls: []llm.Call{call("c", "Lisbon")}}
	}
	question := r.Messages[len(r.Messages)-3].Text
	n, err := strconv.Atoi(strings.TrimPrefix(question, "question "))
	if err != nil {
		return llmtest.Reply{Err: err}
	}
	return llmtest.Reply{Text: longReply(n), Delay: 10 * time.Millisecond}
}

// sayUntilDead has exchange after exchange and says so after each, until the process is killed at its point.
func sayUntilDead(ctx context.Context, where string) error {
	st, err := openCrashStore(ctx, where)
	if err != nil {
		return err
	}
	after, _ := strconv.Atoi(os.Getenv(crashAfter))
	var left atomic.Int64 // drafts are flushed by another goroutine
	left.Store(int64(after))
	from, _ := strconv.Atoi(os.Getenv(crashFrom))
	point := os.Getenv(crashPoint)
	tool, err := agent.NewTool("clock", "Tells the time.", func(context.Context, zone) (string, error) { return "noon", nil })
	if err != nil {
		return err
	}
	faults := faulty.New(st)
	eng, err := turnstone.Open(ctx, faults, turnstone.Config{Model: llmtest.Respond(crashModel), ModelName: "llama3.2", Agent: agent.Config{Tools: []agent.Tool{tool}}})
	if err != nil {
		return err
	}
	chat, err := eng.Session(ctx, "talk")
	if err != nil {
		return err
	}
	faults.Set(func(at string) error {
		if at != point || left.Add(-1) >= 0 {
			return nil
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		fmt.Fprintln(os.Stderr, "still alive:", err)
		select {}
	})
	for n := from; ; n++ {
		if _, err := chat.Say(ctx, fmt.Sprint("question ", n)); err != nil {
			return err
		}
		fmt.Println("acknowledged", n)
	}
}

// TestTortureRepliesSurviveKill kills a process at every write of an exchange: while it begins, in the middle of its
// reply, between its tools, at its end. After each kill the history is legal, nothing acknowledged is lost, what was
// flushed of the reply is one turn marked as interrupted, and the conversation goes on.
func TestTortureRepliesSurviveKill(t *testing.T) {
	for name, where := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "log.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &sayWorld{T: t, where: where(t), acknowledged: make(map[int]bool)}
			for round := range rounds(t, 6, time.Minute) {
				for i, point := range faulty.SayPoints {
					w.run(point, (round*7+i)%5)
					w.check(point)
				}
			}
			if w.interrupted == 0 || len(w.acknowledged) == 0 {
				t.Errorf("%d replies were interrupted, %d exchanges acknowledged", w.interrupted, len(w.acknowledged))
			}
		})
	}
}

type sayWorld struct {
	*testing.T
	where        string
	next         int
	acknowledged map[int]bool
	interrupted  int // replies that were kept in part
}

// run has a child talk until it dies at the point.
func (w *sayWorld) run(point string, after int) {
	w.Helper()
	runToDeath(w.T, sayStore+"="+w.where, point, after, w.next, func(line string) {
		var n int
		if _, err := fmt.Sscanf(line, "acknowledged %d", &n); err == nil {
			w.acknowledged[n] = true
			w.next = n + 1
		}
	})
	w.next++
}

// check says something once the lease of the dead is free, and looks at what there is.
func (w *sayWorld) check(point string) {
	w.Helper()
	ctx := w.Context()
	st, err := openCrashStore(ctx, w.where)
	if err != nil {
		w.Fatal(err)
	}
	eng, err := turnstone.Open(ctx, st, turnstone.Config{Model: llmtest.NewScript("Welcome back."), ModelName: "llama3.2"})
	if err != nil {
		w.Fatal(err)
	}
	defer func() {
		if err := eng.Close(); err != nil {
			w.Error(err)
		}
	}()
	chat, err := eng.Find(ctx, "talk")
	if err != nil {
		w.Fatal(err)
	}
	key := turn.Key{Tenant: turn.DefaultTenant, Session: "talk"}
	err = st.Update(ctx, func(tx store.Tx) error {
		left, err := tx.Log().Lease(ctx, key)
		if _, ok := st.(*sqlite.Store); ok && left != (turn.Lease{}) {
			w.Errorf("after %q: the dead hold %+v in a file that nobody else has open", point, left)
		}
		return errors.Join(err, tx.Log().SetLease(ctx, key, turn.Lease{})) // PostgreSQL's runs out
	})
	if err != nil {
		w.Fatal(err)
	}
	if _, err := chat.Say(ctx, "I am back."); err != nil {
		w.Fatalf("after %q: %v", point, err)
	}
	w.whole(point, st, chat)
	examined(w.T, st)
}

// whole holds every exchange against what it may be.
func (w *sayWorld) whole(point string, st store.Store, chat *turnstone.Session) {
	w.Helper()
	exchanges := make(map[string][]string) // by question
	question, asked := "", 0
	for _, line := range turnsOf(w.T, chat) {
		if text, ok := strings.CutPrefix(line, "user: "); ok {
			asked++
			if question = text; question != "I am back." && exchanges[question] != nil {
				w.Errorf("after %q: %q stands there twice", point, question)
			}
		}
		exchanges[question] = append(exchanges[question], line)
	}
	w.interrupted = 0
	for n := range w.next {
		lines, whole := exchanges[fmt.Sprint("question ", n)], "agent: "+longReply(n)
		if len(lines) == 0 {
			if w.acknowledged[n] {
				w.Errorf("after %q: exchange %d was acknowledged and is gone", point, n)
			}
			continue
		}
		last := lines[len(lines)-1]
		partial, cut := strings.CutSuffix(last, " [interrupted]")
		switch {
		case w.acknowledged[n] && (len(lines) != 4 || last != whole):
			w.Errorf("after %q: exchange %d was acknowledged and is %q", point, n, lines)
		case len(lines) > 4, strings.Count(strings.Join(lines, "|"), "[interrupted]") > 1:
			w.Errorf("after %q: exchange %d is %q", point, n, lines)
		case len(lines) == 4 && cut:
			w.interrupted++
			if !strings.HasPrefix(whole, partial) {
				w.Errorf("after %q: exchange %d was interrupted at %q", point, n, partial)
			}
		case cut && partial != "agent: Let me look. clock {\"zone\":\"Lisbon\"}" && !strings.HasPrefix("agent: Let me look.", partial):
			w.Errorf("after %q: exchange %d was interrupted at %q", point, n, partial)
		}
	}
	if states := statuses(w.T, st, chat); len(states) != asked || strings.Contains(strings.Join(states, " "), "open") {
		w.Errorf("after %q: %d questions, and exchanges that ended as %q", point, asked, states)
	}
}
