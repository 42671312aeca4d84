package chat

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
)

type refused struct{ error }

func (refused) Is(target error) bool { return target == ErrRefused }

func TestWhatIsRefusedStaysInTheInput(t *testing.T) {
	for name, test := range map[string]struct {
		fail        error
		typed, want string
	}{
		"refused":              {refused{errors.New("the session is busy")}, "", "Hello\nyou"},
		"refused, going on":    {refused{errors.New("the session is busy")}, "next", "Hello\nyou\nnext"},
		"failed, but was kept": {errors.New("the answer was interrupted"), "", ""},
	} {
		b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{}}, fail: test.fail}})
		b.send(tea.PasteMsg{Content: "Hello\nyou"})
		b.hold = true
		b.press("enter")
		b.write(test.typed)
		b.release()
		if got := b.screen.input.value(); got != test.want {
			t.Errorf("%s: the input holds %q, want %q", name, got, test.want)
		}
		if last := b.kept[len(b.kept)-1]; last != "error: "+test.fail.Error() {
			t.Errorf("%s: kept %q", name, last)
		}
	}
}

func TestCommandsAndLeaving(t *testing.T) {
	for _, leave := range []string{"/quit", " /exit "} {
		backend := &scripted{}
		b := newBench(t, Config{Backend: backend})
		b.press("enter")
		b.write("  ")
		b.press("enter", "ctrl+u")
		b.write("/status")
		b.press("enter")
		if diff := cmp.Diff([]string{"> /status", "did /status"}, b.kept); diff != "" {
			t.Error(diff)
		}
		b.write(leave)
		b.press("enter")
		if !b.quit || len(backend.commands) != 1 || b.screen.busy {
			t.Errorf("quit %t, commands %q", b.quit, backend.commands)
		}
	}
	b := newBench(t, Config{Backend: &scripted{}})
	b.write("a")
	b.press("left", "ctrl+d")
	if b.quit || b.screen.input.value() != "" {
		t.Error("Ctrl-D before a letter does not delete it")
	}
	b.press("ctrl+d")
	if !b.quit {
		t.Error("Ctrl-D without an input does not leave")
	}
	if left := b.screen.View().Content; left != "" {
		t.Errorf("it leaves %q on the terminal", left)
	}
}

func TestQuestions(t *testing.T) {
	questions := make(chan Question, 1)
	var answers []bool
	ask := func(b *bench) {
		questions <- Question{Text: "run: rm -r\x1b[2J build", Answer: func(allowed bool) { answers = append(answers, allowed) }}
		b.run(b.screen.awaitQuestion())
	}
	b := newBench(t, Config{Backend: &scripted{}})
	b.screen.begin()
	b.screen.config.Questions = questions
	ask(b)
	b.golden("question")
	b.hold = true // the next one is not there yet
	// Whoever was writing when it came allows nothing by that: only a y alone does.
	b.screen.config.Questions = nil
	b.write("try it")
	b.press("enter", "enter")
	b.write("y")
	if len(answers) != 0 {
		t.Fatal("what was written besides answers")
	}
	if got := b.screen.input.value(); got != "try it" {
		t.Errorf("what was written besides is %q", got)
	}
	b.golden("answering")
	b.press("backspace")
	for _, word := range []string{"y", "No"} {
		b.screen.config.Questions = nil // nothing waits for another
		b.write(word)
		b.press("enter")
		b.screen.config.Questions = questions
		ask(b)
		b.release()
	}
	b.write(" ag")
	if _, next := b.screen.Update(keyOf(t, "ctrl+c")); next == nil {
		t.Error("nobody waits for the next question")
	}
	if got := b.screen.input.value(); got != "try it ag" {
		t.Errorf("after Ctrl-C what was written is %q", got)
	}
	if diff := cmp.Diff([]bool{true, false, false}, answers); diff != "" {
		t.Error(diff)
	}
	if b.screen.question != nil || b.screen.doing != "cancelling" {
		t.Error("Ctrl-C does not refuse and cancel")
	}
}

func TestQuestionComesAfterWhatWasSaid(t *testing.T) {
	questions := make(chan Question, 1)
	b := newBench(t, Config{Backend: &scripted{}})
	b.screen.begin()
	b.screen.config.Questions = questions
	b.send(eventMsg{work: b.screen.work, events: []Event{Text{"Let me look."}}})
	questions <- Question{Text: "list_files"}
	b.run(b.screen.awaitQuestion())
	b.send(eventMsg{work: b.screen.work, events: []Event{Text{"It is empty."}}, over: true})
	if diff := cmp.Diff([]string{"Let me look.", "", "? list_files", "It is empty.", ""}, b.kept); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsSentMeanwhileGoesWhenTheReplyIsOver(t *testing.T) {
	for name, tt := range map[string]struct {
		lines []string // each is ended with Enter
		draft string
		said  []string
		shown string // of what waits
	}{
		"one":                   {[]string{"two"}, "", []string{"one", "two"}, "1 message waits and goes when the reply is over"},
		"each by itself":        {[]string{"two", "three"}, "", []string{"one", "two", "three"}, "2 messages wait"},
		"writing on":            {[]string{"two", "three"}, "fo", []string{"one", "two", "three"}, "2 messages wait"},
		"nothing":               {[]string{"", "  "}, "fo", []string{"one"}, ""},
		"lines of one message":  {[]string{`two\`, "three"}, "", []string{"one", "two\nthree"}, "1 message waits"},
		"what was said already": {[]string{"one"}, "", []string{"one", "one"}, "1 message waits"},
	} {
		t.Run(name, func(t *testing.T) {
			backend := &scripted{replies: [][]Event{{Text{"Half a"}}, {Text{"The rest."}}, {Text{"More."}}}}
			b := newBench(t, Config{Backend: backend})
			b.hold = true
			b.write("one")
			b.press("enter")
			for _, line := range tt.lines {
				b.write(line)
				b.press("enter")
			}
			b.write(tt.draft)
			if got := b.picture(); !strings.Contains(got, tt.shown) || strings.Contains(got, "wait") != (tt.shown != "") {
				t.Errorf("the screen does not say %q:\n%s", tt.shown, got)
			}
			b.release()
			if !slices.Equal(backend.said, tt.said) || b.screen.busy {
				t.Errorf("said %q, want %q; busy %t", backend.said, tt.said, b.screen.busy)
			}
			if got := b.screen.input.value(); got != tt.draft {
				t.Errorf("the input holds %q, want %q", got, tt.draft)
			}
			if got := b.picture(); strings.Contains(got, "wait") {
				t.Errorf("the screen says that something waits that does not:\n%s", got)
			}
		})
	}
}

// Whoever cancels and sends something else before the cancelled reply is over means that.
func TestWhatIsSentAfterACancelGoes(t *testing.T) {
	backend := &scripted{replies: [][]Event{{}, {}}, fail: context.Canceled}
	b := newBench(t, Config{Backend: backend})
	b.hold = true
	b.write("one")
	b.press("enter", "ctrl+c")
	b.write("two")
	b.press("enter")
	b.release()
	if want := []string{"one", "two"}; !slices.Equal(backend.said, want) {
		t.Errorf("said %q, want %q", backend.said, want)
	}
}

// What is set aside to look at what was said earlier is still there when the next message goes by itself.
func TestWhatGoesInItsTurnLeavesTheDraft(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{}, {}}}})
	b.hold = true
	b.write("one")
	b.press("enter")
	b.write("two")
	b.press("enter")
	b.write("thr")
	b.press("up")
	b.release()
	if got := b.screen.input.value(); got != "two" {
		t.Errorf("the arrow key brings back %q, want what was sent last", got)
	}
	if b.press("down"); b.screen.input.value() != "thr" {
		t.Errorf("the input holds %q, want the draft", b.screen.input.value())
	}
}

// Ctrl-D leaves an empty input only, and one whose messages wait is not done.
func TestCtrlDDoesNotLeaveWhatWaits(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{}, {}}}})
	b.hold = true
	b.write("one")
	b.press("enter")
	b.write("two")
	b.press("enter", "ctrl+d")
	if b.quit || b.screen.gone || !strings.Contains(b.screen.notice, "Ctrl-C") {
		t.Errorf("it leaves what waits: quit %t, notice %q", b.quit, b.screen.notice)
	}
	b.release()
	if b.screen.notice != "" {
		t.Errorf("it says %q when nothing waits any more", b.screen.notice)
	}
	if b.press("ctrl+d"); !b.quit {
		t.Error("it does not leave when nothing waits any more")
	}
}
