package replay_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestAnImportedTalkGoesOn(t *testing.T) {
	w := newWorld(t, t.Context())
	original := w.otherTalk(w.talk())
	want := w.remade(original)
	here := newWorld(t, t.Context())
	here.ids = 1000
	for _, o := range []replay.ImportOptions{{}, {As: "copy"}, {Tenant: "elsewhere"}} {
		k := here.imported(w.plain(original), o).Key
		if diff := cmp.Diff(want, here.remade(k)); diff != "" || len(want) != 5 {
			t.Errorf("%+v: %d prompts made again (-there +here):\n%s", o, len(want), diff)
		}
		here.say(k, text(turn.Agent, "On we go."))
		// The third epoch goes on, and the settings that were imported with it.
		if p := here.compile(k, 8192, nil); p.Epoch != 3 || p.Opened != "" || !strings.Contains(p.Messages[0].Parts[0].Text, "Be somebody else.") {
			t.Errorf("%+v: epoch %d, opened for %q, %+v", o, p.Epoch, p.Opened, p.Messages[0])
		}
		if p := here.compile(k, 8192, &firstSettings); p.Epoch != 4 || p.Opened != prompt.ReasonSettings {
			t.Errorf("%+v: epoch %d, opened for %q", o, p.Epoch, p.Opened)
		}
		here.pin(k, 1, true)
		if p := here.compile(k, 8192, nil); p.Epoch != 5 || p.Opened != prompt.ReasonPin {
			t.Errorf("%+v: epoch %d, opened for %q", o, p.Epoch, p.Opened)
		}
		if got := here.remade(k); len(got) != 8 {
			t.Errorf("%+v: %d prompts made again", o, len(got))
		}
	}
	fork := here.fork(original, 8, "fork")
	if _, err := verify(here.plain(fork)); err != nil {
		t.Error(err)
	}
	here.healthy()
}

func TestATenantKeepsAMaterialOnce(t *testing.T) {
	w := newWorld(t, t.Context())
	materials := func() (rows []string) {
		for _, r := range w.dump() {
			if strings.HasPrefix(r, "materials ") {
				rows = append(rows, r)
			}
		}
		return rows
	}
	k := w.talk()
	before := materials()
	w.imported(w.plain(k), replay.ImportOptions{As: "copy"})
	if diff := cmp.Diff(before, materials()); diff != "" || len(before) != 7 {
		t.Errorf("%d materials (-before +after):\n%s", len(before), diff)
	}
	w.imported(w.plain(k), replay.ImportOptions{Tenant: "elsewhere"})
	if got := materials(); len(got) != 14 {
		t.Errorf("%d materials of two tenants", len(got))
	}
}

func TestAFailedImportOfATalkLeavesNothingBehind(t *testing.T) {
	file := golden(t, "v3-talk.bundle")
	w := newWorld(t, t.Context())
	writes := w.importedAtLast(&faulty{Store: w.Store}, file)
	// One session, 8 turns, a revision, a goal, 5 materials, 2 settings, 2 epochs, 2 pins and 5 prompts.
	if writes != 1+8+1+1+5+2+2+2+5 {
		t.Errorf("%d writes", writes)
	}
}

// What the parent had at the fork point when it was forked is the fork's; what it did afterwards is not.
func TestAForksBundleHoldsWhatItsPromptsAreMadeFrom(t *testing.T) {
	w := newWorld(t, t.Context())
	parent := w.create("parent")
	say := func(k turn.Key, s string) { w.say(k, text(turn.User, s)) }
	system := func(s string) *prompt.Settings { return &prompt.Settings{System: s} }
	say(parent, "one")
	w.compile(parent, 8192, system("before"))
	w.pin(parent, 1, true)
	say(parent, "two")
	w.compile(parent, 8192, system("at the fork point"), "and once more")
	w.compile(parent, 8192, nil)
	w.compile(parent, 8192, system("at the fork point, too"))
	w.pin(parent, 2, true)
	child := w.fork(parent, 2, "child")
	w.compile(parent, 8192, system("the parent's later"))
	w.pin(parent, 2, false)
	say(parent, "three of the parent")
	w.compile(parent, 8192, nil)
	w.compile(child, 8192, system("the child's own"))
	say(child, "three of the child")
	w.compile(child, 8192, nil)
	grandchild := w.fork(child, 1, "grandchild")
	w.compile(grandchild, 8192, nil)
	for _, tt := range []struct {
		of      turn.Key
		settled []string
		epochs  []int64 // of the prompts
		counts  replay.Counts
	}{
		{parent, []string{"at the fork point", "at the fork point, too", "before", "the parent's later"}, []int64{1, 2, 2, 3, 4, 4},
			replay.Counts{Turns: 3, Revisions: 1, Materials: 4, Settings: 4, Epochs: 4, Pins: 3, Prompts: 6}},
		{child, []string{"at the fork point", "at the fork point, too", "before", "the child's own"}, []int64{1, 2, 2, 3, 4, 4},
			replay.Counts{Turns: 3, Revisions: 2, Materials: 4, Settings: 4, Epochs: 4, Pins: 2, Prompts: 6}},
		{grandchild, []string{"before"}, []int64{1, 1},
			replay.Counts{Turns: 1, Revisions: 2, Materials: 1, Settings: 1, Epochs: 1, Pins: 1, Prompts: 2}},
	} {
		file, b := w.bundle(tt.of, replay.WriteOptions{})
		var settled []string
		var epochs []int64
		for r := range decoded(t, file) {
			switch {
			case r.Material != nil:
				settled = append(settled, r.Material.Text)
			case r.Prompt != nil:
				epochs = append(epochs, r.Prompt.Epoch)
			}
		}
		slices.Sort(settled)
		if diff := cmp.Diff(tt.settled, settled); diff != "" {
			t.Errorf("%s: materials (-want +got):\n%s", tt.of.Session, diff)
		}
		if !slices.Equal(epochs, tt.epochs) {
			t.Errorf("%s: prompts of epochs %v, want %v", tt.of.Session, epochs, tt.epochs)
		}
		if diff := cmp.Diff(tt.counts, b.Counts); diff != "" {
			t.Errorf("%s: counts (-want +got):\n%s", tt.of.Session, diff)
		}
		here := newWorld(t, t.Context())
		k := here.imported(file, replay.ImportOptions{As: "alone"}).Key
		if diff := cmp.Diff(w.remade(tt.of), here.remade(k)); diff != "" {
			t.Errorf("%s: prompts (-there +here):\n%s", tt.of.Session, diff)
		}
		here.healthy()
	}
}

// A prompt that was begun before its session was forked may be kept afterwards, at a turn that the fork sees
// and under numbers that the fork gives, too.
func TestWhatAParentKeptTooLateDoesNoHarm(t *testing.T) {
	for _, before := range []int{2, 126, 127, 128, 129} {
		w := newWorld(t, t.Context())
		parent := w.create("parent")
		w.say(parent, text(turn.User, "one"), text(turn.Agent, "two"))
		w.compile(parent, 8192, &firstSettings)
		for i := range before - 1 {
			w.compile(parent, 8192, &prompt.Settings{System: fmt.Sprint("number ", i)})
		}
		w.say(parent, text(turn.User, "three"))
		fork := w.fork(parent, 3, "fork")
		w.compile(fork, 8192, &secondSettings)
		w.compile(fork, 8192, &thirdSettings)
		want := w.remade(fork)

		next := int64(before + 1)
		late := prompt.Epoch{Number: next, AfterSeq: 2, Renderer: 1, Path: []turn.Range{{From: 1}}, From: 1, Settings: w.put(parent, prompt.Settings{System: "late"})}
		own := prompt.Call{Number: next, End: 2, Epoch: next, SHA256: secondPrompt, Context: 8192, Settings: late.Settings}
		w.locked(parent, func(tx store.Tx, info turn.SessionInfo) error {
			calls, err := tx.Prompt().Calls(w.ctx, info.Tenant, info.Lineage(info.Head), 0, 1)
			if err != nil {
				return err
			}
			shared, epoch, call := calls[0], late.Row(), own.Row()
			shared.Number, epoch.At, call.At = next+1, tx.Now(), tx.Now()
			return errors.Join(tx.Prompt().InsertEpoch(w.ctx, info.Tenant, info.Segment, epoch),
				tx.Prompt().InsertCall(w.ctx, info.Tenant, info.Segment, call), tx.Prompt().InsertCall(w.ctx, info.Tenant, info.Segment, shared))
		})
		file, b := w.bundle(fork, replay.WriteOptions{})
		if b.Epochs != next+1 || bytes.Contains(file, []byte(`"text":"late"`)) {
			t.Errorf("%d epochs: %+v", before, b.Counts)
		}
		// Of the two late prompts the one of an epoch that the fork has, too, is in it.
		want = slices.Insert(want, before+1, want[0])
		here := newWorld(t, t.Context())
		if diff := cmp.Diff(want, here.remade(here.imported(file, replay.ImportOptions{}).Key)); diff != "" {
			t.Errorf("%d epochs: prompts (-there +here):\n%s", before, diff)
		}
		here.healthy()
	}
}

// decoded yields the records of a good bundle.
func decoded(t *testing.T, file []byte) func(func(replay.Record) bool) {
	t.Helper()
	return func(yield func(replay.Record) bool) {
		d, err := replay.NewDecoder(bytes.NewReader(file), turn.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for r, err := range d.Records() {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(r) {
				return
			}
		}
	}
}

func TestManyEpochsAndPromptsAreReadInPages(t *testing.T) {
	for _, n := range []int{128, 129, 260} {
		w := newWorld(t, t.Context())
		k := w.create("many")
		w.say(k, text(turn.User, "one"))
		settings := []string{w.put(k, prompt.Settings{System: "odd"}), w.put(k, prompt.Settings{System: "even"})}
		for i := range n {
			of := settings[i%2]
			w.open(k, prompt.Epoch{Number: int64(i + 1), Reason: prompt.ReasonSettings, From: 1, Settings: of})
			w.call(k, prompt.Call{Epoch: int64(i + 1), SHA256: firstPrompt, Renderer: 1, Settings: of, Context: 8192})
		}
		file, b := w.bundle(k, replay.WriteOptions{})
		if b.Epochs != int64(n) || b.Prompts != int64(n) || b.Materials != 2 || b.Settings != 2 {
			t.Errorf("%d: %+v", n, b.Counts)
		}
		here := newWorld(t, t.Context())
		here.imported(file, replay.ImportOptions{})
		if diff := cmp.Diff(rows(w), rows(here)); diff != "" {
			t.Errorf("%d: rows (-original +imported):\n%s", n, diff)
		}
	}
}

// A store that broke its rules makes no bundle that nobody could read.
func TestOddRowsOfPromptsMakeNoBundle(t *testing.T) {
	none, err := prompt.Settings{}.Seal()
	if err != nil {
		t.Fatal(err)
	}
	opened := prompt.Epoch{Number: 1, AfterSeq: 1, Renderer: 1, From: 1, Settings: none.SHA256}
	unknown := opened
	unknown.Settings = firstPrompt
	odd := opened
	odd.Settings = fmt.Sprintf("%x", sha256.Sum256([]byte("odd")))
	long := strings.Repeat("x", 8<<20+1)
	huge := opened
	doc := fmt.Sprintf(`{"system":"%x"}`, sha256.Sum256([]byte(long)))
	huge.Settings = fmt.Sprintf("%x", sha256.Sum256([]byte(doc)))
	insert := func(w *world, tx store.Tx, segment int64, e prompt.Epoch) error {
		row := e.Row()
		row.At = tx.Now()
		return errors.Join(none.Put(w.ctx, tx.Prompt(), "acme", tx.Now()), tx.Prompt().InsertEpoch(w.ctx, "acme", segment, row))
	}
	for want, put := range map[string]func(w *world, tx store.Tx, segment int64) error{
		"epoch 1: offset 0": func(w *world, tx store.Tx, segment int64) error {
			return tx.Prompt().InsertEpoch(w.ctx, "acme", segment, prompt.EpochRow{Number: 1, Doc: "x", At: tx.Now()})
		},
		"epoch 2: number: stands where epoch 1 must": func(w *world, tx store.Tx, segment int64) error {
			second := opened
			second.Number = 2
			return insert(w, tx, segment, second)
		},
		"material " + firstPrompt + ": not found": func(w *world, tx store.Tx, segment int64) error { return insert(w, tx, segment, unknown) },
		"material " + fmt.Sprintf("%x", sha256.Sum256([]byte(long))) + ": not found": func(w *world, tx store.Tx, segment int64) error {
			return errors.Join(insert(w, tx, segment, huge), tx.Prompt().PutMaterial(w.ctx, "acme", huge.Settings, doc, tx.Now()))
		},
		"settings " + odd.Settings + ": doc: offset 0": func(w *world, tx store.Tx, segment int64) error {
			return errors.Join(insert(w, tx, segment, odd), tx.Prompt().PutMaterial(w.ctx, "acme", odd.Settings, "odd", tx.Now()))
		},
		"material " + fmt.Sprintf("%x", sha256.Sum256([]byte(long))) + ": text: is 8388609 bytes long, at most 8388608": func(w *world, tx store.Tx, segment int64) error {
			return errors.Join(insert(w, tx, segment, huge), tx.Prompt().PutMaterial(w.ctx, "acme", huge.Settings, doc, tx.Now()),
				tx.Prompt().PutMaterial(w.ctx, "acme", fmt.Sprintf("%x", sha256.Sum256([]byte(long))), long, tx.Now()))
		},
		"pin 2: number: stands where pin 1 must": func(w *world, tx store.Tx, segment int64) error {
			return tx.Prompt().InsertPin(w.ctx, "acme", segment, prompt.PinRow{Number: 2, AfterSeq: 1, Seq: 1, At: tx.Now()})
		},
		"prompt 1: epoch: 7 is none of 0": func(w *world, tx store.Tx, segment int64) error {
			return tx.Prompt().InsertCall(w.ctx, "acme", segment, prompt.CallRow{Number: 1, End: 1, Epoch: 7, SHA256: firstPrompt, Doc: "{}", At: tx.Now()})
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
			t.Errorf("got %.200v, want %s…", err, want)
		}
	}
}
