package memory_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/words"
	"github.com/turnstone-dev/turnstone/memory"
)

func TestTagTerm(t *testing.T) {
	tests := []struct{ tag, want string }{
		{"deploy", "t_deploy"},
		{" Deploy\t", "t_deploy"},
		{"a/b", "t_a_2fb"},
		{"a_2fb", "t_a_5f2fb"},
		{"größe", "t_größe"},
		{"GRÖSSE", "t_grösse"},
		{"v1.2", "t_v1_2e2"},
		{"a\xffb", "t_a\ufffdb"},
		{strings.Repeat("x", 62), "t_" + strings.Repeat("x", 62)},
		{strings.Repeat("x", 63), "t__75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d8"},
	}
	for _, tt := range tests {
		if got := memory.TagTerm(tt.tag); got != tt.want {
			t.Errorf("TagTerm(%q) = %q, want %q", tt.tag, got, tt.want)
		}
	}
}

func TestTagTermsAreDistinctTokens(t *testing.T) {
	tag := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("aA_/2f\u00e9.")), 0, 80, -1))
	rapid.Check(t, func(t *rapid.T) {
		a, b := tag.Draw(t, "a"), tag.Draw(t, "b")
		term := memory.TagTerm(a)
		if len(term) > 64 || !utf8.ValidString(term) || !strings.HasPrefix(term, "t_") {
			t.Fatalf("%q is no term", term)
		}
		for _, r := range term {
			if r < utf8.RuneSelf && !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_') {
				t.Fatalf("%q holds %q", term, r)
			}
		}
		fold := func(s string) string { return strings.TrimSpace(strings.ToLower(strings.ToValidUTF8(s, "\ufffd"))) }
		if (fold(a) == fold(b)) != (term == memory.TagTerm(b)) {
			t.Fatalf("%q and %q have the terms %q and %q", a, b, term, memory.TagTerm(b))
		}
		for _, word := range words.Terms(a) {
			if word == term {
				t.Fatalf("%q is a word of %q", term, a)
			}
		}
	})
}

func TestRowTerms(t *testing.T) {
	tests := []struct {
		name string
		row  memory.Row
		want []string
	}{
		{"text and tags", memory.Row{Text: "Running tests, running", About: `{"tags":["ci","Run it"],"links":{}}`}, []string{"run", "t_ci", "t_run_20it", "test"}},
		{"no tags", memory.Row{Text: "one two", About: `{"provenance":{"tags":["x"]}}`}, []string{"one", "two"}},
		{"repeated tags", memory.Row{About: `{"tags":["a","A"]}`}, []string{"t_a"}},
		{"broken about", memory.Row{Text: "one", About: `{"tags":["a"],`}, []string{"one"}},
		{"tags of another kind", memory.Row{Text: "one", About: `{"tags":[1]}`}, []string{"one"}},
		{"no about", memory.Row{Text: "one"}, []string{"one"}},
		{"nothing", memory.Row{}, []string{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, memory.RowTerms(tt.row)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
