package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/bus"
	"github.com/turnstone-dev/turnstone/bus/inproc"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

func commitText(t *testing.T, s *turnstone.Session, text string) commit.Result {
	t.Helper()
	result, err := s.Commit(t.Context(), commit.Exchange{Turns: []turn.Draft{{Role: turn.User, Content: turn.Text{Text: text}}}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestPublishedIsReadOn(t *testing.T) {
	st := mem.New(mem.Config{})
	eng := open(t, st, turnstone.Config{})
	first := commitText(t, session(t, eng, "a"), "one")
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	second := commitText(t, session(t, eng, "b"), "two")
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	page, through, err := eng.Published(t.Context(), 0, 1)
	if err != nil || len(page) != 1 || page[0].ID != first.ExportID || through != page[0].Number {
		t.Fatalf("got %v, %d, %v", page, through, err)
	}
	export, err := eng.Export(t.Context(), first.ExportID)
	if err != nil || string(page[0].Body) != string(export.AppendJSON(nil)) {
		t.Errorf("got %s, %v", page[0].Body, err)
	}
	rest, last, err := eng.Published(t.Context(), through, 10)
	if err != nil || len(rest) != 1 || rest[0].ID != second.ExportID || last <= through {
		t.Fatalf("got %v, %d, %v", rest, last, err)
	}
	none, same, err := eng.Published(t.Context(), last, 10)
	if err != nil || len(none) != 0 || same != last {
		t.Errorf("after the last: %v, %d, %v", none, same, err)
	}

	// What is no longer kept is passed over.
	err = st.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.Outbox().SweepExports(t.Context(), tx.Now().Add(time.Hour), 10)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	swept, through, err := eng.Published(t.Context(), 0, 10)
	if err != nil || len(swept) != 0 || through != last {
		t.Errorf("after a sweep: %v, %d, %v", swept, through, err)
	}
}

// A tenant reads on among its own, and cannot tell what others publish.
func TestPublishedOfATenant(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	if page, through, err := other.PublishedAfter(t.Context(), "", 10); err != nil || len(page) > 0 || through != "" {
		t.Errorf("at first: %v, %q, %v", page, through, err)
	}
	var ours, theirs []string
	for _, text := range []string{"one", "two", "three"} {
		ours = append(ours, commitText(t, session(t, eng, "a"), text).ExportID)
		theirs = append(theirs, commitText(t, session(t, other, "a"), text).ExportID)
		if err := eng.Publish(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for of, want := range map[*turnstone.Engine][]string{eng: ours, other: theirs} {
			for after := range want {
				from := ""
				if after > 0 {
					from = want[after-1]
				}
				page, through, err := of.PublishedAfter(t.Context(), from, 2)
				last := want[min(after+2, len(want))-1]
				if err != nil || len(page) != min(2, len(want)-after) || page[0].ID != want[after] || through != last {
					t.Errorf("of %s after %d: %v, %s, %v", of.Tenant(), after, page, through, err)
				}
			}
			if page, through, err := of.PublishedAfter(t.Context(), want[2], 2); err != nil || len(page) > 0 || through != want[2] {
				t.Errorf("of %s after the last: %v, %s, %v", of.Tenant(), page, through, err)
			}
		}
	}
	for _, id := range []string{theirs[0], "01JAAAAAAAAAAAAAAAAAAAAAAA"} {
		// It may have been swept: what is kept comes after it, and nothing of the others'.
		if page, through, err := eng.PublishedAfter(t.Context(), id, 1); err != nil || len(page) != 1 || page[0].ID != ours[0] || through != ours[0] {
			t.Errorf("after %s: %v, %s, %v", id, page, through, err)
		}
	}
	// What comes later is found behind what was seen.
	later := commitText(t, session(t, eng, "a"), "four").ExportID
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if page, through, err := eng.PublishedAfter(t.Context(), ours[2], 2); err != nil || len(page) != 1 || through != later {
		t.Errorf("later: %v, %s, %v", page, through, err)
	}
}

// overtaken is a store in which the time of a reader is over as soon as it reads what was said.
type overtaken struct {
	store.Store
	of atomic.Pointer[context.CancelFunc]
}

type overtakenTx struct {
	store.Tx
	of *context.CancelFunc
}

func (t *overtakenTx) Log() turn.Rows {
	(*t.of)()
	return t.Tx.Log()
}

func (s *overtaken) View(ctx context.Context, fn func(store.Tx) error) error {
	of := s.of.Load()
	if of == nil {
		return s.Store.View(ctx, fn)
	}
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(&overtakenTx{tx, of}) })
}

// An export in whose middle the time was over is the first that is read the next time.
func TestPublishedIsNotSkippedWhenTheTimeIsOver(t *testing.T) {
	st := &overtaken{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{})
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	commitText(t, session(t, other, "a"), "theirs")
	ours := commitText(t, session(t, eng, "a"), "ours").ExportID
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	st.of.Store(&cancel)
	if page, _, err := eng.PublishedAfter(ctx, "", 10); !errors.Is(err, context.Canceled) || len(page) > 0 {
		t.Fatalf("in no time: %v, %v", page, err)
	}
	st.of.Store(nil)
	page, through, err := eng.PublishedAfter(t.Context(), "", 10)
	if err != nil || len(page) != 1 || page[0].ID != ours || through != ours {
		t.Errorf("once more: %v, %s, %v", page, through, err)
	}
}

// ownOnly is a store that refuses to look at the exports of all tenants.
type ownOnly struct{ store.Store }

func (s ownOnly) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(ownTx{tx}) })
}

type ownTx struct{ store.Tx }

func (t ownTx) Outbox() event.Rows { return ownOutbox{t.Tx.Outbox()} }

type ownOutbox struct{ event.Rows }

func (ownOutbox) Published(context.Context, int64, int) ([]event.Export, error) {
	return nil, errors.New("a look at everybody's exports")
}

// What a tenant published is found without a look at what others did.
func TestPublishedOfAQuietTenant(t *testing.T) {
	eng := open(t, ownOnly{mem.New(mem.Config{})}, turnstone.Config{})
	quiet, err := eng.ForTenant("quiet")
	if err != nil {
		t.Fatal(err)
	}
	want := commitText(t, session(t, quiet, "a"), "one").ExportID
	for range 3 {
		commitText(t, session(t, eng, "a"), "much")
	}
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{"", want} {
		page, through, err := quiet.PublishedAfter(t.Context(), after, 2)
		if err != nil || through != want || len(page) != 1 && after == "" || len(page) > 0 && after != "" {
			t.Errorf("after %q: %v, %s, %v", after, page, through, err)
		}
	}
}

// pages counts how often a page of a tenant's exports is read.
type pages struct {
	store.Store
	n int
}

func (s *pages) View(ctx context.Context, fn func(store.Tx) error) error {
	return s.Store.View(ctx, func(tx store.Tx) error { return fn(pagesTx{tx, s}) })
}

type pagesTx struct {
	store.Tx
	of *pages
}

func (t pagesTx) Outbox() event.Rows { return pagesOutbox{t.Tx.Outbox(), t.of} }

type pagesOutbox struct {
	event.Rows
	of *pages
}

func (o pagesOutbox) PublishedOf(ctx context.Context, tenant string, after int64, limit int) ([]event.Export, error) {
	o.of.n++
	return o.Rows.PublishedOf(ctx, tenant, after, limit)
}

// Exports that are no longer kept are not gone through one by one, however many they are.
func TestPublishedBehindWhatWasSwept(t *testing.T) {
	st := &pages{Store: mem.New(mem.Config{})}
	eng := open(t, st, turnstone.Config{})
	s := session(t, eng, "a")
	first := commitText(t, s, "first").ExportID
	for range 30 {
		commitText(t, s, "swept")
	}
	kept := []string{commitText(t, s, "one").ExportID, commitText(t, s, "two").ExportID, commitText(t, s, "three").ExportID}
	if err := eng.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := st.Update(t.Context(), func(tx store.Tx) error {
		n, err := tx.Outbox().SweepExports(t.Context(), tx.Now().Add(time.Hour), 31)
		if err == nil && n != 31 {
			err = fmt.Errorf("%d were swept", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []string{"", first, "01JAAAAAAAAAAAAAAAAAAAAAAA"} {
		st.n = 0
		page, through, err := eng.PublishedAfter(t.Context(), after, 2)
		if err != nil || len(page) != 2 || page[0].ID != kept[0] || through != kept[1] || st.n > 2 {
			t.Errorf("after %q: %d, %s, %v in %d pages", after, len(page), through, err, st.n)
		}
	}
}

func TestDaemonsSayHowFarTheyAre(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	if marks, last, err := eng.Daemons(t.Context()); err != nil || len(marks) != 0 || last != 0 {
		t.Errorf("at first: %v, %d, %v", marks, last, err)
	}
	handled := make(chan string)
	sub, err := eng.Subscribe(t.Context(), "indexer", func(_ context.Context, m event.Message) (int, error) {
		handled <- m.ID
		return 1, nil
	}, bus.Options{})
	if err != nil {
		t.Fatal(err)
	}
	result := commitText(t, session(t, eng, "a"), "one")
	if id := <-handled; id != result.ExportID {
		t.Errorf("handled %s", id)
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	marks, last, err := eng.Daemons(t.Context())
	if err != nil || last != 1 || len(marks) != 1 || marks[0].Daemon != "indexer" || marks[0].Through != 1 || marks[0].Holder != "" {
		t.Errorf("got %v, %d, %v", marks, last, err)
	}
}

// What every daemon did with an exchange stands in its trace: how much it processed, after how many tries, and why it could not.
func TestATraceTellsWhatDaemonsDid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
		tries := 0
		for name, handle := range map[string]bus.Handler{
			"indexer": func(context.Context, event.Message) (int, error) { return 7, nil },
			"mailer":  func(context.Context, event.Message) (int, error) { return 0, bus.Reject(errors.New("no such address")) },
			"counter": func(context.Context, event.Message) (int, error) {
				if tries++; tries < 3 {
					return 0, errors.New("busy")
				}
				return 2, nil
			},
		} {
			sub, err := eng.Subscribe(t.Context(), name, handle, bus.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer sub.Close()
		}
		result := commitText(t, session(t, eng, "a"), "one")
		time.Sleep(10 * time.Second) // of the bubble: more than all tries
		traced, err := eng.Trace(t.Context(), result.TurnID)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"daemon indexer: ok, 7 processed in ", "daemon mailer: dead, 0 processed in 0s: no such address", "daemon counter: ok, 2 processed in 0s, 3 tries"} {
			if !slices.ContainsFunc(traced.Entries, func(e trace.Entry) bool { return e.Kind == trace.Delivered && strings.HasPrefix(e.Text, want) }) {
				t.Errorf("the trace does not say %q: %+v", want, traced.Entries)
			}
		}
	})
}

// A bus may tell again what a daemon did, as after a crash or an outage. What a daemon did twice stands there twice.
func TestATraceTellsOnceWhatIsRecordedAgain(t *testing.T) {
	st := mem.New(mem.Config{})
	var recorder bus.Recorder
	eng := open(t, st, turnstone.Config{Bus: func(bodies bus.Bodies, rec bus.Recorder) (bus.Bus, error) {
		recorder = rec
		return inproc.New(st, bodies, rec, inproc.Config{}), nil
	}})
	result := commitText(t, session(t, eng, "a"), "one")
	done := bus.Completion{
		Daemon: "indexer", Tenant: eng.Tenant(), Session: "a", ExportID: result.ExportID, TurnID: result.TurnID, Status: bus.OK, Tries: 1,
		At: time.Now().UTC(),
	}
	other, later := done, done
	other.Daemon, later.At = "mailer", done.At.Add(time.Microsecond)
	for _, batch := range [][]bus.Completion{{done}, {done, other}, {done, other, later}} {
		if err := recorder.Completed(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}
	traced, err := eng.Trace(t.Context(), result.TurnID)
	if err != nil {
		t.Fatal(err)
	}
	told := make(map[string]int)
	for _, e := range traced.Entries {
		if e.Kind == trace.Delivered {
			daemon, _, _ := strings.Cut(e.Text, ":")
			told[daemon]++
		}
	}
	if want := map[string]int{"daemon indexer": 2, "daemon mailer": 1}; !maps.Equal(told, want) {
		t.Errorf("the trace tells %v, want %v", told, want)
	}
}

// Another program knows an export by its id, and may have a clock of its own or none: where the export is and what time it is
// is the store's to say, so that a sweep leaves the dead letter and the trace begins with the exchange.
func TestWhatAnotherProgramToldIsOfTheExportItNames(t *testing.T) {
	for name, at := range map[string]time.Time{
		"none": {}, "behind": time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), "ahead": time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(name, func(t *testing.T) {
			st := mem.New(mem.Config{})
			var recorder bus.Recorder
			eng := open(t, st, turnstone.Config{Bus: func(bodies bus.Bodies, rec bus.Recorder) (bus.Bus, error) {
				recorder = rec
				return inproc.New(st, bodies, rec, inproc.Config{}), nil
			}})
			began := time.Now()
			result := commitText(t, session(t, eng, "a"), "one")
			c := bus.Completion{
				Daemon: "py", Tenant: eng.Tenant(), Session: "other", ExportID: result.ExportID, TurnID: "01JAAAAAAAAAAAAAAAAAAAAAAA",
				Status: bus.Dead, Tries: 1, At: at,
			}
			for range 2 { // as after an outage
				if err := recorder.Completed(t.Context(), []bus.Completion{c}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := eng.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			letters, err := eng.DeadLetters(t.Context(), "py", 10)
			if err != nil || len(letters) != 1 {
				t.Fatalf("dead letters %+v, %v", letters, err)
			}
			l := letters[0]
			if l.Session != "a" || l.TurnID != result.TurnID || l.At.Before(began.Truncate(time.Microsecond)) || l.At.After(time.Now()) {
				t.Errorf("dead letter %+v", l)
			}
			traced, err := eng.Trace(t.Context(), result.TurnID)
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			for _, e := range traced.Entries {
				if e.Kind == trace.Delivered {
					told++
				}
			}
			if told != 1 || traced.Started.Before(began.Truncate(time.Microsecond)) || traced.Started.After(time.Now()) {
				t.Errorf("told %d times in a trace that began %v", told, traced.Started)
			}
		})
	}
}

// What daemons did with exports that nobody has is left out, and the log tells: another deployment may be on the same stream.
func TestTheLogTellsOfExportsThatAreNotKnown(t *testing.T) {
	st, log := mem.New(mem.Config{}), &strings.Builder{}
	var recorder bus.Recorder
	open(t, st, turnstone.Config{Log: slog.NewTextHandler(log, nil), Bus: func(bodies bus.Bodies, rec bus.Recorder) (bus.Bus, error) {
		recorder = rec
		return inproc.New(st, bodies, rec, inproc.Config{}), nil
	}})
	c := bus.Completion{Daemon: "py", Tenant: "default", Session: "a", ExportID: "01JAAAAAAAAAAAAAAAAAAAAAAA", Status: bus.Dead, At: time.Now()}
	if err := recorder.Completed(t.Context(), []bus.Completion{c, c}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"needs a stream of its own", "completions=2", "daemon=py", "export=" + c.ExportID} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in the log: %s", want, log)
		}
	}
}

// staying is a store that outlives its engine.
type staying struct{ store.Store }

func (staying) Close() error { return nil }

// silent is a bus that does not answer.
type silent struct{ bus.Bus }

func (silent) Publish(ctx context.Context, _ []event.Export) (int, error) {
	<-ctx.Done()
	return 0, errors.New("no answer")
}

// A bus that does not answer costs no more than time when the engine is closed: its exports wait in the outbox, and the
// ends of traces are stored.
func TestCloseWithABusThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := staying{mem.New(mem.Config{})}
		eng, err := turnstone.Open(t.Context(), st, turnstone.Config{Bus: func(bodies bus.Bodies, recorder bus.Recorder) (bus.Bus, error) {
			return silent{inproc.New(st, bodies, recorder, inproc.Config{})}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := session(t, eng, "talk").Commit(t.Context(), said("One.", "Two."))
		if err != nil {
			t.Fatal(err)
		}
		if err := eng.Close(); err != nil {
			t.Error(err)
		}
		again, err := turnstone.Open(t.Context(), st, turnstone.Config{})
		if err != nil {
			t.Fatal(err)
		}
		told, err := again.Trace(t.Context(), res.TurnID)
		if err != nil || told.Status != string(commit.Complete) {
			t.Errorf("the trace ends as %q: %v", told.Status, err)
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	})
}
