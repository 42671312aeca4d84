package chat

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestKeysEdit(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		keys []string
		want string // with | for the cursor
	}{
		"write":               {"ab", nil, "ab|"},
		"left, write":         {"ab", []string{"left", "x"}, "ax|b"},
		"ctrl+b, ctrl+f":      {"ab", []string{"ctrl+b", "ctrl+b", "ctrl+b", "ctrl+f"}, "a|b"},
		"right at the end":    {"ab", []string{"right"}, "ab|"},
		"home, end":           {"a\nbc", []string{"home", "x", "end", "y"}, "a\nxbcy|"},
		"ctrl+a, ctrl+e":      {"a\nbc", []string{"ctrl+a", "x", "ctrl+e", "y"}, "a\nxbcy|"},
		"words":               {"one two three", []string{"alt+left", "alt+b", "ctrl+left", "alt+right", "alt+f", "ctrl+right", "ctrl+left"}, "one two |three"},
		"backspace":           {"abc", []string{"backspace", "ctrl+h"}, "a|"},
		"backspace at start":  {"a", []string{"left", "backspace"}, "|a"},
		"delete":              {"abc", []string{"home", "delete", "right", "delete", "delete"}, "b|"},
		"ctrl+w":              {"one two  ", []string{"ctrl+w"}, "one |"},
		"alt+backspace":       {"one two", []string{"alt+backspace", "ctrl+backspace"}, "|"},
		"ctrl+u, ctrl+k":      {"a\nbcd", []string{"left", "ctrl+u", "ctrl+k"}, "a\n|"},
		"new lines":           {"a", []string{"shift+enter", "b", "ctrl+j", "c"}, "a\nb\nc|"},
		"backslash":           {`a\`, []string{"enter", "b"}, "a\nb|"},
		"up, down":            {"abc\nd\nefg", []string{"up", "x", "up", "y", "down", "down", "z"}, "abyc\ndx\nefz|g"},
		"up, down by columns": {"abc\nd\nefg", []string{"up", "up", "z"}, "az|bc\nd\nefg"},
		"unknown":             {"a", []string{"ctrl+y", "tab"}, "a|"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, Config{Backend: &scripted{}})
			b.send(tea.PasteMsg{Content: test.text})
			for _, k := range test.keys {
				if len(k) == 1 {
					b.write(k)
					continue
				}
				b.press(k)
			}
			e := &b.screen.input
			got := string(e.text[:e.cursor]) + "|" + string(e.text[e.cursor:])
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPasteIsText(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{}})
	b.send(tea.PasteMsg{Content: "a\r\nb\rc\td\x1b[2J"})
	if got := b.screen.input.value(); got != "a\nb\nc    d\\x1b[2J" {
		t.Errorf("got %q", got)
	}
}

func TestPast(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{replies: [][]Event{{}, {}}}, Past: []string{"first", "second"}})
	want := func(text string) {
		t.Helper()
		if got := b.screen.input.value(); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
	b.press("down")
	want("")
	b.write("draft")
	b.press("up")
	want("second")
	b.press("up", "up", "up")
	want("first")
	b.press("down", "down", "down")
	want("draft")
	b.press("up", "enter", "up")
	want("second")
	b.press("up") // the same thing twice stands there once
	want("first")
	b.press("down", "down")
	want("")
}

// Whatever is written, the rows hold it all, none is too wide, and the cursor is where the next letter goes.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \n漢é"))).Draw(t, "text")
		width := rapid.IntRange(2, 12).Draw(t, "width")
		e := &editor{text: []rune(text)}
		e.cursor = rapid.IntRange(0, len(e.text)).Draw(t, "cursor")
		rows, row, column := e.rows(width)
		if joined := strings.ReplaceAll(strings.Join(rows, ""), "\n", ""); joined != strings.ReplaceAll(text, "\n", "") {
			t.Fatalf("rows %q of %q", rows, text)
		}
		if row >= len(rows) || column > width {
			t.Fatalf("the cursor is at %d, %d of %q", row, column, rows)
		}
		before := &editor{text: e.text[:e.cursor], cursor: e.cursor}
		if shown, _, _ := before.rows(width); row > len(shown) || row < len(shown)-1 {
			t.Fatalf("row %d, but what is before the cursor has %d", row, len(shown))
		}
	})
}

func TestLongInput(t *testing.T) {
	b := newBench(t, Config{Backend: &scripted{}})
	b.send(tea.PasteMsg{Content: strings.Repeat("line\n", 30) + "the last"})
	b.golden("long_input")
	for range 30 {
		b.press("up")
	}
	if diff := cmp.Diff(6, strings.Count(b.screen.View().Content, "line")); diff != "" {
		t.Error(diff)
	}
	if y := b.screen.View().Cursor.Y; y != 1 {
		t.Errorf("the cursor is in line %d", y)
	}
}
