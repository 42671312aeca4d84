package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/trace"
	"github.com/turnstone-dev/turnstone/turn"
)

// items returns what a session remembers, oldest first.
func (w *world) items(k turn.Key) (rows []memory.Row) {
	w.Helper()
	info := w.info(k)
	w.view(func(tx store.Tx) (err error) {
		rows, err = tx.Memory().Items(w.ctx, memory.Filter{Tenant: k.Tenant, Segment: info.Segment, Archived: true, Limit: 10_000, Now: tx.Now()})
		return err
	})
	slices.Reverse(rows)
	return rows
}

func (w *world) parts(k turn.Key) (parts []trace.Part) {
	w.Helper()
	info := w.info(k)
	w.view(func(tx store.Tx) (err error) {
		parts, err = tx.Trace().PartsOf(w.ctx, k.Tenant, info.Segment)
		return err
	})
	return parts
}

func TestACopyNextToItsOriginalTakesNothingFromIt(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.plan()
	file := w.plain(k)
	items, parts := w.items(k), w.parts(k)
	copied := w.imported(file, replay.ImportOptions{As: "copy"})
	if !bytes.Equal(records(w.plain(k)), records(file)) {
		t.Errorf("the original changed:\n%s", w.plain(k))
	}

	got := w.items(copied.Key)
	but := cmpopts.IgnoreFields(memory.Row{}, "ID", "Segment", "Session", "About")
	if diff := cmp.Diff(items, got, but); diff != "" {
		t.Errorf("items (-original +copy):\n%s", diff)
	}
	for i, row := range got {
		if row.ID == items[i].ID || row.Session != "copy" || row.Segment != copied.Segment {
			t.Errorf("item %d is %s of %s in %d", i, row.ID, row.Session, row.Segment)
		}
	}
	last, _, err := memory.FromRow(got[2])
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{got[0].ID, turngen.ID(7_000_000), got[1].ID}; !slices.Equal(last.Links.Items, want) {
		t.Errorf("links to %v, want %v", last.Links.Items, want)
	}

	gotParts := w.parts(copied.Key)
	if diff := cmp.Diff(parts, gotParts, cmpopts.IgnoreFields(trace.Part{}, "ID", "Segment")); diff != "" {
		t.Errorf("traces (-original +copy):\n%s", diff)
	}
	for i, p := range gotParts {
		if p.ID == parts[i].ID {
			t.Errorf("part %d is %s", i, p.ID)
		}
	}
	w.imported(file, replay.ImportOptions{As: "copy-2"})
	w.imported(w.plain(copied.Key), replay.ImportOptions{As: "copy-3"})
	w.healthy()
}

// A copy that was made first does not keep the original out.
func TestAnOriginalAfterItsCopy(t *testing.T) {
	file := golden(t, "v2-plan.bundle")
	w := newWorld(t, t.Context())
	w.imported(file, replay.ImportOptions{As: "copy"})
	info := w.imported(file, replay.ImportOptions{As: "plan"})
	if got := w.plain(info.Key); !bytes.Equal(records(got), records(file)) {
		t.Errorf("imported as\n%s", got)
	}
	w.healthy()
}

func TestWhatIsTakenIsNotImportedHalf(t *testing.T) {
	file := golden(t, "v2-plan.bundle")
	for _, tt := range []struct {
		name string
		take func(tx store.Tx, segment int64) error
		want string
	}{
		{"item", func(tx store.Tx, segment int64) error {
			e := memory.Episode{ID: turngen.ID(6), Type: memory.Event, Text: "somebody else's", Created: tx.Now()}
			_, err := tx.Memory().InsertItems(t.Context(), []memory.Row{e.Row(memory.Owner{Tenant: "acme", Segment: segment, Session: "other"})})
			return err
		}, "memory item 01000000000000000000000006 is in tenant acme: exists already; import the session under another id, which gives it new ones"},
		{"trace", func(tx store.Tx, segment int64) error {
			return tx.Trace().InsertParts(t.Context(), "acme", trace.Part{TurnID: turngen.ID(1), Segment: segment, ID: turngen.ID(0xB), At: tx.Now(), Body: "{}"})
		}, "part 0100000000000000000000000B of the trace of turn 01000000000000000000000001 is in tenant acme: exists already"},
	} {
		w := newWorld(t, t.Context())
		segment := w.info(w.create("other")).Segment
		w.update(func(tx store.Tx) error { return tt.take(tx, segment) })
		before := w.dump()
		_, err := replay.Import(w.ctx, w.Store, opener(file), replay.ImportOptions{})
		if !errors.Is(err, turn.ErrExists) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(before, w.dump()); diff != "" {
			t.Errorf("%s: left\n%s", tt.name, diff)
		}
		w.imported(file, replay.ImportOptions{As: "copy"})
		w.imported(file, replay.ImportOptions{Tenant: "elsewhere"})
	}
}

func TestAFailedImportOfAPlanLeavesNothingBehind(t *testing.T) {
	file := golden(t, "v2-plan.bundle")
	w := newWorld(t, t.Context())
	writes := w.importedAtLast(&faulty{Store: w.Store}, file)
	// One session, 8 turns, a revision, 8 versions, 3 observations, a page of items that is looked up and
	// written, a digest, and 3 parts of traces of 2 turns that are looked up.
	if writes != 1+8+1+8+3+2+1+3+2 {
		t.Errorf("%d writes", writes)
	}
}

func TestAnImportedPlanGoesOn(t *testing.T) {
	w := newWorld(t, t.Context())
	info := w.imported(golden(t, "v2-other-plan.bundle"), replay.ImportOptions{})
	k := info.Key
	w.ids = 1000
	w.say(k, text(turn.User, "Go on."))
	w.intend(k, cortex.Changes{Goals: []cortex.GoalChange{{ID: "garden", Version: 5, By: cortex.ActorUser, Status: ptr(cortex.GoalActive)}}})
	w.notice(k, scratch.Changes{Archive: []string{"slope"}})
	w.remember(k, memory.Episode{Type: memory.Event, Text: "went on", Links: memory.Links{Items: []string{w.items(k)[0].ID}}})
	fork := w.fork(k, 7, "fork")
	w.intend(fork, cortex.Changes{Goals: []cortex.GoalChange{{ID: "garden", Version: 6, By: cortex.ActorUser, Status: ptr(cortex.GoalCompleted)}}})
	if _, err := verify(w.plain(fork)); err != nil {
		t.Error(err)
	}
	w.healthy()
}

func TestAForksBundleHoldsTheGoalsTheForkSees(t *testing.T) {
	w := newWorld(t, t.Context())
	parent := w.create("parent")
	w.say(parent, text(turn.User, "one"))
	goal := func(k turn.Key, id, why string) {
		c := cortex.GoalChange{ID: id, Why: why, Description: &why}
		if !strings.Contains(string(w.plain(k)), `"id":"`+id+`"`) {
			c.Title = &id
		}
		w.intend(k, cortex.Changes{Goals: []cortex.GoalChange{c}})
	}
	goal(parent, "g", "before")
	w.say(parent, text(turn.User, "two"))
	goal(parent, "g", "at the fork point")
	child := w.fork(parent, 2, "child")
	goal(parent, "g", "parent's later")
	goal(parent, "h", "parent's own")
	w.remember(parent, memory.Episode{Type: memory.Event, Text: "parent's memory"})
	w.traceOf(parent, w.all(parent)[0].ID, "parent's trace")
	w.notice(parent, scratch.Changes{Put: []scratch.Change{{Type: ptr("fact"), Content: ptr("parent's note")}}})
	goal(child, "g", "child's own")
	grandchild := w.fork(child, 1, "grandchild")
	for k, want := range map[turn.Key][]string{
		parent: {"before", "at the fork point", "parent's later", "parent's own"}, child: {"before", "at the fork point", "child's own"}, grandchild: {"before"},
	} {
		file := string(w.plain(k))
		var got []string
		for line := range strings.Lines(file) {
			if strings.HasPrefix(line, `{"intention"`) {
				_, why, _ := strings.Cut(line, `"description":"`)
				why, _, _ = strings.Cut(why, `"`)
				got = append(got, why)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", k.Session, diff)
		}
		if k != parent && strings.Contains(file, "parent's") {
			t.Errorf("%s: parent's own in\n%s", k.Session, file)
		}
		here := newWorld(t, t.Context())
		here.imported([]byte(file), replay.ImportOptions{})
		here.healthy()
	}
}

func TestOnlyWhatLastsIsWritten(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("s")
	w.say(k, text(turn.User, "one"))
	w.notice(k, scratch.Changes{Put: []scratch.Change{{ID: "day", Type: ptr("fact"), Content: ptr("a day old")}}})
	w.notice(k, scratch.Changes{Put: []scratch.Change{{ID: "week", Type: ptr("fact"), Content: ptr("archived")}}, Archive: []string{"week"}})
	w.remember(k, memory.Episode{Type: memory.Event, Text: "short", Expires: w.clock.now().Add(time.Hour)}, memory.Episode{Type: memory.Event, Text: "long"})
	// The turn of this one was put off: it is not in the log.
	w.traceOf(k, turngen.ID(77), "of a turn that is not there")
	w.traceOf(k, w.all(k)[0].ID, "of one that is")
	w.clock.micros.Add((25 * time.Hour).Microseconds())
	file, b := w.bundle(k, replay.WriteOptions{})
	if b.Observations != 2 || strings.Contains(string(file), `"status":"active","confidence"`) || b.MemoryItems != 1 || b.TraceParts != 1 || !strings.Contains(string(file), "archived") || !strings.Contains(string(file), `"text":"long"`) {
		t.Errorf("%+v\n%s", b, file)
	}
	if _, err := verify(file); err != nil {
		t.Error(err)
	}
	w.clock.micros.Add((7 * 24 * time.Hour).Microseconds())
	if file, b := w.bundle(k, replay.WriteOptions{}); b.Observations != 0 {
		t.Errorf("after a week: %s", file)
	}
}

func TestManyItemsAreReadAndWrittenInPages(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.create("many")
	for _, n := range []int{64, 1, 70} {
		items := make([]memory.Episode, n)
		for i := range items {
			items[i] = memory.Episode{Type: memory.Event, Text: fmt.Sprint("item ", i)}
		}
		w.remember(k, items...)
		here := newWorld(t, t.Context())
		here.imported(w.plain(k), replay.ImportOptions{})
		if diff := cmp.Diff(w.items(k), here.items(k)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// A store that broke its rules makes no bundle that nobody could read.
func TestOddRowsMakeNoBundle(t *testing.T) {
	for want, put := range map[string]func(w *world, tx store.Tx, segment int64) error{
		`goal "g" version 1: doc: `: func(w *world, tx store.Tx, segment int64) error {
			return tx.Cortex().InsertVersion(w.ctx, "acme", segment, cortex.Row{Kind: cortex.KindGoal, ID: "g", Version: 1, Doc: "{}", Change: "[]", At: tx.Now()})
		},
		`goal "g" version 1: doc: is version 2 of "g", live true`: func(w *world, tx store.Tx, segment int64) error {
			g := cortex.Goal{ID: "g", Title: "t", Priority: cortex.PriorityLow, Status: cortex.GoalActive, Version: 2}
			return tx.Cortex().InsertVersion(w.ctx, "acme", segment, cortex.Row{
				Kind: cortex.KindGoal, ID: "g", Version: 1, Live: true, Doc: string(g.AppendJSON(nil)), Change: "[]", At: tx.Now(),
			})
		},
		`goal "g" version 1: doc: is version 1 of "h", live true`: func(w *world, tx store.Tx, segment int64) error {
			g := cortex.Goal{ID: "h", Title: "t", Priority: cortex.PriorityLow, Status: cortex.GoalActive, Version: 1}
			return tx.Cortex().InsertVersion(w.ctx, "acme", segment, cortex.Row{
				Kind: cortex.KindGoal, ID: "g", Version: 1, Live: true, Doc: string(g.AppendJSON(nil)), Change: "[]", At: tx.Now(),
			})
		},
		`goal "g" version 1: doc: is version 1 of "g", live true`: func(w *world, tx store.Tx, segment int64) error {
			g := cortex.Goal{ID: "g", Title: "t", Priority: cortex.PriorityLow, Status: cortex.GoalActive, Version: 1}
			return tx.Cortex().InsertVersion(w.ctx, "acme", segment, cortex.Row{
				Kind: cortex.KindGoal, ID: "g", Version: 1, Live: false, Doc: string(g.AppendJSON(nil)), Change: "[]", At: tx.Now(),
			})
		},
		`observation "o": id: `: func(w *world, tx store.Tx, segment int64) error {
			return tx.Scratch().PutObservation(w.ctx, "acme", segment, scratch.Row{ID: "o", Type: "fact", Status: scratch.Active, Doc: "{}", At: tx.Now(), Expires: tx.Now().Add(time.Hour)})
		},
		`digest: doc: digest.v: `: func(w *world, tx store.Tx, segment int64) error {
			return tx.Memory().PutDigest(w.ctx, "acme", segment, memory.DigestRow{Doc: "{}", At: tx.Now()})
		},
		`observation "o": its row says otherwise than {"id":"p"`: func(w *world, tx store.Tx, segment int64) error {
			o := scratch.Observation{ID: "p", Type: "fact", Content: "c", Status: scratch.Active, UpdatedAt: tx.Now(), ExpiresAt: tx.Now().Add(time.Hour)}
			return tx.Scratch().PutObservation(w.ctx, "acme", segment, scratch.Row{ID: "o", Type: "fact", Status: scratch.Active, Doc: string(o.AppendJSON(nil)), At: o.UpdatedAt, Expires: o.ExpiresAt})
		},
		`observation "o": is written otherwise than {"id":"o"`: func(w *world, tx store.Tx, segment int64) error {
			o := scratch.Observation{ID: "o", Type: "fact", Content: "c", Status: scratch.Active, UpdatedAt: tx.Now(), ExpiresAt: tx.Now().Add(time.Hour)}
			return tx.Scratch().PutObservation(w.ctx, "acme", segment, scratch.Row{ID: "o", Type: "fact", Status: scratch.Active, Doc: string(o.AppendJSON(nil)) + "\n", At: o.UpdatedAt, Expires: o.ExpiresAt})
		},
		`memory item x: `: func(w *world, tx store.Tx, segment int64) error {
			_, err := tx.Memory().InsertItems(w.ctx, []memory.Row{{Tenant: "acme", ID: "x", Segment: segment, Session: "odd", Type: memory.Event, Text: "t", About: "{}", Created: tx.Now()}})
			return err
		},
		`digest: doc: tells of turns up to 0, its row up to 7`: func(w *world, tx store.Tx, segment int64) error {
			d := memory.Digest{}.Row(tx.Now())
			d.ThroughSeq = 7
			return tx.Memory().PutDigest(w.ctx, "acme", segment, d)
		},
		`trace_part x of turn `: func(w *world, tx store.Tx, segment int64) error {
			return tx.Trace().InsertParts(w.ctx, "acme", trace.Part{TurnID: turngen.ID(1), Segment: segment, ID: "x", At: tx.Now(), Body: "{}"})
		},
	} {
		w := newWorld(t, t.Context())
		k := w.create("odd")
		w.say(k, text(turn.User, "one"))
		segment := w.info(k).Segment
		w.update(func(tx store.Tx) error { return put(w, tx, segment) })
		err := w.View(w.ctx, func(tx store.Tx) error {
			_, err := replay.Write(w.ctx, tx, k, io.Discard, replay.WriteOptions{})
			return err
		})
		if err == nil || !strings.HasPrefix(err.Error(), "bundle of odd: "+want) {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
}

// What a note's row says beside its document must be what the document says.
func TestNotesWhoseRowsSayOtherwiseMakeNoBundle(t *testing.T) {
	for name, change := range map[string]func(*scratch.Row){
		"id":      func(r *scratch.Row) { r.ID = "other" },
		"type":    func(r *scratch.Row) { r.Type = "other" },
		"status":  func(r *scratch.Row) { r.Status = scratch.Resolved },
		"time":    func(r *scratch.Row) { r.At = r.At.Add(-time.Minute) },
		"expires": func(r *scratch.Row) { r.Expires = r.Expires.Add(time.Minute) },
	} {
		w := newWorld(t, t.Context())
		k := w.create("odd")
		segment := w.info(k).Segment
		w.update(func(tx store.Tx) error {
			o := scratch.Observation{ID: "o", Type: "fact", Content: "c", Status: scratch.Active, UpdatedAt: tx.Now(), ExpiresAt: tx.Now().Add(time.Hour)}
			row := scratch.Row{ID: "o", Type: "fact", Status: scratch.Active, Doc: string(o.AppendJSON(nil)), At: o.UpdatedAt, Expires: o.ExpiresAt}
			change(&row)
			return tx.Scratch().PutObservation(w.ctx, "acme", segment, row)
		})
		err := w.View(w.ctx, func(tx store.Tx) error {
			_, err := replay.Write(w.ctx, tx, k, io.Discard, replay.WriteOptions{})
			return err
		})
		if err == nil || !strings.Contains(err.Error(), "its row says otherwise") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestThePlayerShowsGoalsAsTheyWere(t *testing.T) {
	w := newWorld(t, t.Context())
	info := w.imported(golden(t, "v2-plan.bundle"), replay.ImportOptions{})
	p, err := replay.Play(w.ctx, w, info.Key, turn.HistoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for seq := range p.Len() + 1 {
		step, err := p.Seek(w.ctx, seq)
		if err != nil {
			t.Fatal(err)
		}
		garden, _ := step.Intentions.Goal("garden")
		measure, _ := step.Intentions.Action("measure")
		got = append(got, fmt.Sprintf("%d: %s %v %d, %s", seq, garden.Status, garden.Progress, len(garden.Decisions), measure.Status))
	}
	want := []string{
		"0: active 0 0, ", "1: active 0 0, ", "2: active 0 1, open", "3: active 0 1, open", "4: active 0.5 1, in_progress",
		"5: active 0.5 1, in_progress", "6: active 0.5 1, in_progress", "7: active 0.5 1, in_progress", "8: abandoned 0.5 1, done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
