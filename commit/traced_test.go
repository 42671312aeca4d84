package commit_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// traced returns the parts of a turn's trace, joined, and how many rows of the store they take.
func (w *world) traced(turnID string) (whole trace.TurnTrace, rows int) {
	w.Helper()
	w.view(func(tx store.Tx, _ turn.SessionInfo) error {
		stored, err := tx.Trace().Parts(w.Context(), key.Tenant, turnID)
		if err != nil {
			return err
		}
		parts, err := commit.Traces(w.Context(), tx, key.Tenant, turnID)
		if err != nil {
			return err
		}
		var pieces []trace.TurnTrace
		for _, p := range parts {
			if p.Segment == 0 || len(p.ID) != 26 || time.Since(p.At) > time.Hour {
				w.Errorf("a part is %s in segment %d at %s", p.ID, p.Segment, p.At)
			}
			piece, err := trace.Decode(p.Body)
			if err != nil {
				return err
			}
			if piece.Session == "" || piece.TurnID != turnID || time.Since(piece.Started) > time.Hour {
				w.Errorf("a part says %+v", piece)
			}
			pieces = append(pieces, piece)
		}
		whole, rows = trace.Join(pieces...), len(stored)
		return nil
	})
	return whole, rows
}

// publish publishes all that waits, noted by p.
func (w *world) publish(p *commit.Pipeline) {
	w.Helper()
	_, err := w.store.Publish(w.Context(), 100, store.Publication{
		Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil },
		Note: p.Note,
	})
	if err != nil {
		w.Fatal(err)
	}
}

func phases(t trace.TurnTrace) (names []string) {
	for _, s := range t.Spans {
		names = append(names, s.Phase)
	}
	return names
}

// A trace tells of its publication by the clock it was recorded with, and where another process publishes it, not from before it
// began.
func TestAPublicationIsTracedWhereClocksDiffer(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		for _, ahead := range []time.Duration{30 * time.Minute, -30 * time.Minute} {
			w := open(commit.Config{Clock: func() time.Time { return time.Now().Add(ahead) }})
			other, err := commit.New(t.Context(), w.store, w.config)
			if err != nil {
				t.Fatal(err)
			}
			for _, publisher := range []*commit.Pipeline{w.pipeline, other} {
				res := w.commit(talk("a", "b"))
				w.publish(publisher)
				whole, _ := w.traced(res.TurnID)
				i := slices.IndexFunc(whole.Entries, func(e trace.Entry) bool { return e.Kind == trace.Published })
				if i < 0 {
					t.Fatalf("%s ahead: not published: %+v", ahead, whole)
				}
				if at := whole.Entries[i].At; at < 0 || publisher == w.pipeline && at > ahead.Abs()/2 {
					t.Errorf("%s ahead: published after %s", ahead, at)
				}
			}
		}
	})
}

func TestTraceIsInTheExportUntilItIsPublished(t *testing.T) {
	first := []string{string(commit.PhaseComplete), string(commit.PhaseReflect), string(commit.PhaseSelect)}
	all := append(slices.Clone(first), string(commit.PhasePersist), string(commit.PhaseNotify), string(commit.PhaseFinalize))
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		other, err := commit.New(t.Context(), w.store, w.config)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())

		res := w.commit(talk("Is it free?", "It is."))
		got, rows := w.traced(res.TurnID)
		if !slices.Equal(phases(got), first) || rows != 0 || got.Status != string(commit.Complete) || got.ExportID != res.ExportID {
			t.Errorf("before it is published: phases %v of %+v in %d rows", phases(got), got, rows)
		}
		w.publish(w.pipeline)
		got, rows = w.traced(res.TurnID)
		if !slices.Equal(phases(got), all) || rows != 1 || got.Status != string(commit.Complete) {
			t.Errorf("published by who committed it: phases %v in %d rows", phases(got), rows)
		}
		if n := len(got.Entries); n == 0 || got.Entries[n-1].Kind != trace.Published || got.Entries[n-1].Text != "published as number 1" {
			t.Errorf("entries %+v do not end with the publication", got.Entries)
		}

		published := res.TurnID
		res = w.commit(talk("And now?", "Still."))
		if got, _ := w.traced(res.TurnID); got.Status != string(commit.Complete) {
			t.Errorf("before it is published: %s", got.Status)
		}
		w.publish(other)
		got, rows = w.traced(res.TurnID)
		if !slices.Equal(phases(got), first) || rows != 1 {
			t.Errorf("published by another: phases %v in %d rows", phases(got), rows)
		}
		if err := w.pipeline.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		got, rows = w.traced(res.TurnID)
		if !slices.Equal(phases(got), all) || rows != 2 {
			t.Errorf("after its own process ended: phases %v in %d rows", phases(got), rows)
		}
		if _, rows := w.traced(published); rows != 1 {
			t.Errorf("what was stored with its publication is in %d rows", rows)
		}
	})
}

func TestExportsOfSeveralProcessesArePublishedTogether(t *testing.T) {
	onStores(t, func(t *testing.T, open func(commit.Config) *world) {
		w := open(commit.Config{})
		other, err := commit.New(t.Context(), w.store, w.config)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close(t.Context())
		var turns, exports []string
		var phased []int
		for i, p := range []*commit.Pipeline{w.pipeline, other, w.pipeline, other, other} {
			ex := talk("Is it free?", "It is.")
			res, err := p.Commit(t.Context(), key, ex)
			if err != nil {
				t.Fatal(err)
			}
			turns, exports = append(turns, res.TurnID), append(exports, res.ExportID)
			// Who publishes knows the first three phases of what others committed, and all of its own.
			if phased = append(phased, 3); p == w.pipeline {
				phased[i] = 6
			}
		}
		w.publish(w.pipeline)
		for i, turnID := range turns {
			got, rows := w.traced(turnID)
			want := fmt.Sprint("published as number ", i+1)
			if last := got.Entries[len(got.Entries)-1]; len(got.Spans) != phased[i] || rows != 1 || got.ExportID != exports[i] || last.Text != want {
				t.Errorf("exchange %d: %d spans of export %s in %d rows, the last entry is %q, want %d of %s and %q",
					i+1, len(got.Spans), got.ExportID, rows, last.Text, phased[i], exports[i], want)
			}
		}
	})
}

// between runs something once an update is committed, before who made it goes on.
type between struct {
	store.Store
	run func()
}

func (b *between) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := b.Store.Update(ctx, fn)
	if run := b.run; run != nil {
		b.run = nil
		run()
	}
	return err
}

// The end of a trace is stored once, even if the export is published just as the end has waited for long enough.
func TestTheEndOfATraceIsStoredOnce(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{})
	st := &between{Store: w.store}
	w.withStore(st)
	res := w.commit(talk("Is it free?", "It is."))
	st.run = func() { w.publish(w.pipeline) }
	if err := w.pipeline.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, rows := w.traced(res.TurnID)
	if n := len(phases(got)); n != 6 || rows != 2 {
		t.Errorf("phases %v in %d rows", phases(got), rows)
	}
}

// A trace tells what was found, learned, left out, refused and put off.
func TestATraceTellsWhatHappened(t *testing.T) {
	w := newWorldOnMem(t, commit.Config{Retries: []time.Duration{time.Hour}})
	w.commit(used(turn.CallError, `"no such directory"`))
	ex := used(turn.CallError, `"no such directory"`)
	ex.Candidates = []memory.Candidate{fact("likes tea"), {Type: memory.Event, Text: "a cursor blinked", Given: full(0.1)}}
	ex.Errors = []string{""}
	ex.Scratch.Archive = []string{"nothing"}
	res, _ := w.putOff(ex, "InsertItems")
	w.publish(w.pipeline)
	story := w.story(res.TurnID)
	for _, want := range []string{
		"tool_invocation ls error", "repeated_failure: ls failed again", "lesson: Do not try it again unchanged", "candidates kept", "event left out: unimportant",
		"left out: text", "inconsistency   observation", "memory was put off: planted",
	} {
		if !strings.Contains(story, want) {
			t.Errorf("it does not tell %q:\n%s", want, story)
		}
	}
}

// An export may be published before its exchange is finalized: the end of its trace is stored a little later then, also if that
// fails once, and once.
func TestTheEndOfATraceOutlivesAnEarlyPublication(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOnMem(t, commit.Config{})
		faults := faulty.New(w.store)
		st := &between{Store: faults}
		w.withStore(st)
		noted, finalized, published := make(chan struct{}), make(chan struct{}), make(chan error)
		st.run = func() {
			go func() {
				_, err := w.store.Publish(w.Context(), 100, store.Publication{
					Send: func(_ context.Context, exports []event.Export) (int, error) { return len(exports), nil },
					Note: func(ctx context.Context, tx store.Tx, exports []event.Export) error {
						err := w.pipeline.Note(ctx, tx, exports)
						close(noted)
						<-finalized
						return err
					},
				})
				published <- err
			}()
			<-noted
		}
		res := w.commit(talk("Is it free?", "It is."))
		close(finalized)
		if err := <-published; err != nil {
			t.Fatal(err)
		}
		if got, rows := w.traced(res.TurnID); len(phases(got)) != 3 || rows != 1 {
			t.Errorf("as it is published: phases %v in %d rows", phases(got), rows)
		}
		faults.Set(failAt("begin"))
		time.Sleep(looks + time.Second)
		faults.Set(nil)
		time.Sleep(looks)
		if got, rows := w.traced(res.TurnID); len(phases(got)) != 6 || rows != 2 {
			t.Errorf("a minute later: phases %v in %d rows", phases(got), rows)
		}
		if err := w.pipeline.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, rows := w.traced(res.TurnID); rows != 2 {
			t.Errorf("once it is closed, %d rows", rows)
		}
	})
}
