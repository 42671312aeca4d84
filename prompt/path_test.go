package prompt_test

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// alongPath gives the session a path with a hole from turn 4 to turn 8, which holds a call that ends after it.
func alongPath(t *testing.T, context int) *world {
	w := newWorld(t, context)
	w.append(user("one"), call("a"), result("a", "alpha")) // 1–3
	w.compile()
	w.append(agent("gone"), call("b", "c"), user("gone"), result("c", "gone"), agent("gone")) // 4–8
	w.reopen(func(e *prompt.Epoch) { e.Path = []turn.Range{{From: 1, To: 3}, {From: 9}} })
	w.append(user("two"), result("b", "gone"), agent("three")) // 9–11
	return w
}

func TestAPromptFollowsItsPath(t *testing.T) {
	w := alongPath(t, 2048)
	p := w.compile()
	wantShown(t, p, 1, 2, 3, 9, 11)
	if p.Opened != "" || p.End != 11 {
		t.Errorf("opened %q, it ends at %d", p.Opened, p.End)
	}
	// A pin off the path shows nothing.
	w.pin(4)
	w.pin(7)
	w.pin(10)
	if p := w.compile(); p.Opened != "" || len(shown(p)) != 5 {
		t.Errorf("opened %q: %v", p.Opened, shown(p))
	}
	for i := range 3 {
		p = w.moveOn()
		if i == 1 { // the turns after the hole are hidden by now
			w.pin(-10)
			w.pin(10)
			if p := w.compile(); p.Opened != "" {
				t.Errorf("a pin off the path opened %q", p.Opened)
			}
		}
		if seqs := shown(p); slices.ContainsFunc(seqs, func(seq int64) bool { return seq > 3 && seq < 9 || seq == 10 }) {
			t.Errorf("it shows %v", seqs)
		}
	}
	if e := w.epoch(); len(e.Path) != 2 || e.Path[1] != (turn.Range{From: 9}) {
		t.Errorf("%+v", e)
	}
}

func TestTheLastWordsOnThePathStay(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("the task"))
	w.compile()
	w.append(user("gone"), user("gone too"))
	w.reopen(func(e *prompt.Epoch) { e.Path = []turn.Range{{From: 1, To: 1}, {From: 4}} })
	w.compile()
	w.moveOn()
	if got := shown(w.last)[0]; got != 1 {
		t.Errorf("it begins with turn %d", got)
	}
	w.moveOn()
	if e := w.epoch(); len(e.Kept) != 1 || e.Kept[0].From != 1 {
		t.Errorf("%+v", e)
	}
}

func TestAPathThatEndsShowsNothingNew(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), agent("two"))
	w.compile()
	w.reopen(func(e *prompt.Epoch) { e.Path = []turn.Range{{From: 2, To: 2}} })
	w.append(user("three"))
	p := w.compile()
	wantShown(t, p, 2)
	if len(p.Messages) != 1 {
		t.Errorf("%v", said(p))
	}
}

func TestAPathThatBeginsLaterSaysSo(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), agent("two"), user("three"), agent("four"))
	w.compile()
	w.reopen(func(e *prompt.Epoch) { e.Path, e.From = []turn.Range{{From: 2}}, 4 })
	wantLines(t, said(w.compile()), "note: "+note+"Turns 2 to 3 of this conversation are not shown.", "assistant: four")
	// What is off the path is not even named.
	w.reopen(func(e *prompt.Epoch) { e.Path, e.From = nil, 3 })
	wantLines(t, said(w.compile()))
}

// TestAHoleIsNoRoomThatIsTaken has more in the hole than the window holds.
func TestAHoleIsNoRoomThatIsTaken(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), agent("two"))
	w.compile()
	last := w.append(repeat(1500, func(int) []turn.Draft { return []turn.Draft{user(words(20))} })...)
	w.reopen(func(e *prompt.Epoch) { e.Path = []turn.Range{{From: 1, To: 2}, {From: last + 1}} })
	w.append(user("three"))
	p := w.compile()
	wantShown(t, p, 1, 2, last+1)
	if p.Opened != "" {
		t.Errorf("opened %q", p.Opened)
	}
	w.pin(7)
	w.moveOn()
	w.moveOn()
	if e := w.epoch(); len(e.Kept) != 2 || e.Kept[0].From != 1 || e.Kept[1].From != last+1 {
		t.Errorf("%+v", e.Kept)
	}
}
