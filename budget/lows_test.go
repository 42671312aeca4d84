package budget_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

// grown is the n-th prompt of a conversation that goes on, with some of every kind or, where the vocabulary is
// the model's own, without kinds.
func grown(n int, own bool) budget.Tally {
	if own {
		return budget.Tally{Exact: 3000 + 90*n, Messages: 10 + n}
	}
	return budget.Tally{Prose: 2000 + 60*n, Code: 700 + 20*n, Data: 300 + 10*n, Messages: 10 + n}
}

// after40 is a calibration after 40 honest reports.
func after40(model tokenizer, own bool, random *rand.Rand) budget.Calibration {
	var cal budget.Calibration
	for n := range 40 {
		cal = learn(cal, grown(n, own), model.count(grown(n, own), random))
	}
	return cal
}

// A new version of a server may count everything a little lower. That is found out after some alarms, learned, and
// then counted right.
func TestALowerCountIsTakenForTheTruth(t *testing.T) {
	for _, factor := range []float64{0.97, 0.95, 0.92, 0.90, 0.85, 0.70, 0.45} {
		for _, own := range []bool{false, true} {
			for _, noise := range []float64{0, 0.005} {
				t.Run(fmt.Sprintf("%.2f, own %v, noise %.3f", factor, own, noise), func(t *testing.T) {
					random := rand.New(rand.NewPCG(5, 6))
					model := tokenizers["like llama"]
					model.noise = noise
					cal := after40(model, own, random)
					alarms, last := 0, 0
					for n := range 100 {
						prompt := grown(40+n, own)
						reported := int(math.Round(factor * float64(model.count(prompt, random))))
						next, truncated := cal.Report(prompt, reported)
						if cal = next; truncated {
							alarms, last = alarms+1, n
						}
					}
					t.Logf("%d alarms, the last at %d", alarms, last)
					if alarms < 3 && factor < 0.95 {
						t.Errorf("%d alarms: a cut prompt would be taken for the truth as easily", alarms)
					}
					if alarms > 24 || last > 30 {
						t.Errorf("%d alarms, the last at %d", alarms, last)
					}
					prompt := grown(140, own)
					want := int(factor * float64(model.count(prompt, random)))
					count := counterWith(cal).Tokens(prompt)
					if relativeError(count, want) > 0.02 || count.Certainty != budget.Calibrated || count.Margin > 0.3 {
						t.Errorf("counts %+v, the server %d", count, want)
					}
				})
			}
		}
	}
}

// Prompts of all sizes and mixtures, as several sessions of one model have them.
func TestALowerCountOfMixedPrompts(t *testing.T) {
	for _, factor := range []float64{0.97, 0.95, 0.92, 0.90, 0.85} {
		random := rand.New(rand.NewPCG(5, 6))
		model := tokenizers["like llama"]
		var cal budget.Calibration
		for range 40 {
			prompt := somePrompt(random)
			cal = learn(cal, prompt, model.count(prompt, random))
		}
		alarms := 0
		for range 100 {
			prompt := somePrompt(random)
			next, truncated := cal.Report(prompt, int(factor*float64(model.count(prompt, random))))
			if cal = next; truncated {
				alarms++
			}
		}
		if alarms > 10 {
			t.Errorf("a factor of %.2f: %d alarms in 100 reports", factor, alarms)
		}
		t.Logf("a factor of %.2f: %d alarms in 100 reports", factor, alarms)
	}
}

// What is cut stays cut, however long it goes on.
func TestACutPromptGoesOnAlarming(t *testing.T) {
	const context = 4000
	for _, own := range []bool{false, true} {
		for name, cut := range map[string]func(n, count int) int{
			"to a constant count":            func(int, int) int { return context },
			"to a usual context":             func(int, int) int { return 4096 },
			"to one less":                    func(int, int) int { return 4095 },
			"to one of two contexts":         func(n, _ int) int { return 2048 + 2048*(n%2) },
			"to whole messages below it":     func(n, _ int) int { return context - 97*n%331 },
			"to whole messages, a large one": func(n, _ int) int { return context - 170*(n%7) },
			"by its first message":           func(_, count int) int { return count - 1200 },
			"by a third or by a half":        func(n, count int) int { return count * (3 + n%2) / 6 },
			"to nearly nothing":              func(_, count int) int { return count / 5 },
		} {
			random := rand.New(rand.NewPCG(8, 9))
			model := tokenizers["like llama"]
			model.noise = 0.002
			cal := after40(model, own, random)
			before := counterWith(cal).Tokens(grown(50, own))
			for n := range 100 {
				// Half the conversations do not grow: they are kept at the size of their window.
				prompt := grown(40+n%2*n, own)
				next, truncated := cal.Report(prompt, cut(n, model.count(prompt, random)))
				if cal = next; !truncated {
					t.Errorf("own %v, cut %s: no alarm at %d", own, name, n)
					break
				}
			}
			if after := counterWith(cal).Tokens(grown(50, own)); after != before {
				t.Errorf("own %v, cut %s: %+v became %+v", own, name, before, after)
			}
		}
	}
}

// Reports between the low ones end the row if they are of prompts as large and not as low.
func TestReportsBetweenLowOnes(t *testing.T) {
	for _, tt := range []struct {
		name   string
		size   int // of the prompt between, relative to the low one
		factor float64
		alarms bool
	}{
		{"a short one, as low", 40, 0.9, false},
		{"a short one, honest", 40, 1, false},
		{"one as large, as low", 1, 0.9, false},
		{"one as large, honest", 1, 1, true},
	} {
		random := rand.New(rand.NewPCG(8, 9))
		model := tokenizers["like llama"]
		model.noise = 0
		cal := after40(model, false, random)
		truncated := false
		for n := range 30 {
			long := grown(40+4*n, false)
			between := budget.Tally{Prose: (long.Prose + 100) / tt.size, Code: (long.Code + 40) / tt.size, Data: (long.Data + 20) / tt.size, Messages: 1 + long.Messages/tt.size}
			cal = learn(cal, between, int(tt.factor*float64(model.count(between, random))))
			cal, truncated = cal.Report(long, model.count(long, random)*9/10)
		}
		if truncated != tt.alarms {
			t.Errorf("%s: alarms at the end: %v", tt.name, truncated)
		}
	}
}

// The state outlives a restart after each report.
func TestLowReportsAreStored(t *testing.T) {
	for _, own := range []bool{false, true} {
		random := rand.New(rand.NewPCG(8, 9))
		model := tokenizers["like llama"]
		cal := after40(model, own, random)
		for n := range 60 {
			prompt := grown(40+n, own)
			reported := model.count(prompt, random) * 9 / 10
			again, err := budget.DecodeCalibration(string(cal.AppendJSON(nil)))
			if err != nil || again != cal {
				t.Fatalf("after %d reports: %v\n%s", n, err, cal.AppendJSON(nil))
			}
			next, truncated := cal.Report(prompt, reported)
			if other, same := again.Report(prompt, reported); other != next || same != truncated {
				t.Fatalf("after %d reports it learns otherwise", n)
			}
			if cal = next; len(cal.AppendJSON(nil)) > 4096 {
				t.Fatalf("it takes %d bytes", len(cal.AppendJSON(nil)))
			}
		}
	}
}

// A picture may be small or large; only the words around it tell a cut prompt.
func TestSmallPicturesAreNoCut(t *testing.T) {
	p, _ := budget.Known().Find("gpt-4o-mini")
	cal := budget.NewCalibration(p)
	for n := range 30 {
		picture := 85
		if n%3 == 0 {
			picture = 25_501
		}
		next, truncated := cal.Report(budget.Tally{Exact: 400 + n, Messages: 3, Images: 1}, 400+n+15+picture)
		if cal = next; truncated {
			t.Fatalf("report %d is taken for a cut prompt", n)
		}
	}
}

// The schema of a tool, as the provider writes it, is much shorter than its JSON: counted 1,581, reported 994.
func TestToolsInAnotherFormAreNoCut(t *testing.T) {
	p, _ := budget.Known().Find("gpt-4o")
	cal := budget.NewCalibration(p)
	for n := range 20 {
		prompt := budget.Tally{Exact: 60, Data: 1350, Messages: 3, Tools: 13}
		next, truncated := cal.Report(prompt, 994)
		if cal = next; truncated {
			t.Fatalf("report %d is taken for a cut prompt", n)
		}
		if count := budget.NewCounter(p, nil, false, cal).Tokens(prompt); n > 8 && relativeError(count, 994) > 0.02 {
			t.Errorf("after %d reports: %+v", n, count)
		}
	}
}

// A provider that drops the first messages of a conversation until the rest fits is found out at every prompt that it
// cuts by a tenth or more, and is never believed.
func TestDroppedMessagesGoOnAlarming(t *testing.T) {
	const context = 4096
	model := tokenizers["like llama"]
	model.noise = 0
	sum := func(messages []int) budget.Tally {
		t := budget.Tally{Exact: 300, Messages: 1 + len(messages)}
		for _, n := range messages {
			t.Exact += n
		}
		return t
	}
	for _, longest := range []int{30, 200, 600, 1500} {
		for seed := range uint64(10) {
			random := rand.New(rand.NewPCG(seed, 77))
			cal := after40(model, true, random)
			before := counterWith(cal).Tokens(grown(50, true)).Tokens
			var all []int
			for whole := 0; whole < 3*context; {
				all = append(all, 5+random.IntN(longest), 5+random.IntN(longest))
				whole = model.count(sum(all), random)
				kept, reported := all, whole
				for ; reported > context; reported = model.count(sum(kept), random) {
					kept = kept[1:]
				}
				next, truncated := cal.Report(sum(all), reported)
				if cal = next; !truncated && reported < whole*9/10 {
					t.Errorf("messages of up to %d tokens, seed %d: no alarm at %d of %d", longest, seed, reported, whole)
				}
			}
			if after := counterWith(cal).Tokens(grown(50, true)); relativeError(after, before) > 0.02 {
				t.Errorf("messages of up to %d tokens, seed %d: counted %d, then %d", longest, seed, before, after.Tokens)
			}
		}
	}
}
