package markdown_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"charm.land/lipgloss/v2"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/markdown"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

func TestPlain(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":          {"", []string{""}},
		"wraps":            {"one two three four five six", []string{"one two three four", "five six"}},
		"keeps lines":      {"one\ntwo\n\nthree\n", []string{"one", "two", "", "three"}},
		"heading":          {"## A title ##", []string{"A title"}},
		"no heading":       {"#hash", []string{"#hash"}},
		"item":             {"- one two three four five", []string{"- one two three four", "  five"}},
		"number":           {"  10. one two three four", []string{"  10. one two three", "      four"}},
		"quote":            {"> said one two three four", []string{"| said one two three", "| four"}},
		"rule":             {"---", []string{strings.Repeat("-", 20)}},
		"code":             {"```go\nif a  {\n\tb()\n}\n```\nso", []string{"    if a  {", "        b()", "    }", "so"}},
		"code is cut":      {"```\n0123456789abcdefghij\n```", []string{"    0123456789abcdef", "    ghij"}},
		"open code":        {"```\n# no heading", []string{"    # no heading"}},
		"another fence":    {"~~~\n```\n~~~\nend", []string{"    ```", "end"}},
		"a fence inside":   {"````\n```\n````\nend", []string{"    ```", "end"}},
		"marks stay":       {"a **b** `c` *d*", []string{"a **b** `c` *d*"}},
		"nothing is meant": {"\x1b[2Jhello\x07", []string{`\x1b[2Jhello\x07`}},
		"wide characters":  {"```\n漢字漢字漢字漢字漢字\n```", []string{"    漢字漢字漢字漢字", "    漢字"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, markdown.Lines(test.text, 20, terminal.Style{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestColours(t *testing.T) {
	for text, want := range map[string]string{
		"a **b** c":         "a \x1b[1mb\x1b[0m c",
		"`a*b*`":            "\x1b[33ma*b*\x1b[0m",
		"*em*":              "\x1b[36mem\x1b[0m",
		"2 * 3 * 4":         "2 * 3 * 4",
		"[site](http://x)":  "site \x1b[2m(http://x)\x1b[0m",
		"**not closed":      "**not closed",
		"# Head":            "\x1b[1mHead\x1b[0m",
		"> quoted":          "| \x1b[2mquoted\x1b[0m",
		"```\na **b**\n```": "    \x1b[33ma **b**\x1b[0m",
	} {
		got := strings.ReplaceAll(strings.Join(markdown.Lines(text, 60, terminal.Colours()), "\n"), "\x1b[m", "\x1b[0m")
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// FuzzLines holds every line to the width, and the text to be harmless.
func FuzzLines(f *testing.F) {
	f.Add("# a\n- b **c** `d`\n```\nx\n```\n> q", 30)
	f.Add("\x1b[31m漢字 * [a](b)", 0)
	f.Add("                      123456789. "+strings.Repeat("x", 100), 20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = min(max(width, 20), 200)
		ascii := !strings.ContainsFunc(text, func(r rune) bool { return r > '~' })
		for _, line := range markdown.Lines(text, width, terminal.Style{}) {
			if strings.ContainsAny(line, "\x1b\x07\r") {
				t.Fatalf("not clean: %q", line)
			}
		}
		for _, line := range markdown.Lines(text, width, terminal.Colours()) {
			if ascii && lipgloss.Width(line) > width {
				t.Fatalf("%d columns of %d: %q", lipgloss.Width(line), width, line)
			}
		}
	})
}

// What follows a text is shown as it is behind the text, when Open stands before it.
func TestOpen(t *testing.T) {
	text := "one\n\n```go\nif a {\n\t~~~\n}\n```\n~~~~ sh\n```\n~~~\n~~~~\ntwo\n```\nthree"
	lines := strings.Split(text, "\n")
	for i := range lines {
		before, after := strings.Join(lines[:i], "\n"), strings.Join(lines[i:], "\n")
		var got []string
		if i > 0 {
			got = markdown.Lines(before, 20, terminal.Style{})
		}
		for range len(before) - len(strings.TrimRight(before, "\n")) {
			got = append(got, "")
		}
		got = append(got, markdown.Lines(markdown.Open(before)+after, 20, terminal.Style{})...)
		if diff := cmp.Diff(markdown.Lines(text, 20, terminal.Style{}), got); diff != "" {
			t.Errorf("parted before line %d: %s", i, diff)
		}
	}
}
