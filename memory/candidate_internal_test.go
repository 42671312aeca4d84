package memory

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyText is text and what is none: of bytes and characters at the edges of what is looked for.
func anyText() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{"a", "Z", "{", "0", "~", "\x00", "\x01", " ", "\x1f", "\x7f", "\x80", "\xff", "ä", "\u0085", "…", "\u0130", "\n"})
	common := rapid.SampledFrom([]string{"a", "b", "z"})
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(common, common, common, piece), 0, 24),
		func(pieces []string) string { return strings.Join(pieces, "") })
}

func TestTextIsUTF8WithoutNUL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		legal := utf8.ValidString(text) && !strings.Contains(text, "\x00")
		if err := checkText("text", text); (err == nil) != legal {
			t.Fatalf("%q: %v, want it to be legal: %v", text, err, legal)
		}
	})
}

func TestTagsAreFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tag := anyText().Draw(t, "tag")
		if got, want := foldTag(tag), strings.TrimSpace(strings.ToLower(strings.ToValidUTF8(tag, "\ufffd"))); got != want {
			t.Fatalf("%q is folded to %q, want %q", tag, got, want)
		}
	})
}

// The tags of what is kept lie side by side: whoever adds one to an item must not write over those of the next.
func TestTagsOfItemsAreApart(t *testing.T) {
	candidates := []Candidate{
		{Type: "found", Text: "first", Tags: []string{"One", "one"}, Source: FromUser},
		{Type: UserData, Text: "second"},
		{Type: UserData, Text: "third", Tags: []string{"two", "three"}},
	}
	one := 1.0
	candidates[0].Given = Given{Goals: &one, User: &one}
	s, err := Select(candidates, &View{Now: time.Unix(0, 0)}, Selection{})
	if err != nil || len(s.Kept) != 3 {
		t.Fatalf("%d of three are kept: %v", len(s.Kept), err)
	}
	s.Kept[0].Tags = append(s.Kept[0].Tags, "more", "and", "more")
	for i, want := range []string{"one found more and more", "", "two three"} {
		if got := strings.Join(s.Kept[i].Tags, " "); got != want {
			t.Errorf("item %d has the tags %q, want %q", i, got, want)
		}
	}
	if s.Kept[1].Tags != nil {
		t.Errorf("an item without tags has %#v", s.Kept[1].Tags)
	}
}
