package chat

import (
	"context"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
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
	kept    []string // above the screen
	quit    bool
	waiting []tea.Cmd // what hold left
	hold    bool
}

func newBench(t *testing.T, c Config) *bench {
	b := &bench{t: t}
	b.screen = NewScreen(t.Context(), c)
	b.screen.every = func(int) tea.Cmd { return nil }
	b.run(b.screen.Init())
	b.send(tea.WindowSizeMsg{Width: 80, Height: 12})
	return b
}

func (b *bench) send(msgs ...tea.Msg) {
	for _, msg := range msgs {
		_, cmd := b.screen.Update(msg)
		b.print()
		b.run(cmd)
	}
}

// print takes what is to be printed above the screen.
func (b *bench) print() {
	b.kept = append(b.kept, b.screen.kept...)
	b.screen.kept = nil
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
