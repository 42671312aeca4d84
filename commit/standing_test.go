package commit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// session adds a session of a user.
func (w *world) session(name, user string) turn.Key {
	w.Helper()
	k := turn.Key{Tenant: key.Tenant, Session: name}
	w.update(func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(w.Context(), turn.SessionInfo{Key: k, User: user, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
		return err
	})
	return k
}

// seen commits an exchange with one event to a session and returns by what the event was judged.
func (w *world) seen(k turn.Key, text string) memory.Inputs {
	w.Helper()
	ex := talk("hello", "hi")
	ex.Candidates = []memory.Candidate{{Type: memory.Event, Text: text, Source: memory.FromAgent}}
	res, err := w.pipeline.Commit(w.Context(), k, ex)
	if err != nil || len(res.Episodes) != 1 {
		w.Fatalf("%+v, %v", res, err)
	}
	return res.Episodes[0].Provenance.Inputs
}

// everyEvent remembers what is judged, however it is judged.
var everyEvent = memory.Selection{Policies: memory.Policies{{Type: memory.UserData}, {Type: memory.Event, Always: true}}}

// What a user told counts in all sessions of that user and in no other, and what a session has seen is not new to it, whether
// that is known from the last commit or has to be read.
func TestWhatIsKnownOfASession(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		for name, between := range map[string]func(w *world){
			"known": func(*world) {},
			"read":  func(w *world) { w.withStore(w.store) },
		} {
			w := open(commit.Config{Selection: everyEvent})
			other, stranger, nobody, anybody := w.session("other", "ann"), w.session("stranger", "bob"), w.session("nobody", ""), w.session("anybody", "")
			tell := func(k turn.Key, text string) {
				ex := talk("hello", "hi")
				ex.Candidates = []memory.Candidate{fact(text)}
				if _, err := w.pipeline.Commit(t.Context(), k, ex); err != nil {
					t.Fatal(err)
				}
			}
			tell(key, "collects stamps of Brazil")
			tell(nobody, "breeds penguins")
			first := w.seen(key, "a film about walnuts")
			between(w)
			if again := w.seen(key, "a film about walnuts"); again.Novelty >= first.Novelty {
				t.Errorf("%s: as new as %v: %v", name, first.Novelty, again.Novelty)
			}
			for _, c := range []struct {
				in    turn.Key
				text  string
				cares bool
			}{
				{key, "an auction of stamps", true}, {other, "a thief of stamps", true}, {stranger, "a printer of stamps", false}, {nobody, "a heap of stamps", false},
				{nobody, "a house for penguins", true}, {anybody, "a boat for penguins", false}, {key, "a zoo for penguins", false},
			} {
				if got := w.seen(c.in, c.text); got.User > 0 != c.cares {
					t.Errorf("%s: %s concerns the user of %s by %v", name, c.text, c.in.Session, got.User)
				}
			}
			between(w)
			if got := w.seen(stranger, "a film about walnuts"); got.Novelty < first.Novelty {
				t.Errorf("%s: another session has seen it: %v", name, got.Novelty)
			}
		}
	})
}

// What is known of a session is not lost where somebody changes it in the middle of a commit.
func TestWhatIsKnownSurvivesAChange(t *testing.T) {
	var w *world
	change := false
	w = newWorldOnMem(t, commit.Config{Selection: everyEvent, Deadlines: patient, Evaluator: commit.EvaluateFunc(func(ctx context.Context, s *commit.Situation) (commit.Assessment, error) {
		if change {
			w.update(func(tx store.Tx) error {
				w.pipeline.Changed(key)
				return nil
			})
		}
		return commit.Rules{}.Evaluate(ctx, s)
	})})
	ex := talk("hello", "hi")
	ex.Candidates = []memory.Candidate{fact("collects stamps of Brazil")}
	w.commit(ex)
	w.seen(key, "a film about walnuts")
	change = true
	w.commit(talk("and?", "nothing"))
	change = false
	if got := w.seen(key, "an auction of stamps"); got.User <= 0 {
		t.Errorf("what the user told is lost: %+v", got)
	}
	if got := w.seen(key, "a film about walnuts"); got.Novelty >= 1 {
		t.Errorf("what was seen is lost: %+v", got)
	}
}

// What an exchange put off is waited for also by a process that was started since, and in no other session.
func TestWhatWasPutOffIsWaitedForInItsSession(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	other := w.session("other", "ann")
	faults := faulty.New(w.store)
	w.withStore(faults)
	faults.Set(failAt("InsertTurns"))
	w.commit(everything(1))
	faults.Set(nil)
	w.withStore(w.store)
	if res, err := w.pipeline.Commit(t.Context(), other, everything(2)); err != nil || len(res.Deferred) > 0 {
		t.Errorf("another session waits with %v: %v", res.Deferred, err)
	}
	if res := w.commit(everything(3)); !slices.Equal(res.Deferred, []commit.Target{commit.History}) {
		t.Errorf("put off %v", res.Deferred)
	}
}

// A note that has expired since the last commit is not there any more for those who judge the next.
func TestNotesExpireBetweenCommits(t *testing.T) {
	var later atomic.Int64
	w, shown := judged(t, commit.Config{Clock: func() time.Time { return time.Now().Add(time.Duration(later.Load())) }})
	ex := talk("hello", "hi")
	ex.Scratch.Put = []scratch.Change{{ID: "o", Type: ptr("alert"), Content: ptr("hot"), ExpiresAt: ptr(time.Now().Add(time.Hour))}}
	w.commit(ex)
	for _, after := range []struct {
		passed time.Duration
		notes  int
	}{{0, 1}, {2 * time.Hour, 0}} {
		later.Store(int64(after.passed))
		w.commit(talk("and now?", "yes"))
		if got := len(shown.Page.Observations()); got != after.notes {
			t.Errorf("after %s there are %d notes", after.passed, got)
		}
	}
}

// unread is a store that nobody may read from but in an update.
type unread struct{ store.Store }

func (unread) View(context.Context, func(store.Tx) error) error { return errors.New("it is read") }

// Of a session that was just made there is nothing to read, unless it is a user's: what the user told may be anywhere.
func TestTheFirstCommitReadsNothing(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) store.Store{
		"mem":    func(*testing.T) store.Store { return mem.New(mem.Config{}) },
		"sqlite": newSQLite,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, unread{open(t)}, commit.Config{})
			made := func(session, user string) turn.Key {
				info := turn.SessionInfo{Key: turn.Key{Tenant: key.Tenant, Session: session}, User: user, Status: turn.Active}
				w.update(func(tx store.Tx) (err error) {
					info.CreatedAt, info.LastActivity = tx.Now(), tx.Now()
					if info.Segment, err = tx.Log().InsertSession(t.Context(), info); err == nil {
						w.pipeline.Made(tx, info)
					}
					return err
				})
				return info.Key
			}
			w.update(func(tx store.Tx) error {
				w.pipeline.Forgot(tx) // what was forgotten before is nothing to a session that is made after it
				return nil
			})
			nobodys := made("nobodys", "")
			for i := range 2 {
				if _, err := w.pipeline.Commit(t.Context(), nobodys, everything(i)); err != nil {
					t.Errorf("commit %d: %v", i, err)
				}
			}
			if _, err := w.pipeline.Commit(t.Context(), made("anns", "ann"), everything(1)); err == nil {
				t.Error("nothing was read of what a user told")
			}
		})
	}
}

// What is forgotten while an exchange is being committed is not known of the session afterwards: neither does it count against the
// quota, nor is anything judged by it.
func TestWhatIsForgottenMeanwhileIsNotKnown(t *testing.T) {
	t.Run("during the commit", func(t *testing.T) {
		onStores(t, func(t *testing.T, open func(commit.Config) *world) {
			forgottenMeanwhile(open, (*forgetful).duringACommit)
		})
	})
	// On a store whose views do not wait for updates.
	t.Run("durable during the commit", func(t *testing.T) {
		forgottenMeanwhile(func(c commit.Config) *world { return newWorld(t, newSQLite(t), c) }, (*forgetful).durableDuringACommit)
	})
}

func forgottenMeanwhile(open func(commit.Config) *world, meanwhile func(*forgetful)) {
	f := &forgetful{reply: func() {}}
	how := everyEvent
	how.Quota.Session = 16
	f.world = open(commit.Config{Selection: how, Deadlines: patient, Responder: commit.RespondFunc(func(context.Context, *commit.Situation) (string, error) {
		f.reply()
		return "", nil
	})})
	ex := talk("hello", "hi")
	ex.Candidates = []memory.Candidate{fact("collects stamps of Brazil")}
	f.commit(ex)
	for i := range 15 {
		f.seen(key, fmt.Sprint("event ", i))
	}
	meanwhile(f)
	f.reply = func() {}
	for i := range 5 {
		f.seen(key, fmt.Sprint("new event ", i))
	}
	if got := len(f.liveItems(100)); got != 5 {
		f.Errorf("of 5 items %d are live", got)
	}
	if got := f.seen(key, "an auction of stamps"); got.User > 0 {
		f.Errorf("it is judged by what was forgotten: %+v", got)
	}
}

// forgetful is a world in which all items are forgotten.
type forgetful struct {
	*world
	reply func() // is called when an exchange has begun to be committed
}

// forget deletes all items in an update, which becomes durable once deleted has returned.
func (f *forgetful) forget(deleted func()) {
	f.Helper()
	ids := f.liveItems(100)
	f.update(func(tx store.Tx) error {
		f.pipeline.Forgot(tx)
		if n, err := tx.Memory().DeleteItems(f.Context(), key.Tenant, ids); err != nil || n != 16 {
			return fmt.Errorf("deleted %d: %w", n, err)
		}
		deleted()
		return nil
	})
}

func (f *forgetful) duringACommit() {
	f.reply = func() { f.forget(func() {}) }
	f.commit(talk("hello", "hi"))
}

func (f *forgetful) durableDuringACommit() {
	begun, durable, done := make(chan bool), make(chan bool), make(chan bool)
	f.reply = func() {
		begun <- true
		<-durable
	}
	f.forget(func() {
		go func() {
			f.commit(talk("hello", "hi"))
			close(done)
		}()
		<-begun
	})
	close(durable)
	<-done
}
