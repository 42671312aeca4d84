package turnstone_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/internal/leaktest"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// flushed is the draft of a session's reply.
func flushed(t *testing.T, st store.Store, chat *turnstone.Session) (e turn.OpenExchange) {
	t.Helper()
	err := st.View(t.Context(), func(tx store.Tx) (err error) {
		e, _, err = tx.Log().Exchange(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: chat.ID()})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// slowly runs a test in a bubble, in which a long reply takes no time, and closes the engine in it.
func slowly(t *testing.T, config turnstone.Config, f func(*testing.T, *faulty.Store, *turnstone.Session)) {
	synctest.Test(t, func(t *testing.T) {
		st := faulty.New(mem.New(mem.Config{}))
		if config.ModelName == "" {
			config.ModelName = "llama3.2"
		}
		eng, err := turnstone.Open(t.Context(), st, config)
		if err != nil {
			t.Fatal(err)
		}
		f(t, st, session(t, eng, "talk"))
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
}

// syncing notes of each update of a store whether it was waited for.
type syncing struct {
	*faulty.Store
	mu     sync.Mutex
	drafts []bool
	at     []time.Time // when each was written
}

type syncingTx struct {
	store.Tx
	later bool
}

func (t *syncingTx) SyncLater() { t.later = true }

func (s *syncing) Update(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		watched := &syncingTx{Tx: tx}
		before, _, err := tx.Log().Exchange(ctx, talkKey)
		if err != nil {
			return err
		}
		if err := fn(watched); err != nil {
			return err
		}
		after, open, err := tx.Log().Exchange(ctx, talkKey)
		if open && after.Content != "" && after != before {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.drafts, s.at = append(s.drafts, !watched.later), append(s.at, time.Now())
		}
		return err
	})
}

var talkKey = turn.Key{Tenant: turn.DefaultTenant, Session: "talk"}

// TestADraftIsDurableOnceASecond: the disk is waited for by every fourth of the flushes, and where a model pauses the last
// one is written again for it.
func TestADraftIsDurableOnceASecond(t *testing.T) {
	const n, y = false, true
	for _, test := range []struct {
		text  string
		every time.Duration
		want  []bool
	}{
		{"One two three four five six seven eight nine ten eleven twelve.", 200 * time.Millisecond, []bool{n, n, n, y, n, n, n, y, n, n}},
		{"One two three.", 1100 * time.Millisecond, []bool{n, y, n, y, n, y}},
	} {
		testDraftIsDurable(t, test.text, test.every, test.want)
	}
}

// TestDraftsAreWrittenTogether: whenever an exchange began, its draft is written at moments that it shares with others, and
// no later than its time.
func TestDraftsAreWrittenTogether(t *testing.T) {
	for _, begin := range []time.Duration{0, 7 * time.Millisecond, 24 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			st := &syncing{Store: faulty.New(mem.New(mem.Config{}))}
			eng, err := turnstone.Open(t.Context(), st, turnstone.Config{
				Model: llmtest.Replies(llmtest.Reply{Text: "One two three four five six seven.", Delay: 110 * time.Millisecond}), ModelName: "llama3.2",
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(begin)
			started := time.Now()
			if _, err := session(t, eng, "talk").Say(t.Context(), "Count."); err != nil {
				t.Error(err)
			}
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
			if len(st.at) < 2 || st.at[0].Sub(started) > 250*time.Millisecond {
				t.Errorf("written at %v, begun at %v", st.at, started)
			}
			for _, at := range st.at {
				if !at.Equal(at.Truncate(25 * time.Millisecond)) {
					t.Errorf("begun at %v: written at %v", started, at)
				}
			}
		})
	}
}

func testDraftIsDurable(t *testing.T, text string, every time.Duration, want []bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		script := llmtest.Replies(llmtest.Reply{Text: text, Delay: every})
		st := &syncing{Store: faulty.New(mem.New(mem.Config{}))}
		eng, err := turnstone.Open(t.Context(), st, turnstone.Config{Model: script, ModelName: "llama3.2"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := session(t, eng, "talk").Say(t.Context(), "Count."); err != nil {
			t.Error(err)
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
		if !slices.Equal(st.drafts, want) {
			t.Errorf("waited for %v, want %v", st.drafts, want)
		}
	})
}

func TestTheDraftOfAReplyIsFlushed(t *testing.T) {
	script := llmtest.Replies(llmtest.Reply{Thinking: "Hm. ", Text: "One two three four five six.", Delay: 110 * time.Millisecond})
	slowly(t, turnstone.Config{Model: script}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		done := make(chan error)
		go func() {
			_, err := chat.Say(t.Context(), "Count.")
			done <- err
		}()
		time.Sleep(140 * time.Millisecond)
		first := flushed(t, st, chat)
		if first.Content != "" || first.Reply != "" || first.Opened == "" || first.ExportID == "" || first.Model != "llama3.2" {
			t.Errorf("before anything was flushed: %+v", first)
		}
		time.Sleep(120 * time.Millisecond)
		draft := flushed(t, st, chat)
		if draft.Content != `{"text":"One ","thinking":"Hm. "}` || draft.Reply == "" || draft.ExportID != first.ExportID || !draft.Changed.After(first.Changed) {
			t.Errorf("after 260 ms: %+v", draft)
		}
		time.Sleep(250 * time.Millisecond)
		if later := flushed(t, st, chat); later.Content != `{"text":"One two three ","thinking":"Hm. "}` || later.Reply != draft.Reply {
			t.Errorf("after 510 ms: %+v", later)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if left := flushed(t, st, chat); left != (turn.OpenExchange{}) {
			t.Errorf("after the reply: %+v", left)
		}
		page, err := chat.Query(t.Context(), turn.Query{ID: draft.Reply})
		if err != nil || len(page.Turns) != 1 || page.Turns[0].Meta.Interrupted || page.Turns[0].Meta.Latency != 880*time.Millisecond {
			t.Errorf("%+v, %v", page.Turns, err)
		}
	})
}

func TestTheLeaseIsKeptWhileAReplyComes(t *testing.T) {
	script := llmtest.Replies(llmtest.Reply{Text: strings.Repeat("on ", 120), Delay: time.Second})
	slowly(t, turnstone.Config{Model: script}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		done := make(chan error)
		go func() {
			_, err := chat.Say(t.Context(), "Go.")
			done <- err
		}()
		for range 10 {
			time.Sleep(11 * time.Second)
			if _, err := chat.Acquire(t.Context()); !errors.Is(err, turnstone.ErrBusy) {
				t.Fatal(err)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestAModelThatSaysNothingKeepsItsLease(t *testing.T) {
	well := llmtest.Reply{Text: "Well.", Delay: 100 * time.Second}
	slowly(t, turnstone.Config{Model: llmtest.Replies(well, well)}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		for range 2 {
			if reply, err := chat.Say(t.Context(), "Go."); err != nil || reply.Text != "Well." {
				t.Error(reply, err)
			}
		}
	})
}

func TestADraftThatCannotBeFlushedEndsTheExchange(t *testing.T) {
	boom := errors.New("boom")
	long := llmtest.Reply{Text: strings.Repeat("on ", 600), Delay: 100 * time.Millisecond}
	for _, test := range []struct {
		name, at string
		fault    error
		until    time.Duration // from the first second on
		want     error
		kept     int // words that are kept at least
	}{
		{"for a reason of its own", "PutDraft", boom, time.Hour, boom, 10},
		{"since the store was away for a moment", "begin", store.ErrUnavailable, 10 * time.Second, nil, 600},
		{"since the store is locked for a moment", "begin", store.ErrLocked, 10 * time.Second, nil, 600},
		{"since the store is gone", "begin", store.ErrUnavailable, time.Minute, store.ErrUnavailable, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			script := llmtest.Replies(long, llmtest.Reply{Text: "Yes."})
			slowly(t, turnstone.Config{Model: script}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
				begun := time.Now()
				st.Set(func(at string) error {
					if passed := time.Since(begun); at == test.at && passed > time.Second && passed < test.until {
						return test.fault
					}
					return nil
				})
				reply, err := chat.Say(t.Context(), "Go.")
				if !errors.Is(err, test.want) || (err == nil) != (reply.Text == long.Text) {
					t.Errorf("%.20q, %v", reply.Text, err)
				}
				st.Set(nil)
				if _, err := chat.Say(t.Context(), "And now?"); err != nil {
					t.Fatal(err)
				}
				log := turnsOf(t, chat)
				same(t, "log", []string{log[0], log[2], log[3]}, []string{"user: Go.", "user: And now?", "agent: Yes."})
				kept, cut := strings.CutSuffix(strings.TrimPrefix(log[1], "agent: "), " [interrupted]")
				if cut != (err != nil) || !strings.HasPrefix(reply.Text, kept) || strings.Count(kept, "on ") < test.kept {
					t.Errorf("%q is kept", kept)
				}
				same(t, "first state", statuses(t, st, chat)[0] == "interrupted", err != nil)
			})
		})
	}
}

func TestAStreamPastTheWindowRaisesAnEvent(t *testing.T) {
	script := llmtest.Replies(llmtest.Reply{Text: strings.Repeat("overflowing ", 6000), Delay: time.Millisecond, Usage: llm.Usage{Answer: 1}})
	slowly(t, turnstone.Config{Model: script, Context: 4096}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		if _, err := chat.Say(t.Context(), "Go."); err != nil {
			t.Fatal(err)
		}
		var kinds []string
		err := st.Dump(t.Context(), func(r store.Row) error {
			if r.Table == "events" {
				kinds = append(kinds, r.Values[3].(string))
			}
			return nil
		})
		same(t, "events", kinds, []string{string(event.StreamOverflow)})
		if err != nil {
			t.Error(err)
		}
	})
}

// Whatever fails in an update of an exchange, the error is told, the history stays legal and the next exchange works.
func TestEveryWriteOfAnExchangeMayFail(t *testing.T) {
	boom := errors.New("boom")
	for _, point := range faulty.SayPoints {
		for after := range 4 {
			script := llmtest.Respond(func(r llm.Request) llmtest.Reply {
				if r.Messages[len(r.Messages)-1].Text == "And now?" {
					return llmtest.Reply{Text: "Yes."}
				}
				return llmtest.Reply{Text: "One two three four.", Delay: 130 * time.Millisecond} // ends between two flushes
			})
			slowly(t, turnstone.Config{Model: script}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
				left, met := after, false
				st.Set(func(at string) error {
					if at != point || met {
						return nil
					}
					if left--; left >= 0 {
						return nil
					}
					met = true
					return boom
				})
				_, err := chat.Say(t.Context(), "Count.")
				if met && point != "durable" && !errors.Is(err, boom) {
					t.Errorf("%s %d: %v", point, after, err)
				}
				if !met && err != nil {
					t.Errorf("%s %d: %v", point, after, err)
				}
				st.Set(nil)
				begun := time.Now()
				if _, err := chat.Say(t.Context(), "And now?"); err != nil || time.Since(begun) != 0 {
					t.Fatalf("%s %d: %v after %s", point, after, err, time.Since(begun))
				}
				log := turnsOf(t, chat)
				if last := log[len(log)-2:]; last[0] != "user: And now?" || last[1] != "agent: Yes." || len(log) > 4 {
					t.Errorf("%s %d: %q", point, after, log)
				}
				if states := strings.Join(statuses(t, st, chat), " "); strings.Contains(states, "open") {
					t.Errorf("%s %d: %s", point, after, states)
				}
				examined(t, st)
			})
		}
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := goleak.IgnoreCurrent()
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"), sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	script := llmtest.Replies(llmtest.Reply{Text: "One two."}, llmtest.Reply{Endless: true}, llmtest.Reply{Err: errors.New("no")}, llmtest.Reply{Endless: true})
	eng, err := turnstone.Open(t.Context(), st, turnstone.Config{Model: script, ModelName: "llama3.2"})
	if err != nil {
		t.Fatal(err)
	}
	chat := session(t, eng, "talk")
	if _, err := chat.Say(t.Context(), "Count."); err != nil {
		t.Error(err)
	}
	for range chat.Stream(t.Context(), "Count on.") {
		break
	}
	if _, err := chat.Say(t.Context(), "Fail."); err == nil {
		t.Error("no error")
	}
	heard := false
	for piece, err := range chat.Stream(t.Context(), "Go.") {
		if heard {
			if err != nil && !errors.Is(err, turnstone.ErrClosed) {
				t.Error(err)
			}
			continue
		}
		if heard = piece.Text != ""; heard {
			if err := eng.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	leaktest.None(t, before)
}

// belated holds an update back, once it is told to.
type belated struct {
	store.Store
	next atomic.Bool
	by   time.Duration
}

func (b *belated) Update(ctx context.Context, fn func(store.Tx) error) error {
	if b.next.CompareAndSwap(true, false) {
		time.Sleep(b.by)
	}
	return b.Store.Update(ctx, fn)
}

// TestACommitDoesNotWaitForADraft: a flush that is held back is not waited for by the commit, and behind it changes nothing.
func TestACommitDoesNotWaitForADraft(t *testing.T) {
	script := llmtest.Replies(llmtest.Reply{Text: "One two three.", Delay: 90 * time.Millisecond}, llmtest.Reply{Text: "Four."})
	synctest.Test(t, func(t *testing.T) {
		st := &belated{Store: mem.New(mem.Config{}), by: time.Second}
		eng, err := turnstone.Open(t.Context(), st, turnstone.Config{Model: script, ModelName: "llama3.2"})
		if err != nil {
			t.Fatal(err)
		}
		chat := session(t, eng, "talk")
		said := make(chan error)
		go func() {
			_, err := chat.Say(t.Context(), "Count.")
			said <- err
		}()
		time.Sleep(240 * time.Millisecond)
		st.next.Store(true) // the flush at 250 ms; the reply ends at 270
		time.Sleep(260 * time.Millisecond)
		if st.next.Load() {
			t.Error("nothing was flushed")
		}
		if turns := turnsOf(t, chat); len(turns) != 2 {
			t.Errorf("%d turns while a flush is held back, want the reply too", len(turns))
		}
		if err := <-said; err != nil {
			t.Errorf("said: %v", err)
		}
		if e := flushed(t, st, chat); e != (turn.OpenExchange{}) {
			t.Errorf("a draft behind the commit: %+v", e)
		}
		if _, err := chat.Say(t.Context(), "And then?"); err != nil {
			t.Error(err)
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
	})
}
