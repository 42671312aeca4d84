package turnstone_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestTwoWindowsOnOneSession has two callers with windows of different sizes take turns: turns that came back for the
// larger one once do not come back each time, only to leave again for the smaller.
func TestTwoWindowsOnOneSession(t *testing.T) {
	large := turnstone.PromptOptions{Model: "gpt-4o", Context: 128_000}
	held := func(options ...turnstone.PromptOptions) (*turnstone.Session, int64) {
		s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
		passes := int64(0)
		for n := range 50 {
			converse(t, s, n)
			for _, o := range options {
				p := compiled(t, s, o)
				legal(t, p, n+1)
				passes = p.Passes
			}
		}
		return s, passes
	}
	_, alone := held(small)
	if alone < 3 {
		t.Fatalf("%d passes", alone)
	}
	for name, options := range map[string][]turnstone.PromptOptions{"smaller first": {small, large}, "larger first": {large, small}} {
		s, both := held(options...)
		if both > alone+1 {
			t.Errorf("%s: %d passes, %d in the smaller window alone", name, both, alone)
		}
		// When nobody comes for the smaller one any more, the turns do come back.
		before := compiled(t, s, large).Shown
		for n := 50; n < 85; n++ {
			say(t, s, turn.User, "Go on.")
			compiled(t, s, large)
		}
		if after := compiled(t, s, large).Shown; after < before+50 {
			t.Errorf("%s: %d turns are shown after %d", name, after, before)
		}
	}
}

// TestAPassOfNoUseIsNotTriedWithEveryTurn: what a pass would do is known until there is more for it to take away, also
// after a restart, and said once.
func TestAPassOfNoUseIsNotTriedWithEveryTurn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	var eng *turnstone.Engine
	var s *turnstone.Session
	reopen := func() {
		t.Helper()
		st, err := sqlite.Open(t.Context(), path, sqlite.Config{})
		if err != nil {
			t.Fatal(err)
		}
		eng = open(t, st, turnstone.Config{})
		s = session(t, eng, "s")
	}
	reopen()
	o := turnstone.PromptOptions{Model: "gpt-4o", Context: 4096}
	// What the user said last stays whatever it takes, and there is nothing else to take away.
	say(t, s, turn.User, "Read this: "+strings.Repeat("one two three four five six seven eight nine ten ", 218))
	skipped := func() []event.Event { return eventsOf(t, eng, s, event.CompressionSkipped) }
	for i := 0; len(skipped()) == 0; i++ {
		if i == 50 {
			t.Fatal("the conversation is never full")
		}
		say(t, s, turn.Agent, "I do.")
		compiled(t, s, o)
	}
	if told := skipped()[0]; !strings.HasPrefix(told.Data, `{"from":1,"to":`) || !strings.Contains(told.Data, "would not make the prompt smaller") {
		t.Errorf("%+v", told)
	}
	for range 3 {
		say(t, s, turn.Agent, "Yes.")
		if p := compiled(t, s, o); p.Passes != 0 {
			t.Fatalf("%d passes", p.Passes)
		}
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
	reopen()
	for range 3 {
		say(t, s, turn.Agent, "Yes.")
		compiled(t, s, o)
	}
	if told := skipped(); len(told) != 1 {
		t.Errorf("told %d times: %+v", len(told), told)
	}
	// A fiftieth of the window later it is worth another try.
	say(t, s, turn.Agent, fmt.Sprint("It says: ", strings.Repeat("so and so, ", 24)))
	compiled(t, s, o)
	if told, stands := skipped(), compiled(t, s, o).Passes; len(told) != 2 && stands == 0 {
		t.Errorf("told %d times, %d passes", len(told), stands)
	}
}
