package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// unreadable is a store that does not say which exchanges were left, while there is an error.
type unreadable struct {
	store.Store
	err atomic.Pointer[error]
}

type (
	unreadableTx struct {
		store.Tx
		err error
	}
	unreadableRows struct {
		turn.Rows
		err error
	}
)

func (s *unreadable) View(ctx context.Context, fn func(store.Tx) error) error {
	err := s.err.Load()
	if err == nil {
		return s.Store.View(ctx, fn)
	}
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(unreadableTx{tx, *err}) })
}

func (t unreadableTx) Log() turn.Rows { return unreadableRows{t.Tx.Log(), t.err} }

func (r unreadableRows) LeftExchanges(context.Context, turn.Key, time.Time, int) ([]turn.Key, error) {
	return nil, r.err
}

var errUnreadable = errors.New("the page of session x is damaged")

// What cannot be recovered keeps nothing else from being swept.
func TestSweepsBehindWhatCannotBeRecovered(t *testing.T) {
	clock := scenario.NewClock()
	st := &unreadable{Store: mem.New(mem.Config{Clock: clock.Now})}
	eng := open(t, st, turnstone.Config{Clock: clock.Now})
	ex := said("hello", "yes")
	ex.Candidates = []memory.Candidate{{Type: memory.ScratchItem, Text: "active for a day"}}
	if _, err := session(t, eng, "talk").Commit(t.Context(), ex); err != nil {
		t.Fatal(err)
	}
	clock.Advance(25 * time.Hour)
	st.err.Store(&errUnreadable)
	if swept, err := eng.Sweep(t.Context()); !errors.Is(err, errUnreadable) || swept.Archived != 1 {
		t.Errorf("swept %+v, %v", swept, err)
	}
}

// Bodies of exports that were sent, and what was given up, go after 7 days, traces after 90.
func TestWhatWasSentAndTracedIsSweptInTime(t *testing.T) {
	clock := scenario.NewClock()
	st := mem.New(mem.Config{Clock: clock.Now})
	eng := open(t, st, turnstone.Config{Clock: clock.Now})
	res, err := session(t, eng, "talk").Commit(t.Context(), said("hello", "yes"))
	if err != nil {
		t.Fatal(err)
	}
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = st.Update(t.Context(), func(tx store.Tx) error {
		return tx.Outbox().PutDeferral(t.Context(), event.Deferral{
			Tenant: "default", Session: "talk", ExportID: res.ExportID, Target: "cortex", Payload: "{}", Tries: 11, Error: "no", At: tx.Now(), Next: tx.Now(), Escalated: tx.Now(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		wait                       time.Duration
		exports, deferrals, traced int64
	}{{7 * 24 * time.Hour, 0, 0, 0}, {time.Second, 1, 1, 0}, {83*24*time.Hour - time.Second, 0, 0, 0}, {time.Second, 0, 0, 1}} {
		clock.Advance(step.wait)
		swept, err := eng.Sweep(t.Context())
		if err != nil || swept.Exports != step.exports || swept.Deferrals != step.deferrals || swept.TraceParts != step.traced {
			t.Errorf("%v after the last: swept %+v, %v", step.wait, swept, err)
		}
	}
}

// An export that waited for longer than exports are kept is kept from when it is sent: a daemon that subscribes then gets it.
func TestAnExportThatWaitedIsKeptFromWhenItIsSent(t *testing.T) {
	clock := scenario.NewClock()
	st := mem.New(mem.Config{Clock: clock.Now})
	err := st.Update(t.Context(), func(tx store.Tx) error {
		return tx.Outbox().InsertExport(t.Context(), event.Export{
			Tenant: "default", Session: "talk", Segment: 1, ID: "01JAAAAAAAAAAAAAAAAAAAAAAA", TurnID: "t", First: 1, Last: 2, Status: "complete", Body: "{}",
			At: tx.Now(),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(8 * 24 * time.Hour)
	eng := open(t, st, turnstone.Config{Clock: clock.Now})
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		wait  time.Duration
		swept int64
	}{{0, 0}, {7 * 24 * time.Hour, 0}, {time.Second, 1}} {
		clock.Advance(step.wait)
		swept, err := eng.Sweep(t.Context())
		if err != nil || swept.Exports != step.swept {
			t.Errorf("%v after the last: swept %+v, %v", step.wait, swept, err)
		}
	}
}

// Dead letters are kept as long as the traces of their exchanges, of every tenant.
func TestDeadLettersAreSwept(t *testing.T) {
	clock := scenario.NewClock()
	st := mem.New(mem.Config{Clock: clock.Now})
	eng := open(t, st, turnstone.Config{Clock: clock.Now})
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	for _, eng := range []*turnstone.Engine{eng, other} {
		if _, err := session(t, eng, "talk").Commit(t.Context(), said("hello", "yes")); err != nil {
			t.Fatal(err)
		}
	}
	post := func(tenant, export string) {
		t.Helper()
		err := st.Update(t.Context(), func(tx store.Tx) error {
			return tx.Outbox().InsertLetter(t.Context(), event.Letter{Tenant: tenant, Daemon: "d", ExportID: export, Session: "talk", Tries: 1, Error: "no", At: tx.Now()})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	post("default", "old")
	post("other", "old")
	clock.Advance(time.Second)
	post("default", "young")
	clock.Advance(90 * 24 * time.Hour)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Letters != 2 {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if left, err := eng.DeadLetters(t.Context(), "", 9); err != nil || len(left) != 1 || left[0].ExportID != "young" {
		t.Errorf("left are %+v, %v", left, err)
	}
}

// Events are kept as long as traces, of every tenant; receipts of what was forgotten stay.
func TestEventsAreSwept(t *testing.T) {
	clock := scenario.NewClock()
	st := mem.New(mem.Config{Clock: clock.Now})
	eng := open(t, st, turnstone.Config{Clock: clock.Now})
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	for _, eng := range []*turnstone.Engine{eng, other} {
		talk := session(t, eng, "talk")
		if _, err := talk.Commit(t.Context(), said("hello", "yes")); err != nil {
			t.Fatal(err)
		}
		if _, err := talk.End(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := session(t, eng, "talk").Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	clock.Advance(90 * 24 * time.Hour)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Events != 0 {
		t.Errorf("within 90 days: swept %+v, %v", swept, err)
	}
	clock.Advance(time.Second)
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Events != 2 {
		t.Errorf("after 90 days: swept %+v, %v", swept, err)
	}
	left, err := eng.Events(t.Context(), "", "", 9)
	if err != nil || len(left) != 1 || left[0].Kind != event.Forgotten {
		t.Errorf("left are %+v, %v", left, err)
	}
}

// Bytes that nothing refers to any more are swept in the background once their grace is over, of every tenant.
func TestBlobsAreSwept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := mem.New(mem.Config{})
		eng := open(t, st, turnstone.Config{BlobGrace: time.Hour})
		other, err := eng.ForTenant("other")
		if err != nil {
			t.Fatal(err)
		}
		picture := func(eng *turnstone.Engine, id, bytes string) {
			t.Helper()
			_, err := session(t, eng, id).Append(t.Context(), turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte(bytes)}}})
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range 40 {
			picture(eng, "loose", fmt.Sprint("picture ", i))
		}
		picture(other, "loose", "another tenant's")
		picture(eng, "wanted", "wanted")
		loosen := func([]any) (store.Verdict, error) { return store.Delete, nil }
		err = st.Update(t.Context(), func(tx store.Tx) (err error) {
			for _, tenant := range []string{"default", "other"} {
				loose, failed := tx.Log().Session(t.Context(), turn.Key{Tenant: tenant, Session: "loose"})
				_, rewritten := tx.Forgetting().Rewrite(t.Context(), tenant, "blob_refs", store.Among{Segments: []int64{loose.Segment}}, loosen)
				err = errors.Join(err, failed, rewritten)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		kept := func() (n int) {
			t.Helper()
			err := st.Dump(t.Context(), func(row store.Row) error {
				if row.Table == "blobs" {
					n++
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		time.Sleep(55 * time.Minute)
		synctest.Wait()
		if n := kept(); n != 42 {
			t.Errorf("%d blobs are kept within the grace, want 42", n)
		}
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if n := kept(); n != 1 {
			t.Errorf("%d blobs are kept after the grace, want the one that a turn refers to", n)
		}
		if swept, err := eng.Sweep(t.Context()); err != nil || swept.Blobs != 0 {
			t.Errorf("swept again: %+v, %v", swept, err)
		}
	})
}

// What fails every time it is tried is told once, and again when it came back.
func TestWhatCannotBeSweptIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		st := &unreadable{Store: mem.New(mem.Config{})}
		st.err.Store(&errUnreadable)
		eng, err := turnstone.Open(t.Context(), st, turnstone.Config{Log: slog.NewTextHandler(&log, nil)})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range []*error{&errUnreadable, nil, &errUnreadable} {
			st.err.Store(err)
			time.Sleep(10 * time.Minute)
			synctest.Wait()
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), errUnreadable.Error()); n != 2 {
			t.Errorf("told %d times: %s", n, log.String())
		}
	})
}
