package turnstone_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/internal/faulty"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// names are those of a session's snapshots, the newest first; automatic ones are "auto".
func names(t *testing.T, s *turnstone.Session) (names []string) {
	t.Helper()
	list, err := s.Snapshots(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.Auto {
			s.Name = "auto"
		}
		names = append(names, s.Name)
	}
	return names
}

func TestSnapshotsOfASession(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s, err := eng.Create(t.Context(), turn.SessionInfo{Key: turn.Key{Session: "s"}, Model: "llama3.2:3b", Mode: "developer"})
		if err != nil {
			t.Fatal(err)
		}
		take := func(name string) snapshot.Snapshot {
			t.Helper()
			taken, err := s.Snapshot(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			return taken
		}
		empty := take("empty")
		say(t, s, turn.User, "hello")
		said := take("said")
		p := compiled(t, s, turnstone.PromptOptions{Model: "gpt-4o", Context: 16384})
		say(t, s, turn.Agent, "hello to you")
		prompted := take("")
		for what, pair := range map[string][2]snapshot.Snapshot{
			"empty":    {empty, {Session: "s", Name: "empty", Model: "llama3.2:3b", Mode: "developer"}},
			"said":     {said, {Session: "s", Name: "said", Turn: 1, MessageCount: 1, Model: "llama3.2:3b", Mode: "developer"}},
			"prompted": {prompted, {Session: "s", Turn: 2, Epoch: 1, MessageCount: 2, TokenCount: int64(p.Count.Tokens), Model: "gpt-4o", Tier: 3, Mode: "developer"}},
		} {
			if diff := cmp.Diff(pair[1], pair[0], cmpopts.IgnoreFields(snapshot.Snapshot{}, "ID", "At")); diff != "" {
				t.Errorf("%s (-want +got)\n%s", what, diff)
			}
		}
		list, err := s.Snapshots(t.Context(), "", 0)
		if diff := cmp.Diff([]snapshot.Snapshot{prompted, said, empty}, list); err != nil || diff != "" {
			t.Errorf("listed: %v (-want +got)\n%s", err, diff)
		}
		list, err = s.Snapshots(t.Context(), prompted.ID, 1)
		if diff := cmp.Diff([]snapshot.Snapshot{said}, list); err != nil || diff != "" {
			t.Errorf("the one before: %v (-want +got)\n%s", err, diff)
		}
		if err := s.DeleteSnapshot(t.Context(), said.ID); err != nil {
			t.Error(err)
		}
		if got := names(t, s); !slices.Equal(got, []string{"", "empty"}) {
			t.Errorf("left are %q", got)
		}
		events, err := eng.Events(t.Context(), "s", "", 9)
		want := fmt.Sprintf(`{"snapshot":%q,"name":"said","turn":1,"epoch":0,"tokens":0}`, said.ID)
		if err != nil || len(events) != 3 || events[1].Kind != event.SnapshotCreated || events[1].Data != want {
			t.Errorf("announced %+v, %v", events, err)
		}
	})
}

// The turns of a snapshot are those of its path, and its checkpoints those of its epoch.
func TestASnapshotCountsWhatThePromptShows(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	for range 9 {
		say(t, s, turn.User, "more")
	}
	p := compiled(t, s, turnstone.PromptOptions{})
	err := st.Update(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: "s"})
		if err != nil {
			return err
		}
		back := prompt.Epoch{
			Number: 2, AfterSeq: 9, Renderer: prompt.Renderer, Reason: prompt.ReasonRestore, Path: []turn.Range{{From: 1, To: 4}, {From: 8}}, From: 3, Settings: p.Settings,
			Checkpoints: []prompt.Ref{{Number: 1, Version: 1, SHA256: strings.Repeat("0", 64)}, {Number: 2, Version: 1, SHA256: strings.Repeat("1", 64)}},
		}
		row := back.Row()
		row.At = tx.Now()
		return tx.Prompt().InsertEpoch(t.Context(), info.Tenant, info.Segment, row)
	})
	if err != nil {
		t.Fatal(err)
	}
	taken, err := s.Snapshot(t.Context(), "")
	if err != nil || taken.Epoch != 2 || taken.MessageCount != 6 || taken.CheckpointCount != 2 {
		t.Errorf("%+v, %v", taken, err)
	}
}

func TestSnapshotsThatCannotBe(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "s")
	say(t, s, turn.User, "hello")
	inherited, err := s.Snapshot(t.Context(), "before")
	if err != nil {
		t.Fatal(err)
	}
	say(t, s, turn.Agent, "hello")
	child, err := s.Fork(t.Context(), turnstone.Head, turn.SessionInfo{Key: turn.Key{Session: "child"}})
	if err != nil {
		t.Fatal(err)
	}
	missing := open(t, mem.New(mem.Config{}), turnstone.Config{})
	gone := session(t, missing, "gone")
	_, badName := s.Snapshot(t.Context(), "two\nlines")
	_, likeID := s.Snapshot(t.Context(), inherited.ID)
	for _, test := range []struct {
		err  error
		is   error
		says string
	}{
		{badName, nil, "snapshot of s: name: has line breaks"},
		{likeID, nil, "looks like the id of a snapshot; give another name"},
		{gone.DeleteSnapshot(t.Context(), inherited.ID), snapshot.ErrNotFound, "snapshots of gone: snapshot " + inherited.ID + ": no such snapshot; list them for the ids there are"},
		{s.DeleteSnapshot(t.Context(), "before"), snapshot.ErrNotFound, "no such snapshot of that id; the newest of that name is " + inherited.ID},
		{child.DeleteSnapshot(t.Context(), inherited.ID), snapshot.ErrNotFound, "of its own; it was inherited from s: delete it there"},
	} {
		if test.err == nil || test.is != nil && !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.says) {
			t.Errorf("%v does not say %q", test.err, test.says)
		}
	}
	// Those were the caller's mistakes, and are nobody else's business.
	if got := events(t, st); !slices.Equal(got, []event.Kind{event.SnapshotCreated}) {
		t.Errorf("announced %v", got)
	}
	if got := names(t, child); !slices.Equal(got, []string{"before"}) {
		t.Errorf("the fork has %v", got)
	}
}

func TestSnapshotErrorsAreAnnounced(t *testing.T) {
	boom := errors.New("boom \xff")
	st := mem.New(mem.Config{})
	faults := faulty.New(st)
	eng := open(t, faults, turnstone.Config{})
	s := session(t, eng, "s")
	failOnce := func(failing string) {
		left := 1
		faults.Set(func(point string) error {
			if point == failing && left > 0 {
				left--
				return boom
			}
			return nil
		})
	}
	failOnce("InsertSnapshot")
	if taken, err := s.Snapshot(t.Context(), "lost"); !errors.Is(err, boom) || taken != (snapshot.Snapshot{}) {
		t.Errorf("%+v, %v", taken, err)
	}
	kept, err := s.Snapshot(t.Context(), "kept")
	if err != nil {
		t.Fatal(err)
	}
	failOnce("end")
	if err := s.DeleteSnapshot(t.Context(), kept.ID); !errors.Is(err, boom) {
		t.Errorf("delete: %v", err)
	}
	if got := names(t, s); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("there are %v", got)
	}
	all, err := eng.Events(t.Context(), "s", "", 9)
	var got []string
	for _, e := range all {
		if e.Kind == event.SnapshotError {
			got = append(got, e.Data)
		}
	}
	want := []string{
		`{"operation":"take","error":"snapshot of s: snapshot ID: boom �"}`,
		`{"operation":"delete","error":"snapshots of s: boom �"}`,
	}
	if err != nil || len(got) != 2 || got[1] != want[1] || !strings.HasPrefix(got[0], want[0][:50]) || !strings.HasSuffix(got[0], ": boom �\"}") {
		t.Errorf("announced %q, %v", got, err)
	}

	// Where not even that can be stored, both errors are there; where nobody waits any more, nothing is tried.
	faults.Set(func(string) error { return boom })
	if _, err := s.Snapshot(t.Context(), "lost"); !errors.Is(err, boom) || strings.Count(err.Error(), "boom") != 2 {
		t.Errorf("all fails: %v", err)
	}
	faults.Set(nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Snapshot(ended, "late"); !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "\n") {
		t.Errorf("nobody waits: %v", err)
	}
}

// What is damaged in the store fails what needs it, and nothing else.
func TestDamagedSnapshots(t *testing.T) {
	boom := errors.New("boom")
	st := mem.New(mem.Config{})
	faults := faulty.New(st)
	s := session(t, open(t, faults, turnstone.Config{}), "s")
	snap(t, s, "whole")
	spoil := func(write func(tx store.Tx, info turn.SessionInfo) error) {
		t.Helper()
		err := st.Update(t.Context(), func(tx store.Tx) error {
			info, err := tx.Log().Session(t.Context(), turn.Key{Tenant: turn.DefaultTenant, Session: "s"})
			if err != nil {
				return err
			}
			return write(tx, info)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const damaged = "01J00000000000000000000001"
	spoil(func(tx store.Tx, info turn.SessionInfo) error {
		return tx.Snapshot().InsertSnapshot(t.Context(), info.Tenant, info.Segment, snapshot.Row{ID: damaged, Doc: "{", At: tx.Now()})
	})
	list, err := s.Snapshots(t.Context(), "", 0)
	if len(list) != 1 || list[0].Name != "whole" || err == nil || !strings.Contains(err.Error(), "snapshots of s: snapshot "+damaged) {
		t.Errorf("listed %+v, %v", list, err)
	}
	if err := s.DeleteSnapshot(t.Context(), damaged); err != nil {
		t.Error(err)
	}

	for _, point := range []string{"InsertSnapshot", "InsertEvent"} {
		faults.Set(func(at string) error {
			if at == point {
				return boom
			}
			return nil
		})
		if taken, err := s.TakeAuto(t.Context()); taken || !errors.Is(err, boom) || !strings.HasPrefix(err.Error(), "automatic snapshot: ") {
			t.Errorf("%s fails: taken %v, %v", point, taken, err)
		}
	}
	faults.Set(nil)
	spoil(func(tx store.Tx, info turn.SessionInfo) error {
		return tx.Prompt().InsertCall(t.Context(), info.Tenant, info.Segment, prompt.CallRow{Number: 1, Epoch: 1, Doc: "{", At: tx.Now()})
	})
	snap(t, s, "no epoch yet, and no prompt that matters")
	for i, doc := range []string{`{"renderer":1,"reason":"start"}`, "{"} {
		spoil(func(tx store.Tx, info turn.SessionInfo) error {
			return tx.Prompt().InsertEpoch(t.Context(), info.Tenant, info.Segment, prompt.EpochRow{Number: int64(i + 1), Doc: doc, At: tx.Now()})
		})
		_, asked := s.Snapshot(t.Context(), "lost")
		if taken, auto := s.TakeAuto(t.Context()); taken || auto == nil || asked == nil {
			t.Errorf("epoch %s: %v, %v", doc, auto, asked)
		}
	}
	if got := names(t, s); !slices.Equal(got, []string{"no epoch yet, and no prompt that matters", "whole"}) {
		t.Errorf("there are %q", got)
	}
}

func TestAutomaticSnapshots(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		s := session(t, eng, "s")
		auto := func(want bool) {
			t.Helper()
			if taken, err := s.TakeAuto(t.Context()); err != nil || taken != want {
				t.Errorf("taken %v, %v", taken, err)
			}
		}
		filled := func(share float64, want bool) {
			t.Helper()
			if taken, err := s.TakeFilled(t.Context(), share); err != nil || taken != want {
				t.Errorf("filled to %g: taken %v, %v", share, taken, err)
			}
		}
		say(t, s, turn.User, "hello")
		auto(true)
		auto(false) // the same state
		snap(t, s, "mine")
		auto(false)
		say(t, s, turn.Agent, "hello")
		filled(1, false) // there is one of this epoch
		auto(true)
		compiled(t, s, turnstone.PromptOptions{}) // opens the first epoch
		filled(0.79, false)
		filled(0.80, true)
		filled(1, false)
		auto(false)
		if got := names(t, s); !slices.Equal(got, []string{"auto", "auto", "mine", "auto"}) {
			t.Errorf("there are %v", got)
		}
		if got := events(t, st); !slices.Equal(got, []event.Kind{event.AutoSnapshotCreated, event.SnapshotCreated, event.AutoSnapshotCreated, event.AutoSnapshotCreated}) {
			t.Errorf("announced %v", got)
		}
	})
}

func TestSnapshotsAreConfigured(t *testing.T) {
	_, err := turnstone.Open(t.Context(), mem.New(mem.Config{}), turnstone.Config{Snapshots: snapshot.Config{AutoThreshold: math.NaN()}})
	var field *snapshot.FieldError
	if !errors.As(err, &field) || field.Name != "snapshots.autoThreshold" {
		t.Errorf("a threshold that is no number: %v", err)
	}
	for name, c := range map[string]snapshot.Config{"off": {Off: true}, "asked for": {NoAuto: true}} {
		s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Snapshots: c}), "s")
		say(t, s, turn.User, "hello")
		auto, err1 := s.TakeAuto(t.Context())
		filled, err2 := s.TakeFilled(t.Context(), 1)
		if auto || filled || err1 != nil || err2 != nil {
			t.Errorf("%s: taken %v, %v; %v, %v", name, auto, err1, filled, err2)
		}
		taken, err := s.Snapshot(t.Context(), "mine")
		if off := errors.Is(err, turnstone.ErrSnapshotsOff); off != c.Off || off != (taken.ID == "") {
			t.Errorf("%s: %+v, %v", name, taken, err)
		}
	}
	low := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Snapshots: snapshot.Config{AutoThreshold: 0.25}}), "s")
	if taken, err := low.TakeFilled(t.Context(), 0.25); err != nil || !taken {
		t.Errorf("a quarter: %v, %v", taken, err)
	}
}

func TestOldAutomaticSnapshotsAreSwept(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		other, err := eng.ForTenant("other")
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := session(t, eng, "s"), session(t, other, "s")
		for i := range 23 {
			for _, s := range []*turnstone.Session{ours, theirs} {
				say(t, s, turn.User, fmt.Sprint(i))
				if taken, err := s.TakeAuto(t.Context()); err != nil || !taken {
					t.Fatalf("taken %v, %v", taken, err)
				}
			}
			snap(t, ours, "mine")
		}
		swept, err := eng.Sweep(t.Context())
		if err != nil || swept != (turnstone.Swept{Snapshots: 6}) {
			t.Errorf("swept %+v, %v", swept, err)
		}
		got := names(t, ours)
		if mine := slices.DeleteFunc(slices.Clone(got), func(n string) bool { return n == "auto" }); len(mine) != 23 || len(got) != 43 {
			t.Errorf("%d are left, %d of them the user's", len(got), len(mine))
		}
		if n := len(names(t, theirs)); n != 20 {
			t.Errorf("of the other tenant %d are left", n)
		}
		if swept, err := eng.Sweep(t.Context()); err != nil || swept != (turnstone.Swept{}) {
			t.Errorf("swept again: %+v, %v", swept, err)
		}
	})
}
