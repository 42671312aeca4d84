package turnstone_test

import (
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/internal/scenario"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// A reminder that was sent and that nobody answered for a day is escalated by a sweep, of whatever tenant it is, although
// nobody says anything to its session; those that were answered are not.
func TestRemindersEscalateByThemselves(t *testing.T) {
	for name, openStore := range map[string]func(*testing.T, func() time.Time) store.Store{
		"mem": func(_ *testing.T, now func() time.Time) store.Store { return mem.New(mem.Config{Clock: now}) },
		"sqlite": func(t *testing.T, now func() time.Time) store.Store {
			st, err := sqlite.Open(t.Context(), t.TempDir()+"/reminders.db", sqlite.Config{Clock: now})
			if err != nil {
				t.Fatal(err)
			}
			return st
		},
		"postgres": func(t *testing.T, now func() time.Time) store.Store {
			return must(postgres.Open(t.Context(), pgstore.URL(t), postgres.Config{Clock: now}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := scenario.NewClock()
			eng := open(t, openStore(t, clock.Now), turnstone.Config{Clock: clock.Now})
			other, err := eng.ForTenant("other")
			if err != nil {
				t.Fatal(err)
			}
			s, theirs := session(t, eng, "s"), session(t, other, "theirs")
			remind(t, s, "unanswered", cortex.ActionScheduled, cortex.ActionSent)
			remind(t, s, "answered", cortex.ActionScheduled, cortex.ActionSent)
			remind(t, theirs, "unanswered", cortex.ActionScheduled, cortex.ActionSent)
			fork := must(s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{}))
			clock.Advance(time.Hour)
			remind(t, s, "answered", cortex.ActionDone)
			remind(t, s, "late", cortex.ActionScheduled, cortex.ActionSent)
			clock.Advance(23*time.Hour - time.Minute)
			swept(t, eng, 0)
			clock.Advance(time.Minute)
			swept(t, eng, 4) // the fork's two, which were not answered there
			for _, c := range []struct {
				of   *turnstone.Session
				id   string
				want cortex.ActionStatus
			}{
				{s, "unanswered", cortex.ActionEscalated}, {s, "answered", cortex.ActionDone}, {s, "late", cortex.ActionSent},
				{theirs, "unanswered", cortex.ActionEscalated}, {fork, "unanswered", cortex.ActionEscalated}, {fork, "answered", cortex.ActionEscalated},
			} {
				state, err := c.of.Intentions(t.Context(), true)
				if a, _ := state.Action(c.id); err != nil || a.Status != c.want {
					t.Errorf("%s is %s, want %s, %v", c.id, a.Status, c.want, err)
				}
			}
			history := must(s.IntentionHistory(t.Context(), cortex.KindAction, "unanswered"))
			if last := history[len(history)-1].Changes; len(last) != 1 || last[0].By != cortex.ActorSystem {
				t.Errorf("%+v", last)
			}
			events := must(other.Events(t.Context(), "theirs", "", 9))
			if len(events) != 1 || events[0].Kind != event.ReminderEscalated || events[0].Data != `{"action_id":"unanswered","title":"call","version":3}` {
				t.Errorf("announced %+v", events)
			}
			swept(t, eng, 0)
			clock.Advance(time.Hour)
			swept(t, eng, 1)
		})
	}
}

// One that a commit escalates is announced as well, and once.
func TestACommitAnnouncesWhatItEscalates(t *testing.T) {
	clock := scenario.NewClock()
	eng := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	s := session(t, eng, "s")
	remind(t, s, "unanswered", cortex.ActionScheduled, cortex.ActionSent)
	clock.Advance(25 * time.Hour)
	if _, err := s.Commit(t.Context(), said("hello", "yes")); err != nil {
		t.Fatal(err)
	}
	swept(t, eng, 0)
	events := must(eng.Events(t.Context(), "s", "", 9))
	if n := len(slices.DeleteFunc(events, func(e event.Event) bool { return e.Kind != event.ReminderEscalated })); n != 1 {
		t.Errorf("announced %d times", n)
	}
}

func remind(t *testing.T, s *turnstone.Session, id string, statuses ...cortex.ActionStatus) {
	t.Helper()
	kind, title := cortex.Reminder, "call"
	for _, status := range statuses {
		change := cortex.ActionChange{ID: id, By: cortex.ActorUser, Type: &kind, Title: &title, Status: &status}
		if _, err := s.Intend(t.Context(), cortex.Changes{Actions: []cortex.ActionChange{change}}); err != nil {
			t.Fatal(err)
		}
	}
}

func swept(t *testing.T, eng *turnstone.Engine, reminders int64) {
	t.Helper()
	if swept, err := eng.Sweep(t.Context()); err != nil || swept.Reminders != reminders {
		t.Errorf("swept %+v, want %d reminders, %v", swept, reminders, err)
	}
}

// A reminder that came with a bundle escalates as any other.
func TestAnImportedReminderEscalates(t *testing.T) {
	clock := scenario.NewClock()
	from := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	s := session(t, from, "s")
	remind(t, s, "unanswered", cortex.ActionScheduled, cortex.ActionSent)
	remind(t, s, "zanswered", cortex.ActionScheduled, cortex.ActionSent, cortex.ActionDone)
	var bundle bytes.Buffer
	must(s.WriteBundle(t.Context(), &bundle, replay.WriteOptions{}))
	to := open(t, mem.New(mem.Config{Clock: clock.Now}), turnstone.Config{Clock: clock.Now})
	must(to.ImportBundle(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(bundle.Bytes())), nil }, replay.ImportOptions{}))
	clock.Advance(24 * time.Hour)
	swept(t, to, 1)
}
