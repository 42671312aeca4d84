package replay_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/snapshot"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// left is what compression left in a session, as its prompts see it.
type left struct {
	Checkpoints []compress.Row
	Epochs      []prompt.EpochRow
	Breaker     string
	Snapshots   []snapshot.Row // without their ids
}

func (w *world) left(k turn.Key) (l left) {
	w.Helper()
	info := w.info(k)
	spans := info.Lineage(info.Head)
	w.view(func(tx store.Tx) (err error) {
		var errs [4]error
		l.Checkpoints, errs[0] = tx.Compress().Checkpoints(w.ctx, k.Tenant, spans, 0, 1000)
		l.Epochs, errs[1] = tx.Prompt().Epochs(w.ctx, k.Tenant, spans, 0, 1000)
		l.Breaker, _, errs[2] = tx.Compress().Breaker(w.ctx, k.Tenant, info.Segment)
		l.Snapshots, errs[3] = tx.Snapshot().Snapshots(w.ctx, k.Tenant, spans, "", 1000)
		for i := range l.Snapshots {
			l.Snapshots[i].ID = ""
		}
		return errors.Join(errs[:]...)
	})
	return l
}

// Whatever it is called and wherever it goes, a copy has what the original has: what its prompts are made from is
// the same, byte for byte.
func TestAnImportedSessionHasItsCompression(t *testing.T) {
	w := newWorld(t, t.Context())
	long := w.long()
	for _, original := range []turn.Key{long, w.otherLong(long)} {
		want := w.left(original)
		if len(want.Checkpoints) == 0 || len(want.Snapshots) == 0 || want.Breaker == "" {
			t.Fatalf("%s has too little: %+v", original.Session, want)
		}
		here := newWorld(t, t.Context())
		here.ids = 1000
		for _, o := range []replay.ImportOptions{{}, {As: "copy"}, {Tenant: "elsewhere"}, {As: "another"}} {
			k := here.imported(w.plain(original), o).Key
			if diff := cmp.Diff(want, here.left(k)); diff != "" {
				t.Errorf("%s, %+v (-there +here):\n%s", original.Session, o, diff)
			}
			here.say(k, text(turn.User, "On we go."))
			last := want.Checkpoints[len(want.Checkpoints)-1]
			here.checkpoint(k, summary(last.Number, last.Version+1, turn.Range{From: 5, To: 8}, "Less."))
			here.snapshot(k, "afterwards", 4)
			if _, err := verify(here.plain(here.fork(k, 11, k.Session+"-fork"))); err != nil {
				t.Error(err)
			}
		}
		here.healthy()
	}
}

// A fork and its parent share the snapshots from before the fork point. Both can be brought to another store, in
// any order.
func TestAForkAndItsParentBringTheirSnapshots(t *testing.T) {
	w := newWorld(t, t.Context())
	long := w.long()
	other := w.otherLong(long)
	want := map[turn.Key]left{long: w.left(long), other: w.left(other)}
	for _, order := range [][]turn.Key{{long, other}, {other, long}} {
		here := newWorld(t, t.Context())
		for _, k := range order {
			here.imported(w.plain(k), replay.ImportOptions{})
		}
		for k, l := range want {
			if diff := cmp.Diff(l, here.left(k)); diff != "" {
				t.Errorf("%s after %v (-there +here):\n%s", k.Session, order, diff)
			}
		}
		here.healthy()
	}
}

func TestAFailedImportOfALongSessionLeavesNothingBehind(t *testing.T) {
	file := golden(t, "v4-long.bundle")
	w := newWorld(t, t.Context())
	writes := w.importedAtLast(&faulty{Store: w.Store}, file)
	// One session, 12 turns, a revision, 3 materials, settings, 3 checkpoints, 4 epochs, a breaker and 3 snapshots.
	if writes != 1+12+1+3+1+3+4+1+3 {
		t.Errorf("%d writes", writes)
	}
}

// spoil changes a row of a session's checkpoints behind everybody's back.
func (w *world) spoil(t *testing.T, change func(table string, values []any)) *world {
	t.Helper()
	spoiled := newWorld(t, t.Context())
	var all []store.Row
	if err := w.Dump(w.ctx, func(r store.Row) error {
		r.Values = slices.Clone(r.Values)
		change(r.Table, r.Values)
		all = append(all, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	err := spoiled.Load(w.ctx, func(yield func(store.Row, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return spoiled
}

// A session that has lost a checkpoint goes on without it, and so does its copy: what was lost is said, and nothing
// else is.
func TestADamagedCheckpointIsWrittenAsLost(t *testing.T) {
	for name, damaged := range map[string]func(doc string) string{
		"no JSON":       func(doc string) string { return doc[1:] },
		"no checkpoint": func(string) string { return `{}` },
		"other words":   func(doc string) string { return strings.Replace(doc, "A login", "A logout", 1) },
		"other version": func(doc string) string { return strings.Replace(doc, `"version":1`, `"version":3`, 1) },
		"later turns":   func(doc string) string { return strings.Replace(doc, `"to":4}`, `"to":9}`, 1) },
		"nothing":       func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, t.Context())
			k := w.long()
			whole := w.plain(k)
			w = w.spoil(t, func(table string, values []any) {
				if table == "checkpoints" && values[2] == int64(1) && values[3] == int64(1) {
					values[5] = damaged(values[5].(string))
				}
			})
			file := w.plain(k)
			b, err := verify(file)
			if err != nil || b.Checkpoints != 3 {
				t.Fatalf("%+v, %v", b.Counts, err)
			}
			want := strings.Split(string(whole), "\n")
			want[18] = want[18][:strings.Index(want[18], `,"doc":`)] + `,"lost":true}}`
			if diff := cmp.Diff(want[1:len(want)-2], strings.Split(string(records(file)), "\n")[:len(want)-3]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			here := newWorld(t, t.Context())
			again := here.plain(here.imported(file, replay.ImportOptions{}).Key)
			if !bytes.Equal(records(again), records(file)) {
				t.Errorf("written again:\n%s\nfirst:\n%s", again, file)
			}
		})
	}
}

// What nobody can use any more is left out.
func TestDamagedBreakersAndSnapshotsAreLeftOut(t *testing.T) {
	w := newWorld(t, t.Context())
	k := w.long()
	damaged := map[any]string{"01M7CP919G0000000000000007": `{`, "01M7CP94780000000000000008": `{"session":"long","epoch":9}`}
	w = w.spoil(t, func(table string, values []any) {
		switch table {
		case "breakers":
			values[2] = `{"failures":-1}`
		case "snapshots":
			if doc, ok := damaged[values[1]]; ok {
				values[4] = doc
			}
		}
	})
	_, b := w.bundle(k, replay.WriteOptions{})
	if b.Breakers != 0 || b.Snapshots != 1 {
		t.Errorf("%+v", b.Counts)
	}
	w = w.spoil(t, func(table string, values []any) {
		if table == "breakers" {
			values[2] = `{"epoch":1,"range":{"from":1,"to":13}}`
		}
	})
	if _, b := w.bundle(k, replay.WriteOptions{}); b.Breakers != 0 {
		t.Errorf("%+v", b.Counts)
	}
}

// A store that broke its rules makes no bundle that nobody could read.
func TestOddRowsOfCompressionMakeNoBundle(t *testing.T) {
	refer := func(ref prompt.Ref) func(w *world, k turn.Key) {
		return func(w *world, k turn.Key) {
			w.checkpoint(k, summary(1, 1, turn.Range{From: 1, To: 1}, "One."))
			w.open(k, prompt.Epoch{Number: 1, Reason: prompt.ReasonFull, From: 2, Settings: w.put(k, prompt.Settings{}), Checkpoints: []prompt.Ref{ref}})
		}
	}
	sum := func(c compress.Checkpoint) string { return sumOf(string(c.AppendJSON(nil))) }
	one := sum(summary(1, 1, turn.Range{From: 1, To: 1}, "One."))
	for want, put := range map[string]func(w *world, k turn.Key){
		"version 2 of checkpoint 1: version: it is the first that stands here, and the first is 1": func(w *world, k turn.Key) {
			w.checkpoint(k, summary(1, 2, turn.Range{From: 1, To: 1}, "One."))
		},
		"epoch 1: doc.checkpoints: no version 1 of checkpoint 7 stands before it": refer(prompt.Ref{Range: turn.Range{From: 1, To: 1}, Number: 7, Version: 1, SHA256: one}),
		"epoch 1: doc.checkpoints: turns 2–2 of version 1 of checkpoint 1 are not from 1 to 1": func(w *world, k turn.Key) {
			ref := w.checkpoint(k, summary(1, 1, turn.Range{From: 2, To: 2}, "Two."))
			w.open(k, prompt.Epoch{Number: 1, Reason: prompt.ReasonFull, From: 2, Settings: w.put(k, prompt.Settings{}), Checkpoints: []prompt.Ref{ref}})
		},
		"epoch 1: doc.checkpoints: version 1 of checkpoint 1 covers turns 1–1, not 1–2": refer(prompt.Ref{Range: turn.Range{From: 1, To: 2}, Number: 1, Version: 1, SHA256: one}),
	} {
		w := newWorld(t, t.Context())
		k := w.create("odd")
		w.say(k, text(turn.User, "one"), text(turn.Agent, "two"))
		put(w, k)
		err := w.View(w.ctx, func(tx store.Tx) error {
			_, err := replay.Write(w.ctx, tx, k, io.Discard, replay.WriteOptions{})
			return err
		})
		if err == nil || !strings.HasPrefix(err.Error(), "bundle of odd: "+want) {
			t.Errorf("got %.200v, want %s…", err, want)
		}
	}
}

// A parent may add versions that a fork gives numbers, too, at a turn that the fork sees. The fork's own count.
func TestCheckpointsThatAParentKeptTooLateDoNoHarm(t *testing.T) {
	w := newWorld(t, t.Context())
	long := w.long()
	other := w.otherLong(long)
	want := w.plain(other)
	w.locked(long, func(tx store.Tx, info turn.SessionInfo) error {
		late := summary(1, 3, turn.Range{From: 1, To: 4}, "Late.")
		return tx.Compress().InsertCheckpoint(w.ctx, info.Tenant, info.Segment, compress.Row{
			Number: 1, Version: 3, AfterSeq: 8, Doc: string(late.AppendJSON(nil)), At: tx.Now(),
		})
	})
	if got := w.plain(other); !bytes.Equal(records(got), records(want)) {
		t.Errorf("written:\n%s\nbefore:\n%s", got, want)
	}
}

func TestManyCheckpointsAndSnapshotsAreReadInPages(t *testing.T) {
	for _, n := range []int64{128, 129, 300} {
		w := newWorld(t, t.Context())
		k := w.create("many")
		w.say(k, text(turn.User, "one"))
		for i := range n {
			for version := range 1 + i%2 {
				w.checkpoint(k, summary(i+1, version+1, turn.Range{From: 1, To: 1}, fmt.Sprint("number ", i)))
			}
			w.snapshot(k, fmt.Sprint("number ", i), 0)
		}
		file, b := w.bundle(k, replay.WriteOptions{})
		if b.Checkpoints != n+n/2 || b.Snapshots != n {
			t.Errorf("%d: %+v", n, b.Counts)
		}
		here := newWorld(t, t.Context())
		here.imported(file, replay.ImportOptions{})
		if diff := cmp.Diff(rows(w), rows(here)); diff != "" {
			t.Errorf("%d: rows (-original +imported):\n%s", n, diff)
		}
	}
}
