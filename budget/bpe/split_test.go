package bpe

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget/bpe/internal/mixed"
)

// rules are the splitters by the name of their expression.
var rules = map[string]splitRule{
	"cl100k": likeCl100k, "qwen2": likeQwen2, "o200k": likeO200k, "tekken": likeTekken, "gpt-2": likeGPT2,
}

func pieces(rule splitRule, text string) []string {
	var all []string
	for c := characters(); text != ""; {
		n := rule.split(c, text)
		all = append(all, text[:n])
		text = text[n:]
	}
	return all
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		rule splitRule
		text string
		want string // pieces between bars
	}{
		{likeCl100k, "I'LL don't you'VE", "I|'LL| don|'t| you|'VE"},
		{likeCl100k, "x'ſt x'ſ", "x|'ſ|t| x|'ſ"},
		{likeCl100k, "12345 6", "123|45| |6"},
		{likeCl100k, "a  b   \n\n  c ", "a| | b|   \n\n| | c| "},
		{likeCl100k, "if(x){\r\n\r\n  y//\n/", "if|(x|){\r\n\r\n| | y|//\n|/"},
		{likeCl100k, "(\tx \t\tx", "(|\tx| \t|\tx"},
		{likeQwen2, "12345", "1|2|3|4|5"},
		{likeO200k, "HTTPServer getURLFor'S ABC'ſ'll", "HTTPServer| get|URLFor'S| ABC'ſ|'ll"},
		{likeO200k, "//\n/a \u0301B !\u0301a \u0301'd", "//\n/|a| \u0301|B| !\u0301|a| \u0301'd"},
		{likeO200k, "中ABc中AB", "中ABc中|AB"},
		{likeO200k, "\u0301A \n\u0301", "\u0301|A| \n|\u0301"},
		{likeTekken, "aB'S12", "a|B|'S|1|2"},
		{likeGPT2, "I'LL it's 123 4,\n\n b\n", "I|'|LL| it|'s| 123| 4|,|\n\n| b|\n"},
		{likeGPT2, "a   b \u00a0c", "a|  | b| |\u00a0|c"},
		{likeStarred, "ab 12x  3", "ab| |1|2|x|  |3"},
	} {
		if got := strings.Join(pieces(tt.rule, tt.text), "|"); got != tt.want {
			t.Errorf("%q:\ngot  %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

func TestSplitLikeExpression(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: there is nothing to watch")
	}
	for name, rule := range rules {
		rng := rand.New(rand.NewPCG(9, 9))
		for range 600 {
			text := string([]rune(mixed.Text(rng, rng.IntN(150))))
			if got, want := pieces(rule, text), referenceSplit(expressions[name], text); !slices.Equal(got, want) {
				t.Fatalf("%s %q:\ngot  %q\nwant %q", name, text, got, want)
			}
		}
	}
}

// Digits on their own come first, then what is between them is split as if it were a text.
func TestSplitDigitsFirst(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 10))
	for range 600 {
		text := string([]rune(mixed.Text(rng, rng.IntN(150))))
		var want []string
		for rest := text; rest != ""; {
			n := characters().runNot(rest, 0, number)
			want = append(want, referenceSplit(expressions["gpt-2"], rest[:n])...)
			if rest = rest[n:]; rest != "" {
				_, size := characters().at(rest, 0)
				want = append(want, rest[:size])
				rest = rest[size:]
			}
		}
		if got := pieces(likeStarred, text); !slices.Equal(got, want) {
			t.Fatalf("%q:\ngot  %q\nwant %q", text, got, want)
		}
	}
}
