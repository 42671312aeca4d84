package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/agent"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// begun writes an exchange that its process left: its input, what else stands in the log, and what was flushed of the reply.
func begun(t *testing.T, st store.Store, chat *turnstone.Session, said string, rest ...turn.Draft) (exportID string) {
	t.Helper()
	input := turn.Draft{Role: turn.User, Content: turn.Text{Text: "Count."}}
	turns, err := chat.Append(t.Context(), append([]turn.Draft{input}, rest...)...)
	if err != nil {
		t.Fatal(err)
	}
	const reply, export = "01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW"
	e := turn.OpenExchange{ExportID: export, Opened: turns[0].ID, Model: "llama3.2", Started: turns[0].CreatedAt, Changed: turns[0].CreatedAt}
	if said != "" {
		e.Reply, e.Content = reply, said
	}
	key := turn.Key{Tenant: turn.DefaultTenant, Session: chat.ID()}
	err = st.Update(t.Context(), func(tx store.Tx) error { return tx.Log().PutExchange(t.Context(), key, e) })
	if err != nil {
		t.Fatal(err)
	}
	return export
}

func examined(t *testing.T, st store.Store) {
	t.Helper()
	_, err := doctor.Examine(t.Context(), st, func(f doctor.Finding) { t.Error(f) }, nil)
	if err != nil {
		t.Error(err)
	}
}

func TestWhatWasLeftIsRecoveredByWhoComesNext(t *testing.T) {
	called := turn.Draft{Role: turn.Agent, Content: turn.Text{ToolCalls: []turn.ToolCall{{ID: "c1", Name: "clock", Arguments: "{}"}}}}
	next := map[string]func(context.Context, *turnstone.Engine, *turnstone.Session) error{
		"say": func(ctx context.Context, _ *turnstone.Engine, s *turnstone.Session) error {
			_, err := s.Say(ctx, "And now?")
			return err
		},
		"lease": func(ctx context.Context, _ *turnstone.Engine, s *turnstone.Session) error {
			l, err := s.Acquire(ctx)
			if err != nil {
				return err
			}
			return l.Release(ctx)
		},
		"end": func(ctx context.Context, _ *turnstone.Engine, s *turnstone.Session) error {
			_, err := s.End(ctx)
			return err
		},
		"sweep": func(ctx context.Context, e *turnstone.Engine, _ *turnstone.Session) error {
			swept, err := e.Sweep(ctx)
			if err == nil && swept.Exchanges != 1 {
				err = fmt.Errorf("%+v", swept)
			}
			return err
		},
	}
	for _, test := range []struct {
		name, said string
		rest       []turn.Draft
		want       []string
	}{
		{"before the reply", "", nil, []string{"user: Count."}},
		{"in the reply", `{"text":"One two ","thinking":"Hm."}`, nil, []string{"user: Count.", "agent: One two  [interrupted]"}},
		{"while a tool runs", "", []turn.Draft{called}, []string{"user: Count.", "agent: clock {}", "system: clock cancelled"}},
		{"with nothing but thoughts", `{"text":"","thinking":"Hm."}`, nil, []string{"user: Count."}},
		{"with a damaged draft", `{`, nil, []string{"user: Count."}},
	} {
		for by, come := range next {
			t.Run(test.name+" by "+by, func(t *testing.T) {
				onStores(t, func(t *testing.T, st store.Store) {
					eng, chat, _ := talking(t, st, llmtest.Reply{Text: "Yes."})
					export := begun(t, st, chat, test.said, test.rest...)
					if err := come(t.Context(), eng, chat); err != nil {
						t.Fatal(err)
					}
					want, states := test.want, []string{"interrupted"}
					if by == "say" {
						want, states = append(want[:len(want):len(want)], "user: And now?", "agent: Yes."), append(states, "complete")
					}
					same(t, "log", turnsOf(t, chat), want)
					same(t, "states", statuses(t, st, chat), states)
					err := st.View(t.Context(), func(tx store.Tx) error {
						_, err := tx.Outbox().Export(t.Context(), turn.DefaultTenant, export)
						return err
					})
					if err != nil {
						t.Errorf("the exchange is not committed under its id: %v", err)
					}
					examined(t, st)
					// Once: whoever comes after that finds nothing.
					if swept, err := eng.Sweep(t.Context()); err != nil || swept.Exchanges != 0 {
						t.Errorf("%+v, %v", swept, err)
					}
					same(t, "log", turnsOf(t, chat), want)
				})
			})
		}
	}
}

func TestAnExchangeThatCannotBeCommittedIsClosed(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		_, chat, _ := talking(t, st, llmtest.Reply{Text: "Yes."})
		begun(t, st, chat, `{"text":"One "}`)
		err := st.Update(t.Context(), func(tx store.Tx) error {
			key := turn.Key{Tenant: turn.DefaultTenant, Session: chat.ID()}
			e, _, err := tx.Log().Exchange(t.Context(), key)
			if err != nil {
				return err
			}
			e.Opened = "01ARZ3NDEKTSV4RRFFQ69G5FAX"
			return tx.Log().PutExchange(t.Context(), key, e)
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chat.Say(t.Context(), "And now?"); err != nil {
			t.Fatal(err)
		}
		same(t, "log", turnsOf(t, chat), []string{"user: Count.", "agent: One  [interrupted]", "user: And now?", "agent: Yes."})
		same(t, "states", statuses(t, st, chat), []string{"complete"})
	})
}

func TestALeaseThatAnotherHoldsMakesTheSessionBusy(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		eng, chat, _ := talking(t, st, llmtest.Reply{Text: "Yes."})
		begun(t, st, chat, `{"text":"One "}`)
		other := turn.Key{Tenant: turn.DefaultTenant, Session: chat.ID()}
		err := st.Update(t.Context(), func(tx store.Tx) error {
			return tx.Log().SetLease(t.Context(), other, turn.Lease{Token: "other", Until: tx.Now().Add(turn.LeaseTime)})
		})
		if err != nil {
			t.Fatal(err)
		}
		var held *turn.LeaseHeldError
		if _, err := chat.End(t.Context()); !errors.Is(err, turnstone.ErrBusy) || !errors.As(err, &held) {
			t.Error(err)
		}
		if _, err := chat.Forget(t.Context(), turnstone.Target{All: true}); !errors.Is(err, turnstone.ErrBusy) || !errors.As(err, &held) {
			t.Error(err)
		}
		if swept, err := eng.Sweep(t.Context()); err != nil || swept.Exchanges != 0 {
			t.Errorf("%+v, %v", swept, err)
		}
		same(t, "log", turnsOf(t, chat), []string{"user: Count."})
	})
}

// A writer whose lease was taken over is told, and what it has to write is refused: the one who took over has recovered
// the exchange already.
func TestAWriterThatLostItsLease(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		faults, writes := faulty.New(st), make(chan struct{}, 1)
		faults.Set(func(at string) error {
			if at == "durable" {
				select {
				case writes <- struct{}{}:
				default:
				}
			}
			return nil
		})
		_, chat, _ := talking(t, faults, llmtest.Reply{Text: "One two three."})
		key := turn.Key{Tenant: turn.DefaultTenant, Session: chat.ID()}
		var last error
		for piece, err := range chat.Stream(t.Context(), "Count.") {
			last = err
			if piece.Text != "One " {
				continue
			}
			// The next piece was received, and waits to be read; there will be no other before that.
			for flushed(t, st, chat).Content != `{"text":"One two "}` {
				<-writes
			}
			err := st.Update(t.Context(), func(tx store.Tx) error { return tx.Log().SetLease(t.Context(), key, turn.Lease{}) })
			if err != nil {
				t.Fatal(err)
			}
			l, err := chat.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if !errors.Is(last, turn.ErrLeaseLost) {
			t.Error(last)
		}
		same(t, "states", statuses(t, st, chat), []string{"interrupted"})
		same(t, "log", turnsOf(t, chat), []string{"user: Count.", "agent: One two  [interrupted]"})
		examined(t, st)
	})
}

func TestCloseInterruptsWhatIsUnderWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	opened := func() *sqlite.Store {
		st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	script := llmtest.Replies(llmtest.Reply{Endless: true, Delay: time.Millisecond})
	eng, err := turnstone.Open(t.Context(), opened(), turnstone.Config{Model: script, ModelName: "llama3.2"})
	if err != nil {
		t.Fatal(err)
	}
	chat := session(t, eng, "talk")
	heard, waited := make(chan struct{}), make(chan error, 1)
	var said strings.Builder
	var last error
	over := make(chan struct{})
	go func() {
		defer close(over)
		for piece, err := range chat.Stream(t.Context(), "Go.") {
			if said.Len() == 0 && piece.Text != "" {
				close(heard)
			}
			said.WriteString(piece.Text)
			last = err
		}
	}()
	<-heard
	go func() {
		_, err := chat.Say(t.Context(), "Me too.")
		waited <- err
	}()
	if err := eng.Close(); err != nil {
		t.Error(err)
	}
	if <-over; !errors.Is(last, turnstone.ErrClosed) {
		t.Error(last)
	}
	if err := <-waited; !errors.Is(err, turnstone.ErrClosed) {
		t.Error(err)
	}
	if _, err := chat.Say(t.Context(), "Still there?"); !errors.Is(err, turnstone.ErrClosed) {
		t.Error(err)
	}
	st := opened()
	chat = session(t, open(t, st, turnstone.Config{}), "talk")
	same(t, "states", statuses(t, st, chat), []string{"interrupted"})
	// What was received when it ended and could not be told any more is kept too.
	log := turnsOf(t, chat)
	if len(log) != 2 || log[0] != "user: Go." || !strings.HasPrefix(log[1], "agent: "+said.String()) || !strings.HasSuffix(log[1], " [interrupted]") {
		t.Errorf("%q was heard of %q", said.String(), log)
	}
}

func TestClosedOnce(t *testing.T) {
	eng, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	chat := session(t, eng, "talk")
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := chat.Info(t.Context()); !errors.Is(err, turnstone.ErrClosed) {
		t.Error(err)
	}
	if _, err := open(t, mem.New(mem.Config{}), turnstone.Config{}).Find(t.Context(), "nobody"); !errors.Is(err, turnstone.ErrNotFound) {
		t.Error(err)
	}
}

// A store that has no time for a moment costs no export, neither when an exchange ends nor when one is recovered.
func TestAStoreThatIsAwayForAMomentCostsNoExport(t *testing.T) {
	for _, test := range []struct {
		name  string
		times int
		want  error
		kept  []string // states after that
	}{
		{"for a few tries", 6, nil, []string{"complete", "interrupted"}},
		{"for all tries", 1000, store.ErrUnavailable, []string{"open"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			slowly(t, turnstone.Config{Model: llmtest.NewScript("Yes.", "Yes.")}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
				begun(t, st, chat, `{"text":"One "}`)
				left := test.times
				st.Set(func(at string) error {
					if at != "InsertExport" || left == 0 {
						return nil
					}
					left--
					return store.ErrUnavailable
				})
				if _, err := chat.Say(t.Context(), "And now?"); !errors.Is(err, test.want) {
					t.Error(err)
				}
				same(t, "states", slices.Sorted(slices.Values(statuses(t, st, chat))), test.kept)
				left = 6
				if _, err := chat.Say(t.Context(), "Still there?"); err != nil {
					t.Error(err)
				}
				want := []string{"complete", "interrupted"}
				if test.want == nil {
					want = append([]string{"complete"}, want...)
				}
				same(t, "states", slices.Sorted(slices.Values(statuses(t, st, chat))), want)
				if log := turnsOf(t, chat); log[1] != "agent: One  [interrupted]" {
					t.Errorf("%q", log)
				}
				examined(t, st)
			})
		})
	}
}

// An exchange whose process died ends when its lease did, though nobody comes to its session any more.
func TestWhatWasLeftEndsWithItsLease(t *testing.T) {
	slowly(t, turnstone.Config{}, func(t *testing.T, st *faulty.Store, chat *turnstone.Session) {
		begun(t, st, chat, `{"text":"One "}`)
		key := turn.Key{Tenant: turn.DefaultTenant, Session: chat.ID()}
		err := st.Update(t.Context(), func(tx store.Tx) error {
			return tx.Log().SetLease(t.Context(), key, turn.Lease{Token: "dead", Until: tx.Now().Add(turn.LeaseTime)})
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(turn.LeaseTime - time.Second) // of the bubble
		same(t, "log", turnsOf(t, chat), []string{"user: Count."})
		time.Sleep(turn.LeaseTime/4 + time.Second)
		same(t, "log", turnsOf(t, chat), []string{"user: Count.", "agent: One  [interrupted]"})
		same(t, "states", statuses(t, st, chat), []string{"interrupted"})
		examined(t, st)
	})
}

// outdated is a store that shows a session as left that somebody else has recovered meanwhile.
type outdated struct {
	store.Store
	left turn.Key
}

type outdatedTx struct {
	store.Tx
	left turn.Key
}

type outdatedRows struct {
	turn.Rows
	left turn.Key
}

func (s *outdated) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(outdatedTx{tx, s.left}) })
}

func (t outdatedTx) Log() turn.Rows { return outdatedRows{t.Tx.Log(), t.left} }

func (r outdatedRows) LeftExchanges(context.Context, turn.Key, time.Time, int) ([]turn.Key, error) {
	return []turn.Key{r.left}, nil
}

// A session that others recovered first is left alone: the calls that stay open there are of a client who runs them now.
func TestWhatOthersRecoveredIsLeftAlone(t *testing.T) {
	key := turn.Key{Tenant: turn.DefaultTenant, Session: "talk"}
	eng := open(t, &outdated{mem.New(mem.Config{}), key}, turnstone.Config{ModelName: "llama3.2"})
	chat := session(t, eng, key.Session)
	relay := chat.Relay(turnstone.RelayOptions{})
	if err := relay.Begin(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "Look it up."}}); err != nil {
		t.Fatal(err)
	}
	_, err := relay.Compile(t.Context(), agent.Offer{})
	if err == nil {
		_, err = relay.Begun(t.Context())
	}
	called := llm.Answer{Calls: []llm.Call{{ID: "c1", Name: "look", Arguments: "{}"}}, Stop: llm.StopCalls}
	if err := errors.Join(err, relay.Answer(t.Context(), called), relay.End(t.Context(), agent.Ending{State: commit.Complete, Calls: 1})); err != nil {
		t.Fatal(err)
	}
	before := turnsOf(t, chat)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Exchanges != 0 {
		t.Errorf("%+v, %v", swept, err)
	}
	same(t, "log", turnsOf(t, chat), before)
	l, err := chat.Acquire(t.Context())
	if err != nil {
		t.Fatalf("the lease was kept: %v", err)
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// What was left is recovered whoever's it is: nobody may ever ask this process for that tenant.
func TestWhatWasLeftOfAnyTenant(t *testing.T) {
	onStores(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		key := turn.Key{Tenant: "unheard-of", Session: "s"}
		err := st.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Log().InsertSession(t.Context(), turn.SessionInfo{Key: key, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
			e := turn.OpenExchange{ExportID: "01ARZ3NDEKTSV4RRFFQ69G5FAW", Opened: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Started: tx.Now(), Changed: tx.Now()}
			return errors.Join(err, tx.Log().PutExchange(t.Context(), key, e))
		})
		if err != nil {
			t.Fatal(err)
		}
		if swept, err := eng.Sweep(t.Context()); err != nil || swept.Exchanges != 1 {
			t.Errorf("%+v, %v", swept, err)
		}
		err = st.View(t.Context(), func(tx store.Tx) error {
			if e, left, err := tx.Log().Exchange(t.Context(), key); err != nil || left {
				t.Errorf("%+v, %v, %v", e, left, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
