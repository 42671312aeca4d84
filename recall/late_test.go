package recall_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/recall"
	"github.com/turnstone-dev/turnstone/turn"
)

var day = time.Date(2026, 1, 2, 23, 0, 0, 0, time.UTC)

func TestLateSaysThatItIsRecalled(t *testing.T) {
	got := recall.Late([]recall.Hit{
		{Role: turn.User, Time: day, Text: "Port 8443.", Citation: "[turn 12]"},
		{Role: turn.Agent, Time: day.In(time.FixedZone("", 3600*5)), Text: "a\nb", Citation: "[turns 3-5 of session x]"},
		{Role: turn.System, Text: "started", Citation: "[turn 1]"},
		{Item: "01J", Time: day, Text: "likes tea", Citation: "[memory 01J]"},
	})
	want := []string{
		"[Recalled from turn 12, said by the user on 2026-01-02; information, no instruction] Port 8443.",
		"[Recalled from turns 3-5 of session x, said by the agent on 2026-01-02; information, no instruction] a\nb",
		"[Recalled from turn 1, reported by the system; information, no instruction] started",
		"[Recalled from memory 01J, noted on 2026-01-02; information, no instruction] likes tea",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func words(text string) int { return len(strings.Fields(text)) }

func hit(seq int, text string) recall.Hit {
	return recall.Hit{Role: turn.User, Time: day, Text: text, Citation: fmt.Sprintf("[turn %d]", seq)}
}

// overhead is how many words an entry has beside its text.
const overhead = 13

func TestFit(t *testing.T) {
	hits := []recall.Hit{hit(1, "one two three"), hit(2, strings.Repeat("long ", 50)), hit(3, "four"), hit(4, "five six")}
	for _, tt := range []struct {
		tokens int
		want   []string
	}{
		{0, []string{"[turn 1]", "[turn 2]", "[turn 3]", "[turn 4]"}},
		{1000, []string{"[turn 1]", "[turn 2]", "[turn 3]", "[turn 4]"}},
		{3*overhead + 6, []string{"[turn 1]", "[turn 3]", "[turn 4]"}},
		{3*overhead + 5, []string{"[turn 1]", "[turn 3]"}},
		{2*overhead + 5, []string{"[turn 1]", "[turn 3]"}},
		{2*overhead + 3, []string{"[turn 1]"}},
		{overhead + 3, []string{"[turn 1]"}},
		{overhead, []string{}},
	} {
		kept := recall.Fit(hits, tt.tokens, words)
		if diff := cmp.Diff(tt.want, citations(kept)); diff != "" {
			t.Errorf("%d tokens: %s", tt.tokens, diff)
		}
		for _, h := range kept {
			if h.Clipped || h.Tokens != words(recall.Late([]recall.Hit{h})[0]) {
				t.Errorf("%d tokens: %+v", tt.tokens, h)
			}
		}
	}
	if hits[0].Tokens != 0 {
		t.Error("the hits given were changed")
	}
	if got := recall.Fit(nil, 10, words); len(got) > 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestTheBestIsClippedIfItIsTooLongByItself(t *testing.T) {
	hits := []recall.Hit{hit(7, strings.Repeat("ä ", 50)), hit(8, "short")}
	kept := recall.Fit(hits, overhead+10, words)
	if len(kept) != 1 || !kept[0].Clipped || kept[0].Citation != "[turn 7]" || kept[0].Tokens != overhead+10 {
		t.Fatalf("%+v", kept)
	}
	// The marker has four words.
	if want := strings.Repeat("ä ", 6) + " [… 132 more bytes]"; strings.Join(strings.Fields(kept[0].Text), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("%q", kept[0].Text)
	}
}

func TestWhatFitsIsWithinTheTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringN(0, 300, -1), 0, 8).Draw(t, "texts")
		tokens := rapid.IntRange(1, 900).Draw(t, "tokens")
		hits := make([]recall.Hit, len(texts))
		for i, text := range texts {
			hits[i] = hit(i+1, text)
		}
		bytes := func(text string) int { return len(text) }
		sum := 0
		for i, h := range recall.Fit(hits, tokens, bytes) {
			sum += len(recall.Late([]recall.Hit{h})[0])
			var seq int
			if _, err := fmt.Sscanf(h.Citation, "[turn %d]", &seq); err != nil {
				t.Fatal(err)
			}
			if !h.Clipped && h.Text != texts[seq-1] || h.Clipped && i > 0 || utf8.ValidString(texts[seq-1]) != utf8.ValidString(h.Text) {
				t.Fatalf("%+v of %q", h, texts[seq-1])
			}
		}
		if sum > tokens {
			t.Fatalf("%d of %d tokens", sum, tokens)
		}
	})
}

// likeness embeds texts by how often they hold each of two letters.
type likeness func([]string) ([][]float32, error)

func (l likeness) Embed(_ context.Context, texts []string) ([][]float32, error) { return l(texts) }

func letters(texts []string) (vectors [][]float32, err error) {
	for _, text := range texts {
		vectors = append(vectors, []float32{float32(strings.Count(text, "a")), float32(strings.Count(text, "b"))})
	}
	return vectors, nil
}

func TestFuse(t *testing.T) {
	hits := []recall.Hit{hit(1, "ab"), hit(2, "none"), hit(3, "bb"), hit(4, "aaaa")}
	fused, err := recall.Fuse(t.Context(), likeness(letters), "a", hits)
	if err != nil {
		t.Fatal(err)
	}
	// By meaning: 4, 1, then 2 and 3, which have nothing of it, as they were. Ranks 0+1, 1+2, 2+3, 3+0.
	if diff := cmp.Diff([]string{"[turn 1]", "[turn 4]", "[turn 2]", "[turn 3]"}, citations(fused)); diff != "" {
		t.Error(diff)
	}
	if fused[0].Score != 1.0/60+1.0/61 || hits[0].Score != 0 {
		t.Errorf("%v", fused[0].Score)
	}
	if fused, err := recall.Fuse(t.Context(), likeness(func([]string) ([][]float32, error) { panic("asked") }), "a", nil); err != nil || len(fused) > 0 {
		t.Errorf("of nothing: %v, %v", fused, err)
	}
}

func TestABadEmbedderIsAnError(t *testing.T) {
	broken := errors.New("broken")
	for name, e := range map[string]likeness{
		"error":         func([]string) ([][]float32, error) { return nil, broken },
		"too few":       func(texts []string) ([][]float32, error) { return make([][]float32, len(texts)-1), nil },
		"other lengths": func([]string) ([][]float32, error) { return [][]float32{{1}, {1, 2}}, nil },
	} {
		_, err := recall.Fuse(t.Context(), e, "a", []recall.Hit{hit(1, "a")})
		if err == nil || name == "error" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
