package extract_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/compress/extract"
)

// TestCut shows the units of a text by what is kept where there is room for one only.
func TestCut(t *testing.T) {
	for name, test := range map[string]struct {
		text   string
		budget int
		want   string
	}{
		"sentence":     {"It was late. Liesbeth left Urk yesterday! We all slept.", 5, "Liesbeth left Urk yesterday"},
		"abbreviation": {"We slept. Liesbeth met Dr. Xanthe A. Pell yesterday. It rained.", 8, "Liesbeth met Dr. Xanthe A. Pell yesterday"},
		"list":         {"1. Sleep. 2. Liesbeth left Urk yesterday.", 6, "2. Liesbeth left Urk yesterday"},
		"line":         {"we all slept\nLiesbeth left Urk yesterday\nit rained", 5, "Liesbeth left Urk yesterday"},
		"dash":         {"we all slept - Liesbeth left Urk yesterday — it rained", 5, "Liesbeth left Urk yesterday"},
		"bracket":      {"we all slept (Liesbeth left Urk yesterday) it rained", 5, "(Liesbeth left Urk yesterday)"},
		"coordination": {"we all slept there, but Liesbeth left Urk yesterday", 6, "but Liesbeth left Urk yesterday"},
		"enumeration":  {"Liesbeth, and Pell, left Urk yesterday", 7, "Liesbeth, and Pell, left Urk yesterday"},
		"semicolon":    {"we all slept; Liesbeth left Urk yesterday; it rained", 5, "Liesbeth left Urk yesterday"},
		"detached":     {"we all slept . Liesbeth left Urk yesterday ! it rained .", 5, "Liesbeth left Urk yesterday"},
		"question":     {"Who slept? Did Liesbeth leave Urk on 14 March? Who?", 8, "Did Liesbeth leave Urk on 14 March?"},
		"apart":        {"who slept ? did Liesbeth leave Urk on 14 March ? who ?", 8, "did Liesbeth leave Urk on 14 March?"},
		"alternative":  {"we slept. Did Liesbeth leave Urk, or stay?", 8, "Did Liesbeth leave Urk, or stay?"},
		"unspaced":     {"今日は雨。Liesbethは2031年に港を出た。眠い。", 2, "Liesbethは2031年に港を出た。"},
		"long": {"we went on and on about this and that and it and them and us and so on and there was more to it " +
			"and Liesbeth left Urk yesterday", 6, "Liesbeth left Urk yesterday"},
	} {
		lines := []extract.Line{{Speaker: "Bram", Text: test.text}}
		s := extract.Summarise(lines, extract.Options{Budget: test.budget, Count: fields})
		if want := "Bram: " + test.want + "\n"; s.Text != want {
			t.Errorf("%s: %q, want %q", name, s.Text, want)
		}
	}
}
