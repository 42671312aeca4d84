package config_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/config"
)

func TestParse(t *testing.T) {
	got, err := config.Parse(`# What holds for every command.
store = "work.db"
quiet = true

[chat]
"context" = 16384
sticky = [
  "a.md", "b.md",
]
[session.end]
idle-after = "90m"
[serve]
rate = 2.5
session = { list = 1 }
`)
	want := []config.Entry{
		{Name: "store", Value: "work.db", Line: 2},
		{Name: "quiet", Value: true, Line: 3},
		{Command: "chat", Name: "context", Value: int64(16384), Line: 6},
		{Command: "chat", Name: "sticky", Value: []any{"a.md", "b.md"}, Line: 7},
		{Command: "session end", Name: "idle-after", Value: "90m", Line: 11},
		{Command: "serve", Name: "rate", Value: 2.5, Line: 13},
		{Command: "serve session", Name: "list", Value: int64(1), Line: 14},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if label := got[4].Label(); label != "session.end.idle-after" {
		t.Errorf("it is called %s", label)
	}
	if none, err := config.Parse(""); len(none) != 0 || err != nil {
		t.Errorf("an empty file has %v, %v", none, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"quiet = true\nquiet = false\n":        "line 2: ",
		"quiet = true\n[chat\nmodel = \"m\"\n": "line 2: expected '.' or ']' to end table name, but got",
		"quiet = yes\n":                        "line 1: near quiet: ",
		"quiet = true\n[[chat]]\n":             "line 2: chat: is a list of tables; write its name in single brackets",
	} {
		if _, err := config.Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, test := range []struct {
		kind  string
		value any
		want  string // with spaces between, or the error
	}{
		{"string", "a b", "a b"},
		{"bool", false, "false"},
		{"int", int64(-7), "-7"},
		{"int64", int64(1) << 40, "1099511627776"},
		{"float64", 0.8, "0.8"},
		{"float64", int64(2), "2"},
		{"duration", "90m", "90m"},
		{"stringArray", []any{"a", "b"}, "a b"},
		{"stringSlice", "a", "a"},
		{"stringArray", []any{}, ""},

		{"string", int64(1), "x: is no text; write it in quotes"},
		{"string", "", "x: is empty; give a value or leave it out"},
		{"bool", "true", "x: is not true or false; write it without quotes"},
		{"int", "1", "x: is no whole number; write one without quotes"},
		{"int", 1.5, "x: is no whole number; write one without quotes"},
		{"float64", "1", "x: is no number; write one without quotes"},
		{"duration", "soon", `x: is no time; write one such as "90m", in quotes`},
		{"duration", int64(90), `x: is no time; write one such as "90m", in quotes`},
		{"stringArray", []any{"a", int64(1)}, `x: is no list of texts; write it as ["one", "another"]`},
		{"stringArray", true, `x: is no list of texts; write it as ["one", "another"]`},
	} {
		texts, err := config.Entry{Name: "x", Value: test.value, Line: 3}.Texts(test.kind)
		got := strings.Join(texts, " ")
		if err != nil {
			got = strings.TrimPrefix(err.Error(), "line 3: ")
		}
		if got != test.want || err != nil && !slices.Contains(strings.Fields(err.Error()), "3:") {
			t.Errorf("%v as %s: %q, want %q", test.value, test.kind, got, test.want)
		}
	}
}
