package turnstone_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
)

// readOn reads events behind a cursor until there are no more, a few at a time.
func readOn(t *testing.T, eng *turnstone.Engine, cursor string) (all []event.Event) {
	t.Helper()
	for {
		page, err := eng.Events(t.Context(), "", cursor, 3)
		if err != nil {
			t.Error(err)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		cursor = page[len(page)-1].Cursor()
	}
}

func TestEventsAreReadPageByPage(t *testing.T) {
	onEveryStore(t, func(t *testing.T, st store.Store) {
		eng := open(t, st, turnstone.Config{})
		if last, err := eng.LastEvent(t.Context()); err != nil || last != "" {
			t.Errorf("nothing was announced, and its end is %q, %v", last, err)
		}
		one, two := session(t, eng, "one"), session(t, eng, "two")
		for i := range 4 {
			snap(t, one, fmt.Sprint("one ", i))
			snap(t, two, fmt.Sprint("two ", i))
		}
		middle, err := eng.LastEvent(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again, err := eng.LastEvent(t.Context()); err != nil || again != middle {
			t.Errorf("the end is %q, then %q, %v", middle, again, err)
		}
		snap(t, one, "last")
		all := readOn(t, eng, "")
		if len(all) != 9 || !slices.Equal(all, readOn(t, eng, "")) || !slices.Equal(all[8:], readOn(t, eng, middle)) {
			t.Errorf("got %+v, behind %s %+v", all, middle, readOn(t, eng, middle))
		}
		ours, err := eng.Events(t.Context(), "two", all[2].Cursor(), 9)
		if err != nil || len(ours) != 3 || slices.ContainsFunc(ours, func(e event.Event) bool { return e.Session != "two" }) {
			t.Errorf("of one session: %+v, %v", ours, err)
		}
		_, err = eng.Events(t.Context(), "", "yesterday", 9)
		var field *event.FieldError
		if !errors.As(err, &field) || field.Name != "after" {
			t.Errorf("no cursor: %v", err)
		}
	})
}

func TestEventsOfAnotherTenant(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	other, err := eng.ForTenant("other")
	if err != nil {
		t.Fatal(err)
	}
	snap(t, session(t, eng, "s"), "ours")
	ours := readOn(t, eng, "")
	if theirs := readOn(t, other, ""); len(ours) != 1 || len(theirs) != 0 {
		t.Errorf("ours %v, theirs %v", ours, theirs)
	}
	snap(t, session(t, other, "s"), "theirs")
	// How much others announce is not to be seen in one's own cursors.
	if theirs := readOn(t, other, ""); len(theirs) != 1 || theirs[0].Cursor() != ours[0].Cursor() {
		t.Errorf("ours %v, theirs %v", ours, theirs)
	}
}

// Two engines announce at once, and both read meanwhile.
func TestEventsOfTwoEngines(t *testing.T) {
	engines := twoEngines(t)
	const each = 10
	var announcing, reading sync.WaitGroup
	announced := make(chan struct{})
	for i, eng := range engines {
		s := session(t, eng, fmt.Sprintf("of-%d", i))
		announcing.Go(func() {
			for n := range each {
				if _, err := s.Snapshot(t.Context(), fmt.Sprint(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		announcing.Wait()
		close(announced)
	}()
	read := make([][]event.Event, len(engines))
	for i, eng := range engines {
		reading.Go(func() {
			cursor := ""
			for over := false; ; {
				page := readOn(t, eng, cursor)
				read[i] = append(read[i], page...)
				if len(page) > 0 {
					cursor = page[len(page)-1].Cursor()
				}
				if over {
					return
				}
				select {
				case <-announced:
					over = true
				default:
				}
			}
		})
	}
	reading.Wait()
	if len(read[0]) != 2*each || !slices.Equal(read[0], read[1]) || !slices.Equal(read[0], readOn(t, engines[0], "")) {
		t.Errorf("read %d and %d of %d events", len(read[0]), len(read[1]), 2*each)
	}
}
