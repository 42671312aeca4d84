package prompt_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

// grow appends turns and lets a projection see them all, by compiling for a window that holds everything.
func (w *world) grow(drafts ...turn.Draft) {
	w.Helper()
	request := w.request
	defer func() { w.request = request }()
	w.request.Settings, w.request.Goal = nil, w.epoch().Goal
	// A larger context would bring back what has left; this one has only more room.
	w.request.Window.Usable = budget.MaxContext
	for len(drafts) > 0 {
		n := min(len(drafts), 500)
		w.append(drafts[:n]...)
		drafts = drafts[n:]
		c, err := w.try(w.earlier)
		if err != nil {
			w.Fatal(err)
		}
		if c.Opened != nil {
			w.Fatalf("an epoch was opened: %+v", c.Opened)
		}
		w.earlier = c.Projection
	}
}

// talk are n turns, user and agent in turn.
func talk(n int) []turn.Draft {
	drafts := make([]turn.Draft, n)
	for i := range drafts {
		if drafts[i] = agent(fmt.Sprintf("answer %d", i)); i%2 == 0 {
			drafts[i] = user(fmt.Sprintf("question %d", i))
		}
	}
	return drafts
}

// repeat returns n times what make gives.
func repeat(n int, make func(i int) []turn.Draft) []turn.Draft {
	var drafts []turn.Draft
	for i := range n {
		drafts = append(drafts, make(i)...)
	}
	return drafts
}

// TestAPromptFromFarBehindIsTheSame compares a prompt compiled from the store alone, which reads no more than
// the window can hold and a pass looks through, with one from a projection that has seen every turn; compile does.
func TestAPromptFromFarBehindIsTheSame(t *testing.T) {
	summaries := repeat(1200, func(int) []turn.Draft { return []turn.Draft{summary(1)} })
	for _, tt := range []struct {
		name  string
		turns []turn.Draft
		then  func(*world) // what changes before the prompt is compiled
		most  int          // turns read besides those that leave
	}{
		{"one page", talk(512), nil, 513},
		{"more than a page", talk(514), nil, 515},
		{"many pages", talk(20_000), nil, 3000},
		{"one large message at the end", append(talk(4000), user(words(11_000))), nil, 1100},
		{"summaries before the last message", slices.Concat(talk(600), summaries, []turn.Draft{user(words(11_000))}), nil, 2000},
		{"messages of several parts", repeat(1600, func(i int) []turn.Draft {
			return []turn.Draft{part(fmt.Sprint("m", i/20), words(4))}
		}), nil, 1601},
		{"tools", repeat(6000, func(int) []turn.Draft {
			return []turn.Draft{call("a"), result("a", words(30))}
		}), nil, 1600},
		{"parallel tools", repeat(1500, func(int) []turn.Draft {
			return []turn.Draft{call("a", "b", "c"), user("hm"), result("c", words(10)), result("a", "x"), result("b", "y")}
		}), nil, 3000},
		{"a tool that ran long", slices.Concat(talk(10), []turn.Draft{call("slow")}, talk(4000), []turn.Draft{result("slow", "at last")}), nil, 3000},
		{"other settings", talk(4000), func(w *world) { w.begin(prompt.Settings{System: "Be brief."}) }, 3000},
		{"settings that leave less room", talk(1100), func(w *world) { w.begin(prompt.Settings{System: words(9000)}) }, 2000},
		{"a goal", talk(4000), func(w *world) { w.request.Goal = fullGoal() }, 3000},
		{"a pin far back", talk(4000), func(w *world) { w.pin(7) }, 3000},
		{"a pin near", talk(4000), func(w *world) { w.pin(3990) }, 3000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 16_384)
			w.begin(prompt.Settings{System: words(500)})
			w.append(user("begin"))
			w.compile()
			w.last = nil
			w.grow(tt.turns...)
			if tt.then != nil {
				tt.then(w)
			}
			w.faults.read = 0
			if _, err := w.try(nil); err != nil {
				t.Fatal(err)
			}
			if w.faults.read > tt.most+min(len(tt.turns)+1, prompt.MaxPass) {
				t.Errorf("%d turns were read of %d", w.faults.read, len(tt.turns))
			}
			p := w.compile()
			t.Logf("opened %q, %d shown, %d tokens, %d turns read", p.Opened, p.Shown, p.Count.Tokens, w.faults.read)
		})
	}
}

// TestWhatIsNotFullIsNotTakenForFull reads turns that look like more than there is room for: there was less
// room when they were written, or they are not shown yet.
func TestWhatIsNotFullIsNotTakenForFull(t *testing.T) {
	open := call("slow")
	open.Content = turn.Text{Text: words(20_000), ToolCalls: open.Content.(turn.Text).ToolCalls}
	for _, tt := range []struct {
		name string
		then func(*world)
	}{
		{"other settings", func(w *world) { w.begin(prompt.Settings{}) }},
		{"a tool that still runs", func(w *world) {
			w.begin(prompt.Settings{})
			w.grow(open)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 32_768)
			w.begin(prompt.Settings{System: words(19_000)})
			w.append(user("begin"))
			w.compile()
			w.last = nil
			w.grow(repeat(1100, func(int) []turn.Draft { return []turn.Draft{agent("x")} })...)
			tt.then(w)
			if p := w.compile(); p.Shown != 1101 || p.Opened != prompt.ReasonSettings {
				t.Errorf("%d turns are shown, opened %q", p.Shown, p.Opened)
			}
		})
	}
}

// TestWhatWasSaidLongAgoIsNotTheLastFromFarBehind has a large message of the user before the epoch, and a small
// one in it that is not read.
func TestWhatWasSaidLongAgoIsNotTheLastFromFarBehind(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(agent("hi"), user(words(1200)), user("go"))
	w.compile()
	w.moveOn()
	if e := w.epoch(); e.From <= 3 || !slices.Equal(e.Kept, kept(prompt.Said, 3)) || len(e.Paged) != 1 || e.Paged[0].From != 2 {
		t.Fatalf("%+v", e)
	}
	w.last = nil
	w.grow(user("and on"))
	w.grow(repeat(2500, func(int) []turn.Draft { return []turn.Draft{agent("x")} })...)
	w.begin(prompt.Settings{System: "Otherwise."})
	p := w.compile()
	if slices.Contains(shown(p), 2) || p.Opened != prompt.ReasonSettings {
		t.Errorf("opened %q, it shows %v", p.Opened, shown(p)[:3])
	}
}

func TestAnEmptyLogIsNotReadForEver(t *testing.T) {
	w := newWorld(t, 2048)
	w.compile()
	w.append(talk(1100)...)
	w.faults.gone = func(seq int64) bool { return seq < 1000 }
	if c, err := w.try(nil); err != nil || shown(c.Prompt)[0] < 1000 || c.Prompt.End != 1100 {
		t.Error(err)
	}
}

// TestAMessageOfMorePartsThanAPage is larger than its window, whether all of it was read or not.
func TestAMessageOfMorePartsThanAPage(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("begin"))
	w.compile()
	w.grow(repeat(1200, func(int) []turn.Draft { return []turn.Draft{part("m", words(3))} })...)
	for _, earlier := range []*prompt.Projection{nil, w.earlier} {
		if _, err := w.try(earlier); !errors.Is(err, budget.ErrOverBudget) {
			t.Error(err)
		}
	}
	w.earlier, w.last = nil, nil
	w.append(user("go on"))
	wantShown(t, w.compile(), 1, 1202)
}

// TestAUnitIsReadWhereItsForkWroteIt has calls in several segments answered one by one, over epochs.
func TestAUnitIsReadWhereItsForkWroteIt(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), call("a"), result("a", "alpha"))
	w.compile()
	w.fork("fork", 3)
	w.append(call("b", "c", "d"))
	w.moveOn()
	w.pin(2)
	w.append(result("c", "gamma"))
	w.compile()
	w.append(agent("hm"), result("b", "beta"))
	w.compile()
	last := w.append(result("d", "delta"))
	lines := said(w.compile())
	wantLines(t, lines[len(lines)-4:], "assistant: →call_4_1 →call_4_2 →call_4_3", "tool: beta ←call_4_1", "tool: gamma ←call_4_2", "tool: delta ←call_4_3")
	w.pin(4)
	w.moveOn()
	w.moveOn()
	want := []prompt.Kept{
		{Range: turn.Range{From: 1, To: 1}, Why: prompt.Said}, {Range: turn.Range{From: 2, To: 3}, Why: prompt.Pinned}, {Range: turn.Range{From: 4, To: last}, Why: prompt.Pinned},
	}
	if diff := cmp.Diff(want, w.epoch().Kept); diff != "" {
		t.Error(diff)
	}
}
