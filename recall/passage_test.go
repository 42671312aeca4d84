package recall_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/recall"
)

// filler is n sentences that have nothing to do with anything.
func filler(n int) string { return strings.Repeat("It rained, and we talked about boats. ", n) }

// What a hit was found for is what is left of it.
func TestAHitIsCutAroundWhatWasFound(t *testing.T) {
	const answer = "The spare key lies under the third flowerpot."
	for name, tt := range map[string]struct {
		text       string
		why        []string
		want       string
		begin, end string
	}{
		"beginning":      {answer + " " + filler(40), []string{"spare", "key"}, answer, answer, " more bytes]"},
		"middle":         {filler(30) + answer + " " + filler(30), []string{"spare", "key"}, answer, "[…] ", " more bytes]"},
		"end":            {filler(40) + answer, []string{"spare", "key"}, answer, "[… ", answer},
		"another form":   {filler(30) + "He was deploying the heron. " + filler(30), []string{"deployed"}, "deploying the heron", "[…] ", " more bytes]"},
		"most words":     {"A key. " + filler(20) + answer + filler(20) + "A spare.", []string{"spare", "key"}, answer, "[…] ", " more bytes]"},
		"the rare word":  {"A boat key. " + filler(20) + "The heron. " + filler(20), []string{"boats", "heron"}, "heron", "[…] ", " more bytes]"},
		"far apart":      {"One key. " + filler(40) + "The spare. " + filler(10), []string{"spare", "key"}, "One key.", "One key.", " more bytes]"},
		"without spaces": {strings.Repeat("今日は雨が降っていました。", 60) + "合鍵は植木鉢の下です。" + strings.Repeat("今日は雨が降っていました。", 60), []string{"合鍵"}, "合鍵は植木鉢", "[…] ", " more bytes]"},
		"nothing":        {filler(60), nil, "It rained", "It rained", " more bytes]"},
		"elsewhere":      {filler(60), []string{"walrus"}, "It rained", "It rained", " more bytes]"},
	} {
		h := hit(7, tt.text)
		h.Why = tt.why
		chars := func(text string) int { return utf8.RuneCountInString(text) }
		kept := recall.Fit([]recall.Hit{h}, 230, chars)
		if len(kept) != 1 || !kept[0].Clipped || kept[0].Citation != "[turn 7]" || kept[0].Tokens > 230 || kept[0].Tokens < 215 {
			t.Errorf("%s: %+v", name, kept)
			continue
		}
		if got := kept[0].Text; !strings.Contains(got, tt.want) || !strings.HasPrefix(got, tt.begin) || !strings.HasSuffix(got, tt.end) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Whatever the text and however much room there is: whole words, what the markers say, and the word itself where it fits.
func TestACutTextIsAPassageOfTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"heron", "rain", "ärger", "鍵の", "(boats)", "a", "\n", "🔑"}), 1, 200).Draw(t, "words")
		text := strings.Join(lines, " ")
		h := hit(1, text)
		h.Why = []string{"heron"}
		room := rapid.IntRange(1, 400).Draw(t, "room")
		size := func(text string) int { return len(text) }
		for _, got := range recall.Fit([]recall.Hit{h}, room, size) {
			if got.Tokens > room || !utf8.ValidString(got.Text) {
				t.Fatalf("%d bytes of %d: %q", got.Tokens, room, got.Text)
			}
			if !got.Clipped {
				continue
			}
			shown, missing := got.Text, 0
			if at := strings.LastIndex(shown, " [… "); at >= 0 {
				fmt.Sscanf(shown[at:], " [… %d more bytes]", &missing)
				shown = shown[:at]
			} else {
				fmt.Sscanf(shown, "[… %d more bytes]", &missing)
				shown = shown[strings.Index(shown, "] ")+2:]
			}
			shown = strings.TrimPrefix(shown, "[…] ")
			// Spaces at its ends are neither shown nor missing.
			if !strings.Contains(text, shown) || missing > len(text)-len(shown) || missing < len(text)-len(shown)-6 {
				t.Fatalf("%d missing of %q: %q", missing, text, got.Text)
			}
			if strings.Contains(text, "heron") && len(shown) > 2*len("heron ") && !strings.Contains(shown, "heron") {
				t.Fatalf("%q of %q", shown, text)
			}
			for _, word := range strings.Fields(shown)[1:] {
				if !strings.Contains(" "+strings.Join(lines, " ")+" ", " "+word+" ") {
					t.Fatalf("%q is no word of %q", word, text)
				}
			}
		}
	})
}
