package budget_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/budget/bpe"
)

const (
	english = "The quick brown fox jumps over the lazy dog, and nobody minds; \"really\", it said. In 2024 it was 3 of them.\n"
	golang  = "func (c *Counter) Text(text string) Tally {\n\tn := c.enc.Count(text)\n\tif c.exact {\n\t\treturn Tally{Exact: n}\n\t}\n\treturn weigh(text).split(n)\n}\n"
	python  = "def total(rows, key=None):\n    seen = set()\n    for row in rows:\n        seen.add(row)\n    return len(seen)\n"
	pretty  = "{\n  \"name\": \"llama3.2\",\n  \"sizes\": [1, 3, 11],\n  \"open\": true\n}\n"
	csv     = "12,alice,34.5\n13,bob,36.7\n14,carol,29.1\n"
	chinese = "敏捷的棕色狐狸跳过了懒狗，没有人介意。"
	russian = "Быстрая коричневая лиса перепрыгнула через ленивую собаку."
	emoji   = "😀😃😄😁😆😅🤣😂"
	accents = "Où est la bibliothèque ? Près de l’école, à côté du café – naïve idée.\n"
)

var base64 = strings.Repeat("TG9yZW0gaXBzdW0gZG9sb3Igc2l0IGFtZXQ", 8)

func TestTextIsToldApart(t *testing.T) {
	c := counterWith(budget.Calibration{})
	for _, tt := range []struct{ name, text, want string }{
		{"English", english, "prose"},
		{"accents", accents, "prose"},
		{"Markdown", "# Title\n\nSome *emphasis* in a paragraph that goes on and on.\n\n- one item\n- another item\n", "prose"},
		{"Go", golang, "code"},
		{"Python", python, "code"},
		{"indented words", "while (waiting) {\n    do nothing at all here\n\tand nothing there either\n}\n", "code"},
		{"indented prose", english + "    an indented line of a paragraph that goes on\n", "prose"},
		{"a fenced block", "```\nplain words in a fence\n```\n", "code"},
		{"a fence of JSON", "```json\nplain words in a fence\n```\n", "data"},
		{"JSON", pretty, "data"},
		{"minified JSON", `{"a":[1,2,3],"b":{"c":"d","e":null},"f":"a longer text in it"}`, "data"},
		{"CSV", csv, "data"},
		{"a log", "2026-01-02T10:11:12.345Z 1234 5678 ok\n", "data"},
		{"base64", base64, "data"},
		{"Chinese", chinese, "dense"},
		{"Russian", russian, "dense"},
		{"emoji", emoji, "dense"},
		{"what is no text", "\xf0\x9f\xe4", "dense"},
	} {
		got := c.Text(tt.text)
		share := map[string]int{"prose": got.Prose, "code": got.Code, "data": got.Data, "dense": got.Dense}[tt.want]
		all := got.Prose + got.Code + got.Data + got.Dense
		if all == 0 || share*10 < all*7 {
			t.Errorf("%s: %d of %d tokens are %s: %+v", tt.name, share, all, tt.want, got)
		}
	}
}

func TestMixedTextHasEveryKind(t *testing.T) {
	text := english + english + "```go\n" + golang + "```\n" + pretty + chinese + "\n"
	got := counterWith(budget.Calibration{}).Text(text)
	if got.Prose < 40 || got.Code < 40 || got.Data < 15 || got.Dense < 10 {
		t.Errorf("%+v", got)
	}
	after := counterWith(budget.Calibration{}).Text("```\ncode\n```\n" + strings.Repeat(english, 5))
	if after.Prose < 100 || after.Code > 20 {
		t.Errorf("a fence that ended goes on: %+v", after)
	}
}

// Whatever the text is, its kinds sum up to what the vocabulary says of it.
func TestKindsSumUp(t *testing.T) {
	c := counterWith(budget.Calibration{})
	pieces := rapid.SampledFrom([]string{english, golang, python, pretty, csv, chinese, russian, emoji, accents, base64, "\n", "```\n", " ", "\xff\xc3", "\xe2", ""})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(pieces, rapid.String()), 0, 8).Draw(t, "text"), "")
		got := c.Text(text)
		if min(got.Prose, got.Code, got.Data, got.Dense) < 0 {
			t.Fatalf("%+v", got)
		}
		if sum := got.Prose + got.Code + got.Data + got.Dense; sum != bpe.O200k().Count(text) || got.Exact != 0 {
			t.Fatalf("%+v is not %d", got, bpe.O200k().Count(text))
		}
		if again := c.Text(text); again != got {
			t.Fatalf("%+v, then %+v", got, again)
		}
	})
}

func TestCounterOfAProfile(t *testing.T) {
	// The two vocabularies differ over Chinese.
	o200k, cl100k := bpe.O200k().Count(chinese), bpe.Cl100k().Count(chinese)
	if o200k == cl100k {
		t.Fatal("the text does not tell them apart")
	}
	for _, tt := range []struct {
		name    string
		counter *budget.Counter
		exact   bool
		tokens  int
	}{
		{"o200k", budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, nil, false, budget.Calibration{}), true, o200k},
		{"cl100k", budget.NewCounter(budget.Profile{Tokenizer: budget.Cl100k}, nil, false, budget.Calibration{}), true, cl100k},
		{"unknown", budget.NewCounter(budget.Profile{}, nil, true, budget.Calibration{}), false, o200k},
		{"asked of a server that did not answer", budget.NewCounter(budget.Profile{Tokenizer: budget.AskOllama}, nil, true, budget.Calibration{}), false, o200k},
		{"given", budget.NewCounter(budget.Profile{Tokenizer: budget.AskOllama}, bpe.Cl100k(), true, budget.Calibration{}), true, cl100k},
		{"given, not exact", budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, bpe.Cl100k(), false, budget.Calibration{}), false, cl100k},
	} {
		tally := tt.counter.Text(chinese)
		count := tt.counter.Tokens(tally)
		if count.Tokens != tt.tokens || (count.Certainty == budget.Exact) != tt.exact || (count.Margin == 0) != tt.exact {
			t.Errorf("%s: %+v, %+v, want %d", tt.name, tally, count, tt.tokens)
		}
		// What a template adds is never certain.
		tally.Messages = 1
		if count := tt.counter.Tokens(tally); count.Certainty != budget.Estimated || count.Margin == 0 {
			t.Errorf("%s: %+v", tt.name, count)
		}
	}
}

func TestCounterTellsWhatItWasMadeOf(t *testing.T) {
	p, _ := budget.Known().Find("gpt-4o")
	cal := counted()
	c := budget.NewCounter(p, nil, false, cal)
	if diff := cmp.Diff(p, c.Profile()); diff != "" {
		t.Error(diff)
	}
	if c.Calibration() != cal {
		t.Error("another calibration")
	}
	if fresh := budget.NewCounter(p, nil, false, budget.Calibration{}); fresh.Calibration() != budget.NewCalibration(p) {
		t.Error("it does not start at the profile")
	}
}

// A provider writes the definition of a tool in a form of its own, whatever vocabulary it has.
func TestDataIsWeighed(t *testing.T) {
	p, _ := budget.Known().Find("gpt-4o")
	for name, c := range map[string]*budget.Counter{
		"exact": budget.NewCounter(p, nil, false, budget.Calibration{}), "calibrated": counterWith(budget.Calibration{}),
	} {
		if got, want := c.Data(pretty+english), (budget.Tally{Data: bpe.O200k().Count(pretty + english)}); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

func TestEmptyTextIsNothing(t *testing.T) {
	c := counterWith(budget.Calibration{})
	if got := c.Text(""); got != (budget.Tally{}) {
		t.Errorf("%+v", got)
	}
	if got := c.Tokens(budget.Tally{}); got != (budget.Count{Certainty: budget.Exact}) {
		t.Errorf("%+v", got)
	}
}
