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
	"github.com/turnstone-dev/turnstone/turn"
)

// size is what a message of so many words takes.
func (w *world) size(words int) int64 {
	return int64(w.request.Counter.Tokens(budget.Tally{Exact: words, Messages: 1}).Tokens)
}

// handle names one message of so many words.
func (w *world) handle(seq int64, words int) prompt.Handle {
	return prompt.Handle{Range: turn.Range{From: seq, To: seq}, Messages: 1, Tokens: w.size(words)}
}

// unshown are the messages of the session, all of one turn, that the last prompt does not show.
func (w *world) unshown(messages ...int64) []int64 {
	seqs := shown(w.last)
	return slices.DeleteFunc(messages, func(seq int64) bool { return slices.Contains(seqs, seq) })
}

func TestTheOldestLongMessagesArePagedOutFirst(t *testing.T) {
	w := newWorld(t, 4096) // 696 tokens are the user's
	for _, n := range []int{20, 200, 20, 200, 200, 20, 200, 20, 1} {
		w.append(user(words(n)))
	}
	w.moveOn()
	w.moveOn()
	first := w.unshown(1, 2, 3, 4, 5, 6, 7, 8, 9)
	if long := []int64{2, 4, 5, 7}; len(first) < 2 || len(first) > 3 || !slices.Equal(first, long[:len(first)]) {
		t.Errorf("%v are paged out", first)
	}
	w.accounted(w.last)
	// Two more long ones take the place of those that are left.
	last := w.append(user(words(200)), user(words(200)), user("on"))
	w.moveOn()
	w.moveOn()
	then := w.unshown(1, 2, 3, 4, 5, 6, 7, 8, 9, last-2, last-1, last)
	if long := []int64{2, 4, 5, 7, last - 2, last - 1}; len(then) < 4 || len(then) > 5 || !slices.Equal(then, long[:len(then)]) {
		t.Errorf("%v are paged out", then)
	}
	w.accounted(w.last)
}

func TestShortMessagesArePagedOutWhenThereAreNoLongOnes(t *testing.T) {
	w := newWorld(t, 4096)
	const n = 30
	for range n {
		w.append(user(words(30)))
	}
	w.moveOn()
	w.moveOn()
	e := w.epoch()
	if len(e.Paged) != 1 || e.Paged[0].From != 1 || e.Paged[0].Messages < 5 || len(e.Kept)+int(e.Paged[0].Messages) != n {
		t.Fatalf("%v", e.Paged)
	}
	if h := e.Paged[0]; h.To != h.Messages || e.Kept[0].From != h.To+1 || h.Tokens != h.Messages*w.size(30) {
		t.Errorf("%+v, then %v", h, e.Kept[0])
	}
	if line := fmt.Sprintf("\n- turns 1 to %d: %d messages, %d tokens", e.Paged[0].To, e.Paged[0].Messages, e.Paged[0].Tokens); !strings.HasSuffix(w.last.Messages[1].Parts[0].Text, line) {
		t.Errorf("%q", w.last.Messages[1].Parts[0].Text)
	}
	if named := w.accounted(w.last); named != int(e.Paged[0].Messages) {
		t.Errorf("%d are named", named)
	}
}

// TestHandlesArePutTogether has more long messages than there is room for handles.
func TestHandlesArePutTogether(t *testing.T) {
	w := newWorld(t, 4096)
	const n = 40
	for range n {
		w.append(user(words(70)))
	}
	w.moveOn()
	w.moveOn()
	e := w.epoch()
	total := len(e.Kept)
	for i, h := range e.Paged {
		total += int(h.Messages)
		if (h.Messages > 1) != (i == 0) {
			t.Errorf("handle %d of %d: %+v", i, len(e.Paged), h)
		}
	}
	if total != n || len(e.Paged) < 3 || lineOf(w.last, budget.Said) > w.request.Window.Usable/5+8 {
		t.Errorf("%d messages, %v: %d tokens", total, e.Paged, lineOf(w.last, budget.Said))
	}
	w.accounted(w.last)
}

// TestAMessageAmongThoseThatAreNamedTogetherIsNamedWithThem pages out short messages after the long ones around
// them.
func TestAMessageAmongThoseThatAreNamedTogetherIsNamedWithThem(t *testing.T) {
	w := newWorld(t, 4096)
	said := 0
	for i := range 60 {
		w.append(user(words([]int{90, 12}[i%2])))
		said++
		if i%10 == 9 {
			w.moveOn()
		}
	}
	w.moveOn()
	e := w.epoch()
	total := len(e.Kept)
	for _, h := range e.Paged {
		total += int(h.Messages)
	}
	if total != said || len(e.Paged) == 0 || e.Paged[0].Messages < 20 {
		t.Errorf("%d of %d: %v", total, said, e.Paged)
	}
	w.accounted(w.last)
}

func TestAHugeLastMessagePagesOutTheOthers(t *testing.T) {
	w := summarised(newWorld(t, 4096))
	for range 10 {
		w.append(user(words(60)))
	}
	w.append(work(0, 20)...)
	w.append(user(words(2300)))
	w.append(work(20, 6)...)
	p := w.compile()
	seqs := shown(p)
	if last := w.epoch().Kept; len(last) == 0 || !slices.Contains(seqs, 35) {
		t.Errorf("%v is shown, kept %v", seqs, last)
	}
	if len(p.Paged) == 0 || w.accounted(p) != 10 {
		t.Errorf("paged %v", p.Paged)
	}
	// What cannot fit with nothing but the last message does not.
	w.append(user(words(3000)))
	w.append(work(26, 2)...)
	if _, err := w.try(nil); !errors.Is(err, budget.ErrOverBudget) {
		t.Error(err)
	}
}

func TestPinnedMessagesDoNotCountToTheUsersShare(t *testing.T) {
	const size = 195
	w := newWorld(t, 6144) // 1044 tokens are the user's
	for range 6 {
		w.append(user(words(size)))
	}
	w.append(user("on"))
	w.pin(1)
	w.pin(2)
	w.moveOn()
	w.moveOn()
	want := append(kept(prompt.Pinned, 1, 2), kept(prompt.Said, 3, 4, 5, 6, 7)...)
	if diff := cmp.Diff(want, w.epoch().Kept); diff != "" || w.epoch().Paged != nil {
		t.Errorf("%v %s", w.epoch().Paged, diff)
	}
	// Without the pins they are the oldest long ones.
	w.pin(-1)
	w.pin(-2)
	w.moveOn()
	paged := w.epoch().Paged
	if n := len(paged); n < 2 || n > 3 || !slices.Equal(paged, []prompt.Handle{w.handle(1, size), w.handle(2, size), w.handle(3, size)}[:n]) {
		t.Fatalf("%v", paged)
	}
	// A pin of one of them shows it and takes its handle away, and it comes back without.
	w.pin(2)
	if p := w.compile(); p.Opened != prompt.ReasonPin || !slices.Contains(shown(p), 2) {
		t.Errorf("opened %q", p.Opened)
	}
	if diff := cmp.Diff(slices.Delete(slices.Clone(paged), 1, 2), w.epoch().Paged); diff != "" {
		t.Error(diff)
	}
	w.pin(-2)
	w.moveOn()
	total := int64(0)
	for _, h := range w.epoch().Paged {
		total += h.Messages
	}
	if named := w.accounted(w.last); int64(named) != total || !slices.Contains(w.epoch().Kept, kept(prompt.Said, 2)[0]) && !slices.Contains(w.epoch().Paged, w.handle(2, size)) {
		t.Errorf("%d are named: %v", named, w.epoch().Paged)
	}
}

func TestWhatAHandleQuotes(t *testing.T) {
	picture := turn.Draft{Role: turn.User, MessageID: "p", Content: turn.Image{MediaType: "image/png", Blob: turn.Blob{Data: []byte("png")}}}
	long := words(700)
	for _, tt := range []struct {
		name  string
		turns []turn.Draft
		want  string // after the number of tokens
	}{
		{"whole words", []turn.Draft{user("The quick brown fox jumps over the lazy dog and on. " + long)}, `: "The quick brown fox jumps over the lazy dog and …"`},
		{"one line", []turn.Draft{user("\n\n  The\tquick\nfox. \n" + long)}, `: "The quick fox. word word word word word word …"`},
		{"one long word", []turn.Draft{user(strings.Repeat("0123456789", 300))}, `: "012345678901234567890123456789012345678901234567 …"`},
		{"runes", []turn.Draft{user(strings.Repeat("ä€", 900))}, `: "` + strings.Repeat("ä€", 9) + `ä …"`},
		{"the first part with a text", []turn.Draft{picture, part("p", "See  this."), part("p", long)}, `: "See this."`},
		{"nothing to quote", []turn.Draft{user(strings.Repeat(" \n", 2000))}, `: ""`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, 4096)
			w.append(tt.turns...)
			w.append(user("on"))
			w.moveOn()
			w.moveOn()
			text := w.last.Messages[1].Parts[0].Text
			begin := note + "Messages of the user that stand in the log word for word, and are not all shown here:\n- turn"
			if n := len(tt.turns); n > 1 {
				begin += fmt.Sprintf("s 1 to %d, ", n)
			} else {
				begin += " 1, "
			}
			if !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, " tokens"+tt.want) || w.last.Messages[1].Role != prompt.Note {
				t.Errorf("%q, want … %q", text, tt.want)
			}
		})
	}
}

// TestWhatAPassDoesNotReachIsNamedUncounted has more turns written than a pass looks through.
func TestWhatAPassDoesNotReachIsNamedUncounted(t *testing.T) {
	w := summarised(newWorld(t, 4096))
	w.append(user("begin"))
	w.compile()
	w.last = nil
	w.append(repeat(prompt.MaxPass/4+300, func(i int) []turn.Draft {
		return []turn.Draft{agent(words(3)), agent("b"), user(fmt.Sprint("word ", i)), agent("c")}
	})...)
	c, err := w.try(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Prompt
	first := p.Paged[0]
	if first.From != 1 || first.Messages != 0 || first.Tokens != 0 || !strings.Contains(textOf(p), fmt.Sprintf("- turns 1 to %d: not counted", first.To)) {
		t.Errorf("%v", p.Paged)
	}
	// The checkpoint covers what was looked at, and the rest is only said to be missing.
	if len(p.Checkpoints) != 1 || p.Checkpoints[0].From != p.From-prompt.MaxPass || !strings.Contains(p.Messages[0].Parts[0].Text, fmt.Sprintf("Turns 1 to %d of this conversation are not shown.", p.From-prompt.MaxPass-1)) {
		t.Errorf("%v, it begins with %q", p.Checkpoints, p.Messages[0].Parts[0].Text)
	}
	w.store(c)
	w.accounted(p)
}

// TestTheLastWordsStayHoweverLongAgo has the agent work alone for longer than a pass looks through.
func TestTheLastWordsStayHoweverLongAgo(t *testing.T) {
	w := newWorld(t, 4096)
	w.append(agent("hi"))
	w.compile()
	w.last = nil
	w.append(user("something"), user("the task"))
	w.append(repeat(prompt.MaxPass+200, func(int) []turn.Draft { return []turn.Draft{agent("x")} })...)
	c, err := w.try(nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := c.Prompt; shown(p)[0] != 3 || len(p.Paged) != 1 || p.Paged[0].From != 1 || p.Paged[0].Messages != 0 {
		t.Errorf("it shows %v, %v", shown(p)[0], p.Paged)
	}
	w.store(c)
	w.accounted(c.Prompt)
}
