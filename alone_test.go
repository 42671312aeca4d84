package turnstone_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// askedFor are the changes of a prompt that somebody asks for, of a session with a snapshot "before" and a pass.
var askedFor = []struct {
	name string
	do   func(context.Context, *turnstone.Session) error
}{
	{"restore", func(ctx context.Context, s *turnstone.Session) error {
		_, err := s.Restore(ctx, "before", medium)
		return err
	}},
	{"undo", func(ctx context.Context, s *turnstone.Session) error {
		_, err := s.Undo(ctx, 0, medium)
		return err
	}},
	{"compress", func(ctx context.Context, s *turnstone.Session) error {
		_, err := s.Compress(ctx, medium)
		return err
	}},
}

// toChange makes a session in which all of them can be done.
func toChange(t *testing.T, s *turnstone.Session) {
	t.Helper()
	converseTo(t, s, 0, 9)
	if _, err := s.Compress(t.Context(), medium); err != nil {
		t.Fatal(err)
	}
	snap(t, s, "before")
	converseTo(t, s, 9, 18)
	compiled(t, s, medium)
}

// TestNobodyChangesThePromptOfAnExchangeUnderWay in another engine: a restore would leave it without its question and
// with its answer.
func TestNobodyChangesThePromptOfAnExchangeUnderWay(t *testing.T) {
	for _, asked := range askedFor {
		t.Run(asked.name, func(t *testing.T) {
			onStores(t, func(t *testing.T, st store.Store) {
				here := session(t, open(t, st, turnstone.Config{}), "s")
				other := open(t, st, turnstone.Config{})
				there := session(t, other, "s")
				toChange(t, here)
				lease, err := here.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := lease.Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Text{Text: "What is the QUESTION?"}}); err != nil {
					t.Fatal(err)
				}
				before := compiled(t, here, medium)
				var held *turn.LeaseHeldError
				if err := asked.do(t.Context(), there); !errors.Is(err, turnstone.ErrBusy) || !errors.As(err, &held) || !strings.Contains(err.Error(), "try again") {
					t.Errorf("in the middle: %v", err)
				}
				if errs := eventsOf(t, other, there, event.SnapshotError); len(errs) > 0 {
					t.Errorf("nothing failed, and it is told: %+v", errs)
				}
				if errs := eventsOf(t, other, there, event.CompressionError); len(errs) > 0 {
					t.Errorf("nothing failed, and it is told: %+v", errs)
				}
				if _, err := lease.Append(t.Context(), turn.Draft{Role: turn.Agent, Content: turn.Text{Text: "This is the ANSWER."}}); err != nil {
					t.Fatal(err)
				}
				after := compiled(t, here, medium)
				if text := textOf(after); after.Epoch != before.Epoch || !strings.Contains(text, "QUESTION") || !strings.Contains(text, "ANSWER") {
					t.Errorf("epoch %d, before %d: %s", after.Epoch, before.Epoch, text)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				if err := asked.do(t.Context(), there); err != nil {
					t.Errorf("afterwards: %v", err)
				}
				// It has not kept the lease.
				if again, err := here.Acquire(t.Context()); err != nil {
					t.Error(err)
				} else if err := again.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestAChangeOfThePromptWaitsForTheExchange of the same process, as another exchange would, until its context ends.
func TestAChangeOfThePromptWaitsForTheExchange(t *testing.T) {
	for _, asked := range askedFor {
		t.Run(asked.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				eng := open(t, mem.New(mem.Config{}), turnstone.Config{Model: llmtest.Replies(llmtest.Reply{Text: "This is the ANSWER.", Delay: time.Minute}), ModelName: "gpt-4o", Context: 16384})
				s := session(t, eng, "s")
				toChange(t, s)
				var wait sync.WaitGroup
				var said, changed atomic.Bool
				wait.Go(func() {
					if _, err := s.Say(t.Context(), "What is the QUESTION?"); err != nil {
						t.Error(err)
					}
					said.Store(true)
				})
				synctest.Wait()
				short, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if err := asked.do(short, s); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it waited no longer than its context: %v", err)
				}
				wait.Go(func() {
					if err := asked.do(t.Context(), s); err != nil {
						t.Error(err)
					}
					changed.Store(true)
				})
				synctest.Wait()
				if changed.Load() || said.Load() {
					t.Errorf("changed %v, said %v", changed.Load(), said.Load())
				}
				wait.Wait()
				text := textOf(compiled(t, s, medium))
				if q, a := strings.Contains(text, "QUESTION"), strings.Contains(text, "ANSWER"); q != a || q == (asked.name == "restore") {
					t.Errorf("question %v, answer %v", q, a)
				}
			})
		})
	}
}

// losing is a session on a store in which the lease is lost right before the update of that number, counted from when the
// loss was asked for: its time runs out, and another engine takes it.
type losing struct {
	*turnstone.Session
	st   *faulty.Store
	eng  *turnstone.Engine
	lose func(before int)
}

func newLosing(t *testing.T, c turnstone.Config) *losing {
	t.Helper()
	var late atomic.Int64
	inner := mem.New(mem.Config{Clock: func() time.Time { return time.Now().Add(time.Duration(late.Load())) }})
	l := &losing{st: faulty.New(inner)}
	l.eng = open(t, l.st, c)
	l.Session = session(t, l.eng, "s")
	other := open(t, inner, turnstone.Config{})
	l.lose = func(before int) {
		l.st.Set(func(point string) error {
			if point != "begin" {
				return nil
			}
			if before--; before != 0 {
				return nil
			}
			late.Add(int64(time.Minute))
			there, err := other.Session(t.Context(), "s")
			if err != nil {
				return err
			}
			_, err = there.Acquire(t.Context())
			return err
		})
	}
	return l
}

// TestAnExchangeThatBeginsMeanwhileIsNotCutInTwo: the lease is looked at in the update that opens the epoch too.
func TestAnExchangeThatBeginsMeanwhileIsNotCutInTwo(t *testing.T) {
	for _, asked := range askedFor {
		t.Run(asked.name, func(t *testing.T) {
			l := newLosing(t, turnstone.Config{})
			toChange(t, l.Session)
			before := compiled(t, l.Session, medium)
			l.lose(1)
			if err := asked.do(t.Context(), l.Session); !errors.Is(err, turnstone.ErrBusy) {
				t.Error(err)
			}
			l.st.Set(nil)
			if after := compiled(t, l.Session, medium); after.Epoch != before.Epoch {
				t.Errorf("epoch %d was opened after %d", after.Epoch, before.Epoch)
			}
		})
	}
}

// TestNoSummariserIsAskedWhileSomebodyIsAtWork: what it would say could not be used.
func TestNoSummariserIsAskedWhileSomebodyIsAtWork(t *testing.T) {
	by := &summariser{do: extract}
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Summariser: by}), "s")
	converseTo(t, s, 0, 9)
	lease, err := s.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compress(t.Context(), medium); !errors.Is(err, turnstone.ErrBusy) || by.asked.Load() > 0 {
		t.Errorf("%v, asked %d times", err, by.asked.Load())
	}
	if err := lease.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestARestoreRecoversWhatWasLeft before it goes back, so that the rest of the reply does not come behind it.
func TestARestoreRecoversWhatWasLeft(t *testing.T) {
	for _, asked := range askedFor {
		t.Run(asked.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := mem.New(mem.Config{})
				s := session(t, open(t, st, turnstone.Config{}), "s")
				toChange(t, s)
				question := say(t, s, turn.User, "What is the QUESTION?")
				left := turn.OpenExchange{ExportID: "01JABCDEFGHJKMNPQRSTVWXYZ0", Opened: question.ID, Reply: "01JABCDEFGHJKMNPQRSTVWXYZ1", Content: `{"text":"This is the ANS"}`, Started: question.CreatedAt, Changed: question.CreatedAt}
				key := turn.Key{Tenant: "default", Session: "s"}
				if err := st.Update(t.Context(), func(tx store.Tx) error { return tx.Log().PutExchange(t.Context(), key, left) }); err != nil {
					t.Fatal(err)
				}
				if err := asked.do(t.Context(), s); err != nil {
					t.Fatal(err)
				}
				lease, err := s.Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := lease.Release(t.Context()); err != nil {
					t.Fatal(err)
				}
				text := textOf(compiled(t, s, medium))
				if q, a := strings.Contains(text, "QUESTION"), strings.Contains(text, "This is the ANS"); q != a || q == (asked.name == "restore") {
					t.Errorf("question %v, answer %v", q, a)
				}
			})
		})
	}
}

// TestAnExchangeThatLostItsLeaseMakesNoPass, and asks no model.
func TestAnExchangeThatLostItsLeaseMakesNoPass(t *testing.T) {
	script := llmtest.Replies(llmtest.Reply{Text: "Yes."})
	l := newLosing(t, turnstone.Config{Model: script, ModelName: "gpt-4o", Context: 8192})
	converseTo(t, l.Session, 0, 10)
	l.lose(2) // the first update begins the exchange
	if _, err := l.Say(t.Context(), "Is it full?"); !errors.Is(err, turn.ErrLeaseLost) {
		t.Error(err)
	}
	l.st.Set(nil)
	if told := eventsOf(t, l.eng, l.Session, event.Compressed); len(told) > 0 || len(script.Asked()) > 0 {
		t.Errorf("%+v; asked %d times", told, len(script.Asked()))
	}
	if told := eventsOf(t, l.eng, l.Session, event.CompressionError); len(told) > 0 {
		t.Errorf("no pass failed: %+v", told)
	}
}

// TestAChangeOfThePromptIsTriedAgain where others change it at the same time, and then says what to do.
func TestAChangeOfThePromptIsTriedAgain(t *testing.T) {
	for _, asked := range askedFor {
		for _, tt := range []struct {
			times int
			busy  bool
		}{{5, false}, {1000, true}} {
			t.Run(asked.name, func(t *testing.T) {
				st := faulty.New(mem.New(mem.Config{}))
				s := session(t, open(t, st, turnstone.Config{}), "s")
				toChange(t, s)
				left := tt.times
				st.Set(func(point string) error {
					if point == "InsertEpoch" && left > 0 {
						left--
						return prompt.ErrStale
					}
					return nil
				})
				err := asked.do(t.Context(), s)
				if !tt.busy && err != nil || tt.busy && (!errors.Is(err, turnstone.ErrBusy) || !strings.Contains(err.Error(), "try again")) {
					t.Errorf("overtaken %d times: %v", tt.times-left, err)
				}
				st.Set(nil)
				if l, err := s.Acquire(t.Context()); err != nil {
					t.Errorf("the lease was not given back: %v", err)
				} else if err := l.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestAPassIsPlannedAgainForOtherPins: what was summarised for those of before is not put in force, nor done without the
// summariser.
func TestAPassIsPlannedAgainForOtherPins(t *testing.T) {
	h := newHalted(t, 9)
	var pass prompt.Pass
	var err error
	var wait sync.WaitGroup
	wait.Go(func() { pass, err = h.Compress(t.Context(), small) })
	<-h.asked
	if err := h.Pin(t.Context(), 3); err != nil {
		t.Fatal(err)
	}
	close(h.answer)
	wait.Wait()
	if err != nil || pass.Made[0].Receipt.By != "model" || h.by.asked.Load() != 2 {
		t.Fatalf("%v; %+v, asked %d times", err, pass.Made, h.by.asked.Load())
	}
}
