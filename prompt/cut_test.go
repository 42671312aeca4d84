package prompt_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// upper is what n messages of so many words take at most.
func (w *world) upper(n, words int) int {
	return w.request.Counter.Tokens(budget.Tally{Exact: n * words, Messages: n}).Upper()
}

// most is how many messages of so many words take at most so many tokens.
func (w *world) most(tokens, words int) int {
	n := 0
	for w.upper(n+1, words) <= tokens {
		n++
	}
	return n
}

func kept(why prompt.Why, seqs ...int64) []prompt.Kept {
	var list []prompt.Kept
	for _, seq := range seqs {
		list = append(list, prompt.Kept{Range: turn.Range{From: seq, To: seq}, Why: why})
	}
	return list
}

func TestAnEpochIsOverAtItsThreshold(t *testing.T) {
	const size = 50
	w := newWorld(t, 4096)
	usable := w.request.Window.Usable
	room := usable - w.request.Window.Reserve
	full := w.most(int(0.80*float64(room)), size) + 1
	for i := range full - 1 {
		if w.append([]turn.Draft{user(words(size)), agent(words(size))}[i%2]); w.compile().Opened == prompt.ReasonFull {
			t.Fatalf("full after %d turns, want %d", i+1, full)
		}
	}
	w.append([]turn.Draft{user(words(size)), agent(words(size))}[(full-1)%2])
	p := w.compile()
	if p.Opened != prompt.ReasonFull || p.Epoch != 2 || p.Passes != 1 {
		t.Fatalf("%d turns take %d of %d tokens and opened %q", full, w.upper(full, size), room, p.Opened)
	}
	// Two fifths of what the threshold leaves are kept, from the next message of the user on: the user's words,
	// which stay, take their share of the room.
	share := int(0.20 * float64(usable))
	from := int64(full - w.most(int(prompt.MostShare*0.80*float64(room-share)), size) + 1)
	from += 1 - from%2
	// Of those before, the newest stay and the others are named.
	named := w.accounted(p)
	var before []int64
	for seq := int64(2*named + 1); seq < from; seq += 2 {
		before = append(before, seq)
	}
	want := prompt.Epoch{
		Number: 2, AfterSeq: int64(full), Renderer: prompt.Renderer, Reason: prompt.ReasonFull, Path: []turn.Range{{From: 1}}, From: from,
		Kept: kept(prompt.Said, before...), Model: w.request.Model, Context: int64(w.request.Window.Context), Passes: 1, Settings: w.request.Default.SHA256,
		Before: 1, Began: 1, Paged: p.Paged,
	}
	if named == 0 {
		t.Error("all of the user's words fit")
	}
	if diff := cmp.Diff(want, w.epoch()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	for seq := from; seq <= int64(full); seq++ {
		before = append(before, seq)
	}
	wantShown(t, p, before...)
	gap := note + fmt.Sprintf("Turns 1 to %d of this conversation are not shown. Some of them follow word for word, then the conversation goes on.", from-1)
	if m := p.Messages[0]; m.Role != prompt.Note || m.Parts[0].Text != gap {
		t.Errorf("it begins with %+v", m)
	}
	if said := lineOf(p, budget.Said); said < share/2 || said > share || lineOf(p, budget.Checkpoints) == 0 || lineOf(p, budget.Pins) != 0 {
		t.Errorf("%+v", p.Account.Lines)
	}
	w.append(user("on"))
	if p := w.compile(); p.Opened != "" || p.Passes != 1 {
		t.Errorf("opened %q again", p.Opened)
	}
}

func TestEveryEpochStartsLater(t *testing.T) {
	w := newWorld(t, 2048)
	from, epochs := int64(1), int64(0)
	for i := range 300 {
		switch i % 7 {
		case 0:
			w.append(user(words(10 + i%50)))
		case 3:
			w.append(call("a", "b"), result("b", words(20)), user("hm"), result("a", words(i%90)))
		default:
			w.append(agent(words(10 + i%120)))
		}
		p := w.compile()
		if p.Opened == "" {
			continue
		}
		epochs++
		e := w.epoch()
		if e.Number != epochs || e.AfterSeq != p.End || e.Passes != epochs-1 || (epochs > 1) != (e.From > from) {
			t.Fatalf("epoch %d after %d: %+v", epochs, from, e)
		}
		from = e.From
	}
	if epochs < 10 {
		t.Errorf("only %d epochs", epochs)
	}
}

func TestTheFirstPromptOfALongSession(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(talk(900)...)
	p := w.compile()
	e := w.epoch()
	if p.Opened != prompt.ReasonStart || p.Epoch != 1 || e.From < 700 || e.Passes != 1 || e.Reason != prompt.ReasonStart {
		t.Errorf("opened %q: %+v", p.Opened, e)
	}
}

func TestWhatTheUserSaidLastStays(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("a question before"), user("Task: "+words(500)))
	opened := 0
	for range 60 {
		w.append(call("a"), result("a", words(40)))
		if p := w.compile(); p.Opened == prompt.ReasonFull {
			opened++
			// What was said before is short, and a long last word does not keep it out.
			if diff := cmp.Diff(kept(prompt.Said, 1, 2), w.epoch().Kept); diff != "" {
				t.Fatal(diff)
			}
		}
	}
	if opened < 3 {
		t.Fatalf("%d epochs were opened", opened)
	}
	// Once the user says something else, it is too large to be kept.
	w.append(user("enough"))
	for range 20 {
		w.append(call("a"), result("a", words(40)))
		w.compile()
	}
	if diff := cmp.Diff(kept(prompt.Said, 1, 123), w.epoch().Kept); diff != "" {
		t.Error(diff)
	}
}

func TestNobodySaidAnything(t *testing.T) {
	w := newWorld(t, 2048)
	for range 40 {
		w.append(agent(words(50)))
		w.compile()
	}
	e := w.epoch()
	if e.Reason != prompt.ReasonFull || e.Kept != nil {
		t.Errorf("%+v", e)
	}
	if text := w.last.Messages[0].Parts[0].Text; !strings.HasSuffix(text, fmt.Sprintf("Turns 1 to %d of this conversation are not shown.", e.From-1)) {
		t.Errorf("%q", text)
	}
}

func TestNoEpochIsOpenedWhenNothingCanGo(t *testing.T) {
	w := newWorld(t, 2048)
	w.compile()
	w.append(user(words(1150)))
	for range 2 {
		if p := w.compile(); p.Opened != "" || p.Epoch != 1 {
			t.Errorf("opened %q", p.Opened)
		}
	}
	// What the user said last stays: a pass would leave the prompt as large as it is.
	w.append(agent(words(100)))
	c, err := w.try(nil)
	if err != nil || c.Opened != nil || c.Stuck == nil || c.Stuck.Range != (turn.Range{From: 1, To: 1}) {
		t.Errorf("opened %v, stuck at %v, %v", c.Opened, c.Stuck, err)
	}
	wantShown(t, w.compile(), 1, 2)
	w.append(user("on"))
	p := w.compile()
	if p.Opened != prompt.ReasonFull {
		t.Errorf("opened %q", p.Opened)
	}
	wantShown(t, p, 2, 3)
	if p := w.compile(); p.Opened != "" {
		t.Errorf("opened %q again", p.Opened)
	}
}

func TestWhatCannotFitIsRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		system string
		turns  []turn.Draft
		part   budget.Part
	}{
		{"a system prompt", words(3000), nil, budget.System},
		{"a system prompt and a message", words(3000), []turn.Draft{user("hello")}, budget.System},
		{"one message", "Be brief.", []turn.Draft{agent("hi"), user(words(3000))}, budget.Recent},
		{"the last thing that was said", "Be brief.", []turn.Draft{user(words(3000)), agent("hm"), agent("hm")}, budget.Recent},
		{"one unit", "Be brief.", []turn.Draft{user("go"), call("a"), result("a", words(3000))}, budget.Recent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 2048)
			w.begin(prompt.Settings{System: tt.system})
			if tt.turns != nil {
				w.append(tt.turns...)
			}
			c, err := w.try(nil)
			var over *budget.OverBudgetError
			if !errors.As(err, &over) || !errors.Is(err, budget.ErrOverBudget) || over.Account.Free() >= 0 || c.Prompt != nil || c.Opened != nil {
				t.Fatalf("%+v, %v", c, err)
			}
			if i := slices.IndexFunc(over.Account.Lines, func(l budget.Line) bool { return l.Part == tt.part }); over.Account.Lines[i].Count.Tokens < 3000 {
				t.Errorf("%+v", over.Account.Lines)
			}
			err = w.view(func(tx store.Tx, info turn.SessionInfo) error {
				_, err := tx.Prompt().LastEpoch(t.Context(), w.key.Tenant, info.Lineage(info.Head))
				return err
			})
			if !errors.Is(err, prompt.ErrNotFound) {
				t.Errorf("an epoch was stored: %v", err)
			}
		})
	}
}

func TestAMessageThatIsTooLargeGoesWhenTheUserSaysAnother(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("hi"))
	w.compile()
	w.append(user(words(3000)))
	if _, err := w.try(w.earlier); !errors.Is(err, budget.ErrOverBudget) {
		t.Fatal(err)
	}
	w.earlier = nil
	w.append(user("in short: hello"))
	p := w.compile()
	wantShown(t, p, 1, 3)
	if paged := []prompt.Handle{{Range: turn.Range{From: 2, To: 2}, Messages: 1, Tokens: w.size(3000)}}; p.Opened != prompt.ReasonFull || !slices.Equal(p.Paged, paged) {
		t.Errorf("opened %q, paged %v", p.Opened, p.Paged)
	}
}

func TestAWindowThatShrinksOpensAnEpoch(t *testing.T) {
	w := newWorld(t, 16_384)
	w.append(talk(400)...)
	if p := w.compile(); p.Shown != 400 {
		t.Fatalf("%d shown", p.Shown)
	}
	large := w.request.Window
	var err error
	if w.request.Window, err = budget.WindowOf(2048); err != nil {
		t.Fatal(err)
	}
	p := w.compile()
	if p.Opened != prompt.ReasonFull || p.Shown > 200 {
		t.Errorf("opened %q, %d shown", p.Opened, p.Shown)
	}
	w.request.Window = large
	if p := w.compile(); p.Opened != prompt.ReasonWindow || p.Shown != 400 {
		t.Errorf("opened %q, %d shown", p.Opened, p.Shown)
	}
}

func TestNothingLeavesWhereItMayNot(t *testing.T) {
	w := newWorld(t, 2048)
	w.request.Compression.Off = true
	w.append(talk(110)...)
	if p := w.compile(); p.Shown != 110 {
		t.Errorf("%d shown", p.Shown)
	}
	w.append(talk(100)...)
	for _, n := range []int{0, 2000} {
		if n > 0 {
			w.append(talk(n)...)
		}
		var over *budget.OverBudgetError
		if _, err := w.try(nil); !errors.As(err, &over) {
			t.Errorf("%d more turns: %v", n, err)
		}
	}
	w.request.Compression.Off = false
	w.earlier = nil
	if p := w.compile(); p.Opened != prompt.ReasonFull {
		t.Errorf("opened %q", p.Opened)
	}
}

// TestAnEpochLasts has settings that leave little between what is to stay and what is full.
func TestAnEpochLasts(t *testing.T) {
	for _, tt := range []struct {
		system, preserve int
		threshold        float64
	}{
		{1, 0, 0}, {700, 0, 0}, {900, 0, 0}, {1, 0, 0.30}, {700, 0, 0.30}, {1, 100_000, 0.30}, {1, 100_000, 1}, {700, 1, 0},
	} {
		w := newWorld(t, 2048)
		var err error
		w.request.Compression, err = budget.Compression{Threshold: tt.threshold, PreserveRecent: tt.preserve}.WithDefaults()
		if err != nil {
			t.Fatal(err)
		}
		w.begin(prompt.Settings{System: words(tt.system)})
		const turns = 150
		opened := 0
		for range turns {
			w.append(agent("ok"))
			if w.compile().Opened == prompt.ReasonFull {
				opened++
			}
		}
		if opened > turns/5 {
			t.Errorf("%+v: %d of %d turns opened an epoch", tt, opened, turns)
		}
	}
}

// TestACutGoesToAMessageOfTheUserThatIsNear has the agent at work for long before the user says a word.
func TestACutGoesToAMessageOfTheUserThatIsNear(t *testing.T) {
	const size = 50
	for _, tt := range []struct {
		name     string
		word     int // how many turns before the end the user speaks
		preserve int
		moved    bool
	}{
		{"at the end", 1, 1, false},
		{"far", 4, 1, false},
		{"near", 13, 1, true},
		{"among what is preserved", 14, 1, true},
		{"behind what is preserved", 14, 100_000, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 4096)
			var err error
			if w.request.Compression, err = (budget.Compression{PreserveRecent: tt.preserve}).WithDefaults(); err != nil {
				t.Fatal(err)
			}
			usable := w.request.Window.Usable
			room := usable - w.request.Window.Reserve
			full := w.most(int(0.80*float64(room)), size) + 1
			half := w.most(int(0.4*0.80*float64(room-w.upper(1, size))), size)
			for i := range full {
				d := agent(words(size))
				if tt.word == full-i {
					d = user(words(size))
				}
				w.append(d)
			}
			w.compile()
			want := max(half, w.most(min(tt.preserve, int(0.30*float64(usable)+0.5)), size))
			if tt.moved {
				want = tt.word
			}
			if e := w.epoch(); e.From != int64(full-want+1) {
				t.Errorf("it begins at %d of %d, 0.4 of the threshold are %d turns", e.From, full, half)
			}
		})
	}
}
