package budget_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// counted is a calibration that was made with whole numbers only, which no machine rounds.
func counted() budget.Calibration {
	var cal budget.Calibration
	for i := range 100 {
		prompt := budget.Tally{Prose: 37 * (i*i%101 + 5), Code: 53 * (i * 7 % 41), Data: 29 * (i * 11 % 31), Dense: i * 3 % 17 * 20, Messages: 1 + i%40, Calls: i % 3, Tools: i % 5}
		cal = learn(cal, prompt, (prompt.Prose*104+prompt.Code*111+prompt.Data*115+prompt.Dense*130)/100+27+5*prompt.Messages+11*prompt.Calls+18*prompt.Tools)
	}
	return cal
}

// lowered is one that knows of the model's own vocabulary that it is counted otherwise, and of a few low reports.
func lowered() budget.Calibration {
	var cal budget.Calibration
	report := func(n, percent int) {
		prompt := budget.Tally{Exact: 3000 + 90*n, Messages: 10 + n, Data: 40 * (n % 3)}
		cal = learn(cal, prompt, (prompt.Exact+prompt.Data+7+6*prompt.Messages)*percent/100)
	}
	for n := range 40 {
		report(n, 100)
	}
	for n := range 60 {
		report(40+n, 90)
	}
	report(101, 60)
	report(102, 60)
	return cal
}

// The golden files hold the bytes of one calibration each for ever, on every machine.
func TestCalibrationJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		cal  budget.Calibration
		seen int
	}{{"calibration", counted(), 100}, {"lowered", lowered(), 93}} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.cal.AppendJSON(nil)
			golden := filepath.Join("testdata", tt.name+".json")
			if *update {
				if err := os.WriteFile(golden, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if string(text) != string(want) {
				t.Errorf("got\n%s\nwant\n%s", text, want)
			}
			if len(text) > 4096 {
				t.Errorf("it takes %d bytes", len(text))
			}
			cal, err := budget.DecodeCalibration(string(want))
			if err != nil || cal.Seen() != tt.seen {
				t.Fatalf("%d reports, %v", cal.Seen(), err)
			}
			if again := cal.AppendJSON(nil); string(again) != string(want) {
				t.Errorf("read and written\n%s", again)
			}
			prompt := budget.Tally{Exact: 500, Prose: 2000, Messages: 5}
			if learn(cal, prompt, 2700) != learn(tt.cal, prompt, 2700) {
				t.Error("what was read back learns otherwise")
			}
		})
	}
}

func TestTheEmptyCalibrationIsStored(t *testing.T) {
	cal, err := budget.DecodeCalibration(string(budget.Calibration{}.AppendJSON(nil)))
	if err != nil || cal.Seen() != 0 || cal.Margin() != 0 {
		t.Errorf("%+v, %v", cal, err)
	}
}

func TestDecodeCalibrationRefuses(t *testing.T) {
	whole := string(budget.Calibration{}.AppendJSON(nil))
	for _, tt := range []struct{ name, old, new, field string }{
		{"nothing", whole, "", ""},
		{"no object", whole, "[]", ""},
		{"another field", `"seen":0`, `"sight":0`, "sight"},
		{"no version", `"version":1,`, ``, "version"},
		{"another version", `"version":1`, `"version":2`, "version"},
		{"negative reports", `"seen":0`, `"seen":-1`, "seen"},
		{"fractional reports", `"seen":0`, `"seen":0.5`, "seen"},
		{"few values", `"values":[1,`, `"values":[`, "values"},
		{"a value of zero", `"values":[1,`, `"values":[0,`, "values[0]"},
		{"a value too large", `"values":[1,1,1,1,`, `"values":[1,1,1,7,`, "values[3]"},
		{"a value that is text", `"values":[1,`, `"values":["1",`, "values[0]"},
		{"few guesses", `"guess":[1,`, `"guess":[`, "guess"},
		{"a wild guess", `"guess":[1,`, `"guess":[9,`, "guess[0]"},
		{"few spreads", `"spread":[0.010000000000000002,`, `"spread":[`, "spread"},
		{"a negative spread", `"spread":[0.`, `"spread":[-0.`, "spread[0]"},
		{"a large spread", `"spread":[0.`, `"spread":[9.`, "spread[0]"},
		{"a correlation above one", `"spread":[0.010000000000000002,0`, `"spread":[0.010000000000000002,0.5`, "spread[1]"},
		{"a negative error", `]}`, `],"errors":[-1]}`, "errors[0]"},
		{"a large error", `]}`, `],"errors":[0,2]}`, "errors[1]"},
		{"many errors", `]}`, `],"errors":[0` + strings.Repeat(",0", 64) + `]}`, "errors"},
		{"few of the own vocabulary", `]}`, `],"own":[1]}`, "own"},
		{"a value of it too large", `]}`, `],"own":[5` + strings.Repeat(",0", 10) + `]}`, "own[0]"},
		{"a spread of it too large", `]}`, `],"own":[1` + strings.Repeat(",0", 9) + `,2]}`, "own[10]"},
		{"a correlation of it above one", `]}`, `],"own":[1,0,1` + strings.Repeat(",0", 8) + `]}`, "own[2]"},
		{"half a low report", `]}`, `],"low":[100]}`, "low"},
		{"many low reports", `]}`, `],"low":[9,8` + strings.Repeat(",9,8", 16) + `]}`, "low"},
		{"a low report that is not low", `]}`, `],"low":[9,8,9,9]}`, "low[2]"},
		{"a low report of nothing", `]}`, `],"low":[9,0]}`, "low[0]"},
		{"a low report of too much", `]}`, `],"low":[1099511627777,5]}`, "low[0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(whole, tt.old, tt.new, 1)
			if text == whole {
				t.Fatalf("%s is not in %s", tt.old, whole)
			}
			_, err := budget.DecodeCalibration(text)
			var field *budget.FieldError
			if !errors.As(err, &field) || field.Name != tt.field {
				t.Errorf("got %v, want an error of %s", err, tt.field)
			}
		})
	}
}

func FuzzDecodeCalibration(f *testing.F) {
	f.Add(string(budget.Calibration{}.AppendJSON(nil)), 1000, 1100)
	f.Add(string(learned(tokenizers["noisy"], 70).AppendJSON(nil)), 10, 20)
	f.Fuzz(func(t *testing.T, text string, prose, reported int) {
		cal, err := budget.DecodeCalibration(text)
		if err != nil {
			return
		}
		prompt := budget.Tally{Prose: prose, Data: 7, Messages: 2}
		for range 3 {
			cal = learn(cal, prompt, reported)
		}
		count := counterWith(cal).Tokens(prompt)
		if count.Tokens < 0 || !(count.Margin >= 0 && count.Margin <= 8) {
			t.Fatalf("%+v", count)
		}
		if _, err := budget.DecodeCalibration(string(cal.AppendJSON(nil))); err != nil {
			t.Fatal(err)
		}
	})
}
