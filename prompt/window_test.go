package prompt_test

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// resize makes the model's context another one.
func (w *world) resize(context int) {
	w.Helper()
	var err error
	if w.request.Window, err = budget.WindowOf(context); err != nil {
		w.Fatal(err)
	}
}

func TestALargerWindowBringsTurnsBack(t *testing.T) {
	for name, n := range map[string]int{"all": 400, "as many as it holds": 8_000} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, 2048)
			w.append(talk(n)...)
			if small := w.compile(); small.Opened != prompt.ReasonStart || small.Shown >= 400 {
				t.Fatalf("%q shows %d turns", small.Opened, small.Shown)
			}
			few := w.last.Shown
			w.resize(16_384)
			large := w.compile()
			if large.Opened != prompt.ReasonWindow || large.Shown < 4*few || large.Account.Free() < 0 {
				t.Fatalf("%q shows %d turns, before %d", large.Opened, large.Shown, few)
			}
			if n == 400 && large.Shown != 400 {
				t.Errorf("%d of 400 turns are back", large.Shown)
			}
			if again := w.compile(); again.Opened != "" {
				t.Errorf("the same window once more opened an epoch: %q", again.Opened)
			}
			w.resize(2048)
			if small := w.compile(); small.Opened != prompt.ReasonFull || small.Shown > 2*few {
				t.Errorf("%q shows %d turns in the small window", small.Opened, small.Shown)
			}
		})
	}
}

func TestALargerWindowChangesNothingWhereEverythingIsShown(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(talk(4)...)
	w.compile()
	w.resize(16_384)
	if p := w.compile(); p.Opened != "" {
		t.Errorf("opened an epoch: %q", p.Opened)
	}
}

func TestAModelWithoutVisionIsChargedForTheDescription(t *testing.T) {
	blind := exact
	blind.Vision = false
	picture := turn.Draft{Role: turn.User, Content: turn.Image{MediaType: "image/png", Alt: "a cat on a mat", Blob: turn.Blob{Data: []byte("png")}}}
	w := newWorld(t, 4096)
	w.append(picture)
	if p := w.compile(); p.Tally.Images != 1 {
		t.Errorf("tally %+v", p.Tally)
	}
	other := newWorld(t, 4096)
	other.request.Counter = budget.NewCounter(blind, nil, false, budget.Calibration{})
	other.append(picture)
	if p := other.compile(); p.Tally.Images != 0 || p.Tally.Exact < 5 || p.Tally.Exact > 40 {
		t.Errorf("tally %+v", p.Tally)
	}
}

func TestALongPasteDoesNotPushOutWhatWasRequired(t *testing.T) {
	w := newWorld(t, 8192)
	for range 5 {
		w.append(user("It must run offline."), agent("Noted."))
	}
	w.append(user("Look at this: "+words(1200)), agent("I see."))
	for range 60 {
		w.append(agent(words(60)), user("and then?"))
		w.compile()
	}
	shown := shown(w.last)
	for _, seq := range []int64{1, 3, 5, 7, 9} {
		if !slices.Contains(shown, seq) {
			t.Errorf("turn %d is not in %v", seq, shown)
		}
	}
	if w.last.Passes == 0 {
		t.Error("nothing ever left")
	}
}

func TestAnUnpinnedMessageOfTheUserStaysWithTheOthers(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), user("two"), user("three"))
	w.pin(2)
	work := func() {
		for range 60 {
			w.append(agent(words(60)))
			w.compile()
		}
	}
	work()
	w.pin(-2)
	work()
	if got := shown(w.last); w.last.Passes < 2 || !slices.Contains(got, 1) || !slices.Contains(got, 2) || !slices.Contains(got, 3) {
		t.Errorf("after %d passes it shows %v", w.last.Passes, got)
	}
}
