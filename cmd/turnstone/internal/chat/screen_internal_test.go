package chat

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

var update = flag.Bool("update", false, "write the views into their files")

// scripted is a conversation of which everything is known beforehand.
type scripted struct {
	replies  [][]Event
	fail     error
	said     []string
	commands []string
	statuses int
	broken   error // of Status
}

func (b *scripted) Stream(ctx context.Context, text string) iter.Seq2[Event, error] {
	b.said = append(b.said, text)
	events := b.replies[0]
	b.replies = b.replies[1:]
	return func(yield func(Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
		if b.fail != nil {
			yield(nil, b.fail)
		}
	}
}

func (b *scripted) Command(_ context.Context, text string) (string, error) {
	b.commands = append(b.commands, text)
	return "did " + text + "\n", b.fail
}

func (b *scripted) Status(context.Context) (Status, error) {
	b.statuses++
	return Status{Line: "Context: 5,234/6,963 medium 65% (2 compressions), 0/0 pins", Session: "demo", Model: "llama3.2"}, b.broken
}

// bench drives a screen by messages: commands are run where they stand, one after the other.
type bench struct {
	t       *testing.T
	screen  *Screen
	kept    []string
	quit    bool
	waiting []tea.Cmd // what hold left
	hold    bool
}

func newBench(t *testing.T, c Config) *bench {
	b := &bench{t: t}
	c.Print = func(text string) tea.Cmd {
		return func() tea.Msg { b.kept = append(b.kept, text); return nil }
	}
	b.screen = NewScreen(t.Context(), c)
	b.screen.every = func(int) tea.Cmd { return nil }
	b.run(b.screen.Init())
	b.send(tea.WindowSizeMsg{Width: 80, Height: 12})
	return b
}

func (b *bench) send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		_, cmd := b.screen.Update(msg)
		b.run(cmd)
	}
}

// run carries out a command and all that comes of it. What Bubble Tea runs in turn is a slice of commands.
func (b *bench) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	msg := cmd()
	if _, ok := msg.(tea.QuitMsg); ok {
		b.quit = true
		return
	}
	if v := reflect.ValueOf(msg); msg != nil && v.Kind() == reflect.Slice {
		for i := range v.Len() {
			b.run(v.Index(i).Interface().(tea.Cmd))
		}
		return
	}
	if msg == nil {
		return
	}
	if b.hold {
		b.waiting = append(b.waiting, func() tea.Msg { return msg })
		return
	}
	b.send(msg)
}

func (b *bench) release() {
	b.hold = false
	waiting := b.waiting
	b.waiting = nil
	for _, cmd := range waiting {
		b.run(cmd)
	}
}

func (b *bench) write(text string) {
	for _, r := range text {
		b.send(tea.KeyPressMsg{Text: string(r), Code: r})
	}
}

func (b *bench) press(names ...string) {
	for _, name := range names {
		b.send(keyOf(b.t, name))
	}
}

// keyOf is the key of a name such as alt+enter.
func keyOf(t *testing.T, name string) tea.KeyPressMsg {
	t.Helper()
	var k tea.KeyPressMsg
	parts := strings.Split(name, "+")
	for _, mod := range parts[:len(parts)-1] {
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
	}
	last := parts[len(parts)-1]
	special := map[string]rune{
		"enter": tea.KeyEnter, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome,
		"end": tea.KeyEnd, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "tab": tea.KeyTab,
	}
	if k.Code = special[last]; k.Code == 0 {
		k.Code = []rune(last)[0]
	}
	if got := k.Keystroke(); got != name {
		t.Fatalf("the key %s is called %s", name, got)
	}
	return k
}

// picture is what is kept above and what the screen shows, with the cursor as a block.
func (b *bench) picture() string {
	view := b.screen.View()
	lines := strings.Split(view.Content, "\n")
	at := []rune(lines[view.Cursor.Y] + strings.Repeat(" ", 80))
	at[view.Cursor.X] = '█'
	lines[view.Cursor.Y] = strings.TrimRight(string(at), " ")
	return strings.Join(b.kept, "\n") + "\n==== screen\n" + strings.Join(lines, "\n") + "\n"
}

func (b *bench) golden(name string) {
	b.t.Helper()
	file := filepath.Join("testdata", name+".txt")
	got := b.picture()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		b.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		b.t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestConversation(t *testing.T) {
	backend := &scripted{replies: [][]Event{{
		Doing{"waiting for llama3.2"}, Thinking{"What is asked?"}, Text{"We chose **port 5433**:\n\n"}, Text{"- it is free\n- nobody else has it\n"},
		Note{"read_file main.go: 34 lines"}, Text{"```go\nlisten(5433)\n```\n"},
	}}}
	b := newBench(t, Config{Backend: backend, Greeting: "Session demo, 12 turns."})
	b.golden("empty")
	b.write("Which port?")
	b.press("alt+enter")
	b.write("And why?")
	b.golden("written")
	b.press("enter")
	b.golden("answered")
	if diff := cmp.Diff([]string{"Which port?\nAnd why?"}, backend.said); diff != "" {
		t.Error(diff)
	}
	if backend.statuses != 2 {
		t.Errorf("asked %d times how it stands, want at the beginning and after the reply", backend.statuses)
	}
}

func TestReplyAsItComes(t *testing.T) {
	backend := &scripted{}
	b := newBench(t, Config{Backend: backend})
	s := b.screen
	s.begin()
	happen := func(events ...Event) { b.send(eventMsg{work: s.work, events: events}) }
	happen(Doing{"waiting for llama3.2"})
	for range 11 {
		b.send(tickMsg{s.work})
	}
	b.golden("waiting")
	happen(Thinking{"Let me see what was said about the port, long ago, and by whom"})
	b.golden("thinking")
	happen(Text{"# The port\n\nIt is **5433** since the first evening, because the radar has 8080.\n\n```sh\ncurl localhost:"})
	b.golden("coming")
	happen(Text{"5433\n```\n" + strings.Repeat("more\n", 20) + "the end"})
	b.golden("long")
	// A message of work that is over changes nothing.
	b.send(eventMsg{work: s.work - 1, events: []Event{Text{"stale"}}}, tickMsg{s.work - 1}, commandMsg{work: s.work - 1, text: "stale"})
	if strings.Contains(b.picture(), "stale") || s.ticks != 11 {
		t.Error("earlier work is shown")
	}
	b.send(eventMsg{work: s.work, over: true})
	if s.busy || !strings.Contains(b.kept[0], "the end") || s.reply.Len() != 0 {
		t.Errorf("after the end: busy %t, kept %q", s.busy, b.kept)
	}
	b.send(tickMsg{s.work})
	if s.ticks != 11 {
		t.Error("it ticks on")
	}
}

func TestCancelIsNotTheEnd(t *testing.T) {
	backend := &scripted{replies: [][]Event{{Text{"Half a"}}}, fail: errors.Join(errors.New("say to demo"), context.Canceled)}
	b := newBench(t, Config{Backend: backend})
	b.hold = true
	b.write("Go on")
	b.press("enter")
	if !b.screen.busy {
		t.Fatal("nothing runs")
	}
	b.write("next")
	b.press("enter")
	if b.screen.input.value() != "next" || !strings.Contains(b.screen.notice, "Ctrl-C") {
		t.Errorf("input %q, notice %q", b.screen.input.value(), b.screen.notice)
	}
	b.press("ctrl+c")
	if b.quit || b.screen.doing != "cancelling" {
		t.Errorf("quit %t, doing %q", b.quit, b.screen.doing)
	}
	b.release()
	b.golden("cancelled")
	// Now it empties the input, then says how to leave, then leaves.
	b.press("ctrl+c")
	if b.screen.input.value() != "" || b.quit {
		t.Error("the input is not emptied first")
	}
	b.press("ctrl+c")
	b.golden("leaving")
	b.press("a", "backspace", "ctrl+c")
	if b.quit {
		t.Error("another key in between does not start it over")
	}
	b.press("ctrl+c")
	if !b.quit {
		t.Error("the second one in a row does not leave")
	}
	if b.press("up"); b.screen.input.value() != "next" {
		t.Errorf("what was emptied cannot be had again: %q", b.screen.input.value())
	}
}

func TestErrors(t *testing.T) {
	backend := &scripted{replies: [][]Event{{}}, fail: errors.New("model \"llama3.2\": the model server cannot be reached; start it with `ollama serve`")}
	b := newBench(t, Config{Backend: backend})
	b.write("Hello")
	b.press("enter")
	b.golden("failed")
	b.write("/pin 99")
	b.press("enter")
	if last := b.kept[len(b.kept)-1]; !strings.HasPrefix(last, "error: ") {
		t.Errorf("kept %q", last)
	}
	backend.broken = errors.New("the store is gone\nfor ever")
	b.run(b.screen.askStatus())
	if b.screen.notice != "the store is gone for ever" || b.screen.status.Session != "demo" {
		t.Errorf("notice %q, status %+v", b.screen.notice, b.screen.status)
	}
}

type refused struct{ error }

func (refused) Is(target error) bool { return target == ErrRefused }

func TestWhatIsRefusedStaysInTheInput(t *testing.T) {
	for name, test := range map[string]struct {
		fail        error
		typed, want string
	}{
		"refused":              {refused{errors.New("the session is busy")}, "", "Hello\nyou"},
		"refused, going on":    {refused{errors.New("the session is busy")}, "next", "next"},
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

// However tall a text is, and however tall the screen below it, they never reach above the terminal together.
func TestPrintsALineAtATime(t *testing.T) {
	steps := reflect.ValueOf(lineByLine("one\n\nthree")())
	var printed []string
	for i := range steps.Len() {
		printed = append(printed, fmt.Sprintf("%+v", steps.Index(i).Interface().(tea.Cmd)()))
	}
	if diff := cmp.Diff([]string{"{messageBody:one}", "{messageBody: }", "{messageBody:three}"}, printed); diff != "" {
		t.Error(diff)
	}
	b := newBench(t, Config{Backend: &scripted{}})
	b.screen.begin()
	b.send(eventMsg{work: b.screen.work, events: []Event{Text{strings.Repeat("more\n", 40)}}})
	b.send(tea.PasteMsg{Content: strings.Repeat("line\n", 40)})
	b.screen.notice = "a notice"
	if lines := strings.Count(b.screen.View().Content, "\n") + 1; lines > 11 {
		t.Errorf("the screen has %d of 12 lines", lines)
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

// Somebody who leaves in the middle of a fast reply must not leave the reply hanging.
func TestPumpEndsWithTheScreen(t *testing.T) {
	hungUp := false
	endless := func(yield func(Event, error) bool) {
		for yield(Text{"on "}, nil) {
		}
		hungUp = true
	}
	screen, leave := context.WithCancel(t.Context())
	events := make(chan eventMsg, 2)
	done := make(chan struct{})
	go func() {
		defer close(done)
		pump(t.Context(), screen, endless, 1, events)
	}()
	<-events // it is under way, and nobody reads on
	leave()
	<-done
	if !hungUp {
		t.Error("the stream goes on")
	}
}

// A stream that ends without a word when it is cancelled is cancelled all the same.
func TestPumpSaysThatItWasCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	events := make(chan eventMsg, 1)
	pump(ctx, t.Context(), func(func(Event, error) bool) {}, 1, events)
	if msg := <-events; !errors.Is(msg.err, context.Canceled) || msg.work != 1 {
		t.Errorf("got %+v", msg)
	}
}

func TestLinesThatAreTooLong(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{}}}})
	b.send(tea.WindowSizeMsg{Width: 30, Height: 12})
	b.write("This is said in more words than the screen is wide")
	b.press("enter")
	if diff := cmp.Diff([]string{"> This is said in more words\nthan the screen is wide"}, b.kept); diff != "" {
		t.Error(diff)
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
	b.press("x", "enter")
	if len(answers) != 0 {
		t.Fatal("a stray key answers")
	}
	for _, key := range []string{"y", "n"} {
		b.screen.config.Questions = nil // nothing waits for another
		b.write(key)
		b.screen.config.Questions = questions
		ask(b)
		b.release()
	}
	if _, next := b.screen.Update(keyOf(t, "ctrl+c")); next == nil {
		t.Error("nobody waits for the next question")
	}
	if diff := cmp.Diff([]bool{true, false, false}, answers); diff != "" {
		t.Error(diff)
	}
	if b.screen.question != nil || b.screen.doing != "cancelling" {
		t.Error("Ctrl-C does not refuse and cancel")
	}
}

func TestNotes(t *testing.T) {
	notes := make(chan string, 1)
	notes <- "turns 3-40 left the prompt"
	backend := &scripted{}
	b := newBench(t, Config{Backend: backend})
	b.screen.config.Notes = notes
	asked := backend.statuses
	_, cmd := b.screen.Update(b.screen.awaitNote()())
	b.screen.config.Notes = nil
	ctx, cancel := context.WithCancel(t.Context())
	b.screen.ctx = ctx
	cancel() // so that waiting for the next note ends
	b.run(cmd)
	if diff := cmp.Diff([]string{"turns 3-40 left the prompt"}, b.kept); diff != "" || backend.statuses != asked+1 {
		t.Errorf("asked %d times: %s", backend.statuses-asked, diff)
	}
}

func TestColours(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{Text{"**So**"}}}}, Style: terminal.Colours()})
	b.write("x")
	b.press("enter")
	if diff := cmp.Diff([]string{"\x1b[36m> x\x1b[0m", "\x1b[1mSo\x1b[0m\n"}, strings.Split(strings.ReplaceAll(strings.Join(b.kept, "\x00"), "\x1b[m", "\x1b[0m"), "\x00")); diff != "" {
		t.Error(diff)
	}
	if view := b.screen.View().Content; !strings.Contains(view, "\x1b[36m> ") || !strings.Contains(view, "\x1b[2m") {
		t.Errorf("no colours: %q", view)
	}
}

func TestWhatIsSentMeanwhileGoesWhenTheReplyIsOver(t *testing.T) {
	for name, tt := range map[string]struct {
		then string // a key that is pressed after enter
		said []string
	}{
		"sent":           {"", []string{"Go on", "next"}},
		"taken up again": {"left", []string{"Go on"}},
	} {
		t.Run(name, func(t *testing.T) {
			backend := &scripted{replies: [][]Event{{Text{"Half a"}}, {Text{"The rest."}}}}
			b := newBench(t, Config{Backend: backend})
			b.hold = true
			b.write("Go on")
			b.press("enter")
			b.write("next")
			b.press("enter")
			if tt.then != "" {
				b.press(tt.then)
			}
			b.hold = false
			b.release()
			if !slices.Equal(backend.said, tt.said) || b.screen.busy {
				t.Errorf("said %q, busy %t", backend.said, b.screen.busy)
			}
		})
	}
}
