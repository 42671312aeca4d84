package budget_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget"
)

// plain counts exactly, with a template of no tokens: what is given is what is counted.
func plain() *budget.Counter {
	return budget.NewCounter(budget.Profile{Tokenizer: budget.O200k}, nil, false, budget.Calibration{})
}

func window(t testing.TB, context int) budget.Window {
	t.Helper()
	w, err := budget.WindowOf(context)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestAccount(t *testing.T) {
	w := window(t, 8192)
	a := budget.NewAccount(w, plain(), map[budget.Part]budget.Tally{
		budget.System: {Exact: 500}, budget.Tools: {Exact: 100}, budget.Sticky: {Exact: 200}, budget.Goal: {Exact: 50},
		budget.Checkpoints: {Exact: 1000}, budget.Said: {Exact: 300}, budget.Pins: {Exact: 70},
		budget.Recent: {Exact: 2000}, budget.Late: {Exact: 30}, budget.Reserve: {Exact: 9999},
	})
	count := func(n int) budget.Count { return budget.Count{Tokens: n, Certainty: budget.Exact} }
	const prompt = 500 + 100 + 200 + 50 + 1000 + 300 + 70 + 2000 + 30
	want := budget.Account{
		Window: w,
		Lines: []budget.Line{
			{Part: budget.System, Count: count(500), Share: 1044},
			{Part: budget.Tools, Count: count(100), Share: 1044},
			{Part: budget.Sticky, Count: count(200), Share: 1044},
			{Part: budget.Goal, Count: count(50), Share: 1044},
			{Part: budget.Checkpoints, Count: count(1000), Share: 2089},
			{Part: budget.Said, Count: count(300), Share: 1393},
			{Part: budget.Pins, Count: count(70)},
			{Part: budget.Recent, Count: count(2000), Share: 6963 - 1044 - prompt + 2000},
			{Part: budget.Late, Count: count(30), Share: 209},
			{Part: budget.Reserve, Count: count(1044), Share: 1044},
		},
		Certainty: budget.Exact,
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	if got := []int{a.Prompt().Tokens, a.Total(), a.Free(), a.Available()}; !cmp.Equal(got, []int{prompt, prompt + 1044, 6963 - prompt - 1044, 6963 - 1044 - prompt + 2000 + 30}) {
		t.Errorf("%v", got)
	}
	if err := a.Check(""); err != nil {
		t.Error(err)
	}
}

func TestAccountWarns(t *testing.T) {
	w := window(t, 8192)
	for _, tt := range []struct {
		name  string
		parts map[budget.Part]budget.Tally
		want  string
	}{
		{"nothing", nil, ""},
		{"at its share", map[budget.Part]budget.Tally{budget.System: {Exact: 1000}, budget.Goal: {Exact: 44}}, ""},
		{"over it", map[budget.Part]budget.Tally{budget.System: {Exact: 1000}, budget.Goal: {Exact: 45}},
			"system prompt, tools, sticky files and goal block: 1,045 of 6,963 tokens, 1,044 is their share; the recent turns have less"},
		{"tools", map[budget.Part]budget.Tally{budget.Tools: {Exact: 1000}, budget.Sticky: {Exact: 45}}, "1,045 of 6,963"},
		{"checkpoints", map[budget.Part]budget.Tally{budget.Checkpoints: {Exact: 2090}}, "checkpoints: 2,090 of"},
		{"user messages", map[budget.Part]budget.Tally{budget.Said: {Exact: 1394}}, "user messages of compressed ranges: 1,394"},
		{"late block", map[budget.Part]budget.Tally{budget.Late: {Exact: 210}}, "late block: 210 of"},
		{"recent turns have what is left", map[budget.Part]budget.Tally{budget.Recent: {Exact: 5000}, budget.Pins: {Exact: 500}}, ""},
	} {
		got := strings.Join(budget.NewAccount(w, plain(), tt.parts).Warnings, "; ")
		if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestRecentTurnsHaveAFifthAtLeast(t *testing.T) {
	a := budget.NewAccount(window(t, 8192), plain(), map[budget.Part]budget.Tally{budget.Checkpoints: {Exact: 6000}})
	if got := a.Lines[7]; got.Part != budget.Recent || got.Share != 1393 {
		t.Errorf("%+v", got)
	}
	if a.Available() != 0 || a.Free() >= 0 {
		t.Errorf("available %d, free %d", a.Available(), a.Free())
	}
}

func TestNoTokenGoesMissing(t *testing.T) {
	a := budget.NewAccount(window(t, 8192), plain(), map[budget.Part]budget.Tally{"zebra": {Exact: 7}, "apple": {Exact: 5}})
	if a.Prompt().Tokens != 12 || a.Lines[9].Part != "apple" || a.Lines[10].Part != "zebra" || a.Lines[11].Part != budget.Reserve {
		t.Errorf("%+v", a.Lines)
	}
}

// The lines of an account add up to the count of the whole prompt, whatever is calibrated and rounded.
func TestLinesAddUp(t *testing.T) {
	c := counterWith(counted())
	w := window(t, 32768)
	all := []budget.Part{budget.System, budget.Tools, budget.Sticky, budget.Goal, budget.Checkpoints, budget.Said, budget.Pins, budget.Recent, budget.Late}
	small := rapid.IntRange(0, 3000)
	rapid.Check(t, func(t *rapid.T) {
		parts := map[budget.Part]budget.Tally{}
		var sum budget.Tally
		for _, part := range all {
			tally := budget.Tally{
				Prose: small.Draw(t, "prose"), Code: small.Draw(t, "code"), Data: small.Draw(t, "data"), Dense: small.Draw(t, "dense"),
				Messages: rapid.IntRange(0, 9).Draw(t, "messages"), Tools: rapid.IntRange(0, 3).Draw(t, "tools"),
			}
			parts[part] = tally
			sum = sum.Plus(tally)
		}
		a := budget.NewAccount(w, c, parts)
		whole := c.Tokens(sum)
		if a.Prompt() != whole {
			t.Fatalf("%+v, the whole prompt is %+v", a.Prompt(), whole)
		}
		for _, line := range a.Lines {
			if line.Count.Tokens < 0 {
				t.Fatalf("%+v", line)
			}
		}
		fits := whole.Upper()+w.Reserve <= w.Usable
		if err := a.Check("x"); (err == nil) != fits || a.Total()+a.Free() != w.Usable {
			t.Fatalf("fits is %v: %v", fits, err)
		}
	})
}

// Whoever fills a window part by part by their upper bounds never overfills it: but for rounding, that of the
// whole is at most the sum.
func TestUpperBoundsOfPartsHoldTheWhole(t *testing.T) {
	exact, _ := budget.Known().Find("gpt-4o")
	counters := []*budget.Counter{budget.NewCounter(exact, nil, false, budget.Calibration{}), counterWith(budget.Calibration{}), counterWith(counted()), counterWith(learned(tokenizers["like gemma"], 12))}
	message, text := budget.Tally{Messages: 1}, budget.Tally{Exact: 1000}
	if whole, sum := counters[0].Tokens(message.Plus(text)).Upper(), counters[0].Tokens(message).Upper()+1000; whole > sum+1 {
		t.Errorf("a message of text is %d, a message and a text %d", whole, sum)
	}
	number := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 5), rapid.IntRange(0, 3000))
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(counters).Draw(t, "counter")
		var whole budget.Tally
		sum, parts := 0, rapid.IntRange(1, 9).Draw(t, "parts")
		for range parts {
			part := budget.Tally{
				Exact: number.Draw(t, "exact"), Prose: number.Draw(t, "prose"), Code: number.Draw(t, "code"), Data: number.Draw(t, "data"), Dense: number.Draw(t, "dense"),
				Messages: rapid.IntRange(0, 9).Draw(t, "messages"), Calls: rapid.IntRange(0, 2).Draw(t, "calls"), Tools: rapid.IntRange(0, 3).Draw(t, "tools"), Images: rapid.IntRange(0, 1).Draw(t, "images"),
			}
			whole = whole.Plus(part)
			sum += c.Tokens(part).Upper()
		}
		if upper := c.Tokens(whole).Upper(); upper > sum+parts {
			t.Fatalf("%d, its parts %d", upper, sum)
		}
	})
}

func TestOverBudgetError(t *testing.T) {
	p, _ := budget.Known().Find("llama3.2")
	c := budget.NewCounter(p, nil, false, budget.Calibration{})
	a := budget.NewAccount(window(t, 2048), c, map[budget.Part]budget.Tally{
		budget.System: {Prose: 300, Messages: 1}, budget.Recent: {Prose: 2000, Messages: 1},
	})
	err := a.Check("compile prompt at turn 7")
	if !errors.Is(err, budget.ErrOverBudget) {
		t.Fatal(err)
	}
	var over *budget.OverBudgetError
	if !errors.As(err, &over) || over.Account.Free() != a.Free() {
		t.Fatal("the error has no account")
	}
	want := `over budget by 1,322 tokens: compile prompt at turn 7
  usable window: 1,741 of a context of 2,048
  system prompt: 335 (share 261)
  recent turns: 2,005 (share 683)
  reply reserve: 261
  margin, as the count is estimated: 462 (19.7 %)
  what to do: send the last message in smaller pieces, or use a model or a setting with a larger context`
	if got := err.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestOverBudgetErrorSaysWhatToDo(t *testing.T) {
	for part, want := range map[budget.Part]string{
		budget.System: "shorten the system prompt", budget.Tools: "offer fewer tools", budget.Sticky: "unload sticky files",
		budget.Goal: "close milestones", budget.Checkpoints: "merge checkpoints", budget.Said: "smaller pieces", budget.Pins: "unpin",
		budget.Recent: "smaller pieces", budget.Late: "recall less", "other": "what to do: use a model",
	} {
		a := budget.NewAccount(window(t, 2048), plain(), map[budget.Part]budget.Tally{part: {Exact: 5_000_000}})
		err := a.Check("")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "5,000,000") ||
			strings.Contains(err.Error(), "margin") || strings.Contains(err.Error(), "tokens:") {
			t.Errorf("%s: %v", part, err)
		}
	}
}
