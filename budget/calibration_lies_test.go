package budget_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/budget"
)

// learned is a calibration after some honest reports.
func learned(model tokenizer, reports int) budget.Calibration {
	random := rand.New(rand.NewPCG(1, 2))
	cal := budget.Calibration{}
	for range reports {
		prompt := somePrompt(random)
		cal = learn(cal, prompt, model.count(prompt, random))
	}
	return cal
}

func TestReportRefusesWhatCannotBeTrue(t *testing.T) {
	prompt := budget.Tally{Prose: 5000, Code: 1000, Messages: 10}
	cal := learned(tokenizers["like llama"], 50)
	honest := counterWith(cal).Tokens(prompt).Tokens
	for _, tt := range []struct {
		name      string
		prompt    budget.Tally
		reported  int
		truncated bool
	}{
		{"no report", prompt, 0, false},
		{"a negative report", prompt, -5, false},
		{"an absurd report", prompt, math.MaxInt, false},
		{"a hundredfold report", prompt, 100 * honest, false},
		{"a cut prompt", prompt, honest / 2, true},
		{"a prompt cut to a usual context", budget.Tally{Prose: 4200, Messages: 1}, 4096, true},
		{"a prompt cut to one less", budget.Tally{Prose: 4200, Messages: 1}, 4095, true},
		{"a prompt with a picture, cut to a usual context", budget.Tally{Prose: 3000, Messages: 1, Images: 2}, 4096, true},
		{"a prompt with a picture, its words cut", budget.Tally{Prose: 4200, Messages: 1, Images: 1}, 3000, true},
		{"an empty prompt", budget.Tally{}, 100, false},
		{"a negative prompt", budget.Tally{Prose: -5, Code: 100}, 100, false},
		{"an absurd prompt", budget.Tally{Prose: math.MaxInt}, 100, false},
	} {
		got, truncated := cal.Report(tt.prompt, tt.reported)
		if truncated != tt.truncated {
			t.Errorf("%s: truncated %v", tt.name, truncated)
		}
		if got.Seen() != cal.Seen() || counterWith(got).Tokens(prompt) != counterWith(cal).Tokens(prompt) {
			t.Errorf("%s was learned from", tt.name)
		}
	}
	if learn(cal, prompt, honest) == cal || cal.Seen() != 50 {
		t.Error("an honest report was not learned from")
	}
}

// A provider that drops the front of long prompts does not teach that they are short.
func TestTruncationDoesNotPoison(t *testing.T) {
	const context = 4096
	model := tokenizers["like llama"]
	random := rand.New(rand.NewPCG(7, 7))
	clean, poisoned := budget.Calibration{}, budget.Calibration{}
	for range 200 {
		prompt := somePrompt(random)
		reported := model.count(prompt, random)
		if reported < context {
			clean = learn(clean, prompt, reported)
		}
		poisoned = learn(poisoned, prompt, min(reported, context-1))
	}
	for range 200 {
		prompt := somePrompt(random)
		want, got := counterWith(clean).Tokens(prompt), counterWith(poisoned).Tokens(prompt)
		if off := math.Abs(float64(want.Tokens-got.Tokens)) / float64(want.Tokens); off > 0.01 {
			t.Fatalf("%+v: %+v, without the cut prompts %+v", prompt, got, want)
		}
	}
}

func TestOneLieChangesLittle(t *testing.T) {
	prompt := budget.Tally{Prose: 5000, Code: 1000, Messages: 10}
	cal := learned(tokenizers["like llama"], 60)
	honest := counterWith(cal).Tokens(prompt).Tokens
	after := counterWith(learn(cal, prompt, 5*honest)).Tokens(prompt)
	if off := relativeError(after, honest); off > 0.03 {
		t.Errorf("one report of five times the truth moved the count by %.1f %%", 100*off)
	}
}

// A provider that keeps on lying within reason is believed within bounds.
func TestWhatIsLearnedStaysInBounds(t *testing.T) {
	prompt := budget.Tally{Prose: 1000, Messages: 1}
	for _, times := range []int{7, 70} {
		cal := budget.Calibration{}
		for i := range 500 {
			cal = learn(cal, prompt, min(1000*times, 1100+100*i))
		}
		if _, err := budget.DecodeCalibration(string(cal.AppendJSON(nil))); err != nil {
			t.Error(err)
		}
		if got := counterWith(cal).Tokens(budget.Tally{Prose: 100_000}).Tokens; got > 400_000 {
			t.Errorf("reports of %d times the tokens: %d", times, got)
		}
	}
}

// A few tokens more or less in a prompt of twenty are the template's and say nothing about long ones.
func TestShortPromptsTeachLittle(t *testing.T) {
	long := budget.Tally{Prose: 10_000, Messages: 1}
	cal := budget.Calibration{}
	for range 40 {
		cal = learn(cal, budget.Tally{Prose: 12, Messages: 1}, 29)
	}
	if off := relativeError(counterWith(cal).Tokens(long), 10_011); off > 0.02 {
		t.Errorf("moved by %.1f %%", 100*off)
	}
}

// What was only ever seen together is known together.
func TestMarginKnowsWhatGoesTogether(t *testing.T) {
	both := budget.Tally{Prose: 2000, Dense: 2000, Messages: 2}
	cal := budget.Calibration{}
	for range 60 {
		cal = learn(cal, both, 4500)
	}
	c := counterWith(cal)
	together, alone := c.Tokens(both).Margin, c.Tokens(budget.Tally{Dense: 4000, Messages: 2}).Margin
	if together > 0.02 || alone < 5*together {
		t.Errorf("margin %.3f together, %.3f alone", together, alone)
	}
}

// A new version of a server may wrap messages otherwise.
func TestCalibrationFollowsANewTemplate(t *testing.T) {
	model := tokenizers["like llama"]
	cal := learned(model, 100)
	model.message, model.prompt = 9, 60
	random := rand.New(rand.NewPCG(3, 3))
	for range 150 {
		prompt := somePrompt(random)
		cal = learn(cal, prompt, model.count(prompt, random))
	}
	model.noise = 0
	prompt := budget.Tally{Prose: 300, Messages: 40}
	count, want := counterWith(cal).Tokens(prompt), model.count(prompt, random)
	if relativeError(count, want) > 0.08 {
		t.Errorf("counts %d, the server %d", count.Tokens, want)
	}
}

func TestExactTokensAreNotWeighed(t *testing.T) {
	cal := learned(tokenizers["like an old"], 50)
	c := counterWith(cal)
	if got, want := c.Tokens(budget.Tally{Exact: 1234}), (budget.Count{Tokens: 1234, Certainty: budget.Exact}); got != want {
		t.Errorf("%+v", got)
	}
	// What the template adds is learned all the same.
	cal = budget.Calibration{}
	for range 30 {
		cal = learn(cal, budget.Tally{Exact: 1000, Messages: 10}, 1000+7+10*6)
	}
	got := counterWith(cal).Tokens(budget.Tally{Exact: 2000, Messages: 10})
	if relativeError(got, 2067) > 0.003 || got.Certainty != budget.Calibrated {
		t.Errorf("%+v", got)
	}
}

func TestCalibrationStartsAtTheProfile(t *testing.T) {
	p := budget.Profile{Template: budget.Template{Prompt: 3, Message: 4, Call: 5, Tool: 6, Image: 700}}
	prompt := budget.Tally{Prose: 100, Code: 10, Data: 20, Dense: 30, Messages: 2, Calls: 3, Tools: 4, Images: 5}
	const want = 160 + 3 + 8 + 15 + 24 + 3500
	for name, cal := range map[string]budget.Calibration{"none": {}, "the profile's": budget.NewCalibration(p)} {
		got := budget.NewCounter(p, nil, false, cal).Tokens(prompt)
		if got.Tokens != want || got.Certainty != budget.Estimated || got.Margin <= 0 {
			t.Errorf("%s: %+v, want %d", name, got, want)
		}
	}
}

func TestCertaintyComesWithReports(t *testing.T) {
	prompt := budget.Tally{Prose: 1000, Messages: 3}
	var cal budget.Calibration
	for n := range 20 {
		count := counterWith(cal).Tokens(prompt)
		if calibrated := count.Certainty == budget.Calibrated; calibrated != (n >= 8) {
			t.Errorf("after %d reports: %+v", n, count)
		}
		cal = learn(cal, prompt, 1130)
	}
	learned := counterWith(cal).Tokens(prompt)
	unseen := counterWith(cal).Tokens(budget.Tally{Dense: 1000, Messages: 3})
	if learned.Margin > 0.03 || unseen.Margin < 0.3 {
		t.Errorf("margin of what was seen %.3f, of what never was %.3f", learned.Margin, unseen.Margin)
	}
	if cal.Margin() > 0.02 {
		t.Errorf("measured margin %.3f", cal.Margin())
	}
}

func drawTally(t *rapid.T) budget.Tally {
	number := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 5000), rapid.IntRange(-10, 1<<41), rapid.Int())
	var n [9]int
	for i := range n {
		n[i] = number.Draw(t, "n")
	}
	return budget.Tally{Exact: n[0], Prose: n[1], Code: n[2], Data: n[3], Dense: n[4], Messages: n[5], Calls: n[6], Tools: n[7], Images: n[8]}
}

// Whatever is reported, counts stay numbers within bounds, and what is stored can be read back.
func TestCalibrationHoldsOverRandomReports(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var cal budget.Calibration
		steps := rapid.IntRange(1, 40).Draw(t, "steps")
		for range steps {
			cal = learn(cal, drawTally(t), rapid.OneOf(rapid.IntRange(1, 20000), rapid.Int()).Draw(t, "reported"))
		}
		again, err := budget.DecodeCalibration(string(cal.AppendJSON(nil)))
		if err != nil {
			t.Fatal(err)
		}
		prompt := drawTally(t)
		count := counterWith(cal).Tokens(prompt)
		if count.Tokens < 0 || count.Tokens > 1<<40 || !(count.Margin >= 0 && count.Margin <= 8) || count.Upper() < count.Tokens {
			t.Fatalf("%+v, upper %d", count, count.Upper())
		}
		if other := counterWith(again).Tokens(prompt); other != count {
			t.Fatalf("%+v, read back %+v", count, other)
		}
		if !(cal.Margin() >= 0 && cal.Margin() <= 1) {
			t.Fatalf("margin %g", cal.Margin())
		}
	})
}
