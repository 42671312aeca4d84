package terminal_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

func TestClean(t *testing.T) {
	for _, test := range []struct{ name, text, want, line string }{
		{"plain", "Hello, wörld ✓", "Hello, wörld ✓", "Hello, wörld ✓"},
		{"lines and tabs", "a\n\tb\n", "a\n\tb\n", "a  b"},
		{"windows lines", "a\r\nb", "a\nb", "a b"},
		{"carriage return", "a\rb", `a\x0db`, `a\x0db`},
		{"escape", "\x1b[2J", `\x1b[2J`, `\x1b[2J`},
		{"bell and delete", "\a\x7f", `\x07\x7f`, `\x07\x7f`},
		{"C1 control", "\u009b31m", `\x9b31m`, `\x9b31m`},
		{"direction", "a\u202eb\u2066c", `a\u202eb\u2066c`, `a\u202eb\u2066c`},
		{"line separator", "a\u2028b", `a\u2028b`, `a\u2028b`},
		{"not UTF-8", "a\xffb", `a\xffb`, `a\xffb`},
		{"replacement character", "a\ufffdb", "a\ufffdb", "a\ufffdb"},
		{"joined emoji", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"},
	} {
		if got := terminal.Clean(test.text); got != test.want {
			t.Errorf("%s: Clean: got %q, want %q", test.name, got, test.want)
		}
		if got := terminal.CleanLine(test.text); got != test.line {
			t.Errorf("%s: CleanLine: got %q, want %q", test.name, got, test.line)
		}
	}
}

func TestStyle(t *testing.T) {
	colours, none := terminal.Colours(), terminal.Style{}
	for _, test := range []struct {
		name  string
		paint func(terminal.Style, string) string
		want  string
	}{
		{"dim", terminal.Style.Dim, "\x1b[2mx\x1b[0m"},
		{"strong", terminal.Style.Strong, "\x1b[1mx\x1b[0m"},
		{"alarm", terminal.Style.Alarm, "\x1b[31mx\x1b[0m"},
		{"good", terminal.Style.Good, "\x1b[32mx\x1b[0m"},
		{"notice", terminal.Style.Notice, "\x1b[33mx\x1b[0m"},
		{"accent", terminal.Style.Accent, "\x1b[36mx\x1b[0m"},
	} {
		if got := test.paint(colours, "x"); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
		if got := test.paint(none, "x"); got != "x" {
			t.Errorf("%s without colours: got %q", test.name, got)
		}
		if got := test.paint(colours, ""); got != "" {
			t.Errorf("%s of nothing: got %q", test.name, got)
		}
	}
}

func TestNoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for name, w := range map[string]interface{ Write([]byte) (int, error) }{"file": f, "buffer": new(bytes.Buffer)} {
		if terminal.Is(w) {
			t.Errorf("a %s is no terminal", name)
		}
		if terminal.StyleOf(w, false) != (terminal.Style{}) {
			t.Errorf("a %s has no colours", name)
		}
		if got := terminal.Width(w); got != 80 {
			t.Errorf("width of a %s: got %d, want 80", name, got)
		}
	}
}
