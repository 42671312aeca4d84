package compress_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
)

// TestLiteralsAreWholeWords says when a literal that matters is in a summary.
func TestLiteralsAreWholeWords(t *testing.T) {
	talk := strings.Repeat("Nothing of interest happened in the harbour for a while. ", 30)
	for _, tt := range []struct {
		literal string
		holds   []string
		lacks   []string
	}{
		{"4711", []string{"4711", "at 4711.", "(4711)", "4711, 4712", "port=4711", "47110 or 4711", "4711.5, 4711 or 4711/2"}, []string{"47110", "14711", "4711.5", "x_4711", "4711/2"}},
		{"42", []string{"42", "at 42.", "421 or 42"}, []string{"4", "421", "24"}},
		{"--dry-run", []string{"--dry-run", "(--dry-run)", "---dry-run"}, []string{"x--dry-run", "--dry-runs", "-dry-run", "dry-run"}},
		{"öl/a.go", []string{"öl/a.go", "„öl/a.go“"}, []string{"Öl/a.go", "öl/a.go日", "日öl/a.go", "öl/a"}},
		{"src/a.go", []string{"src/a.go", "`src/a.go`", "src/a.go:", "see src/a.go."}, []string{"src/a.gox", "lib/src/a.go", "src/a", "src/a.go.bak"}},
		{"maxInflight", []string{"maxInflight", "maxInflight=3", "\"maxInflight\""}, []string{"MaxInflight", "maxInflights", "xmaxInflight", "maxInflightü"}},
		{"https://example.com/x", []string{"https://example.com/x", "<https://example.com/x>"}, []string{"https://example.com/xy", "https://example.com/x/y"}},
	} {
		r := request((&log{}).user("See "+tt.literal+" please").agent(talk).agent("done"), 200)
		check := func(text string, want bool) {
			t.Helper()
			for _, summary := range []string{"The harbour: " + text, text + " in the harbour"} {
				if v := compress.Verify(r, summary); (len(v.Literals) == 0) != want {
					t.Errorf("%q in %q: missing %q", tt.literal, summary, v.Literals)
				}
			}
		}
		for _, text := range tt.holds {
			check(text, true)
		}
		for _, text := range tt.lacks {
			check(text, false)
		}
	}
}

// TestSentences says where a sentence ends, by the decisions that are found in a text.
func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"We chose v1.2.3 of lib.so today. It rains.":    "We chose v1.2.3 of lib.so today.",
		"It rains! We chose red! It snows.":             "We chose red!",
		"One line\nWe chose red\nanother":               "We chose red",
		"1. We chose red.":                              "We chose red.",
		"2) We chose red":                               "We chose red",
		"2026 was when we chose red.":                   "2026 was when we chose red.",
		"## We chose red":                               "We chose red",
		"> * \"We chose red":                            "We chose red",
		"雨です。We chose red。雪です。":                         "We chose red。",
		"We  chose\tred, and no more.":                  "We chose red, and no more.",
		"Long ago we chose red... then came the winter": "Long ago we chose red...",
	} {
		s := (&log{}).agent(text).source()
		facts := s.Facts()
		if len(facts) != 1 || facts[0].Text != want {
			t.Errorf("%q: %+v, want %q", text, facts, want)
		}
	}
}

// TestDecisionsInOtherWords says how far a summary may go from the words of a decision.
func TestDecisionsInOtherWords(t *testing.T) {
	talk := strings.Repeat("Nothing of interest happened in the harbour for a while. ", 30)
	for _, tt := range []struct {
		decision string
		tells    []string
		fails    []string
	}{
		{
			"Store sessions in encrypted cookies",
			[]string{
				"Store sessions in encrypted cookies", "Sessions are stored in encrypted cookies.", "The harbour is calm; encrypted cookies will store the sessions",
				"- STORE SESSIONS IN ENCRYPTED COOKIES",
				"Do not use Redis; store sessions in encrypted cookies", "No Redis. Store sessions in encrypted cookies. No files.",
			},
			[]string{
				"Store sessions in cookies", "Do not store sessions in encrypted cookies", "Sessions are stored.\nCookies are encrypted.", "Store sessions in encrypted files without cookies",
				"Sessions", "",
			},
		},
		{
			"Never deploy on Friday",
			[]string{"Never deploy on Friday", "Deploying on Friday: never"},
			[]string{"Deploy on Friday", "Deploy only on Friday", "Never deploy"},
		},
		{
			"Let it be as it is",
			[]string{"Let it be as it is", "So: let it  be as it is."},
			[]string{"It is", "as it is let it be"},
		},
	} {
		r := request((&log{}).agent("[DECISION] "+tt.decision).agent(talk), 200)
		for want, texts := range map[bool][]string{true: tt.tells, false: tt.fails} {
			for _, text := range texts {
				if v := compress.Verify(r, "The harbour was quiet.\n"+text); (len(v.Facts) == 0) != want {
					t.Errorf("%q tells %q: %v, want %v", text, tt.decision, !want, want)
				}
			}
		}
	}
}

// TestSummariesGrowWithTheirBudget holds that more room is used, and never more than there is.
func TestSummariesGrowWithTheirBudget(t *testing.T) {
	l := work(4000)
	last := 0
	for _, limit := range []int{25, 50, 100, 200, 400, 800, 1600} {
		r := request(l, limit)
		summary, receipt, err := compress.Run(t.Context(), nil, r, compress.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wantVerified(t, r, summary)
		n := count(summary)
		if n > limit || n < limit*3/5 || n <= last || int64(n) != receipt.After {
			t.Errorf("%d of %d tokens, %d before", n, limit, last)
		}
		last = n
	}
}

// TestEveryLevelKeepsTheDecisions makes a checkpoint of the same turns at each level.
func TestEveryLevelKeepsTheDecisions(t *testing.T) {
	w := window(t, 8192)
	l := story()
	for range 40 {
		l.agent("The sun shone on the harbour while boats came and went, as they do. " + strings.Repeat("Gulls were seen. ", 10))
	}
	for level := compress.Ultra; level <= compress.Detailed; level++ {
		r := request(l, compress.Cap(level, w, 1024))
		summary, _, err := compress.Run(t.Context(), nil, r, compress.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"Decided: Use JWT for authentication\n", "Decided: We decided to keep refresh tokens in Redis on port 6380.\n", "Next: Write the tests for expiry\n", "Files: src/auth/jwt.ts\n",
			"4711", "validateToken", "src/auth/login.ts",
		} {
			if !strings.Contains(summary, want) {
				t.Errorf("%v: %q is not in %s", level, want, summary)
			}
		}
		if strings.Contains(summary, "user:") || strings.Contains(summary, "What about tests") {
			t.Errorf("%v: the user's words are cut up in %s", level, summary)
		}
	}
}

// TestTextsAreComparedPlain says what does not matter when a fact is looked for word for word.
func TestTextsAreComparedPlain(t *testing.T) {
	talk := strings.Repeat("Nothing of interest happened in the harbour for a while. ", 30)
	r := request((&log{}).agent(talk).agent("Is ‘Müller’s’ “ÄRGER Ⱥ” of\tno  use?"), 200)
	for text, want := range map[string]bool{
		"Is ‘Müller’s’ “ÄRGER Ⱥ” of no use?":           true,
		"is 'müller's' \"ärger ⱥ\" of no use?":         true,
		"IS ’MÜLLER‘S’ ”ärger Ⱥ“\u00a0of\u2003no use?": true,
		"Is 'Müller's' \"ÄRGER Ⱥ\" of\n no use?":       true,
		"Is 'Müller's' \"ARGER Ⱥ\" of no use?":         false,
		"Is 'Müller's' ÄRGER Ⱥ of no use?":             false,
		"Is 'Müller's' \"ÄRGER Ⱥ\" ofno use?":          false,
		"Is 'Müllers' \"ÄRGER Ⱥ\" of no use?":          false,
	} {
		if v := compress.Verify(r, "The harbour:\n"+text); (len(v.Facts) == 0) != want {
			t.Errorf("%q: missing %+v", text, v.Facts)
		}
	}
	r.Source = (&log{}).agent(talk).agent("  \n Is it of use?").source()
	if v := compress.Verify(r, "\n I'm sorry, I cannot do that. Is it of use?"); len(v.Facts) != 0 || !strings.Contains(strings.Join(v.Problems, "\n"), "an excuse") {
		t.Errorf("%+v", v)
	}
}

// TestPhrasesAreWholeWords says where a phrase that tells a decision may stand.
func TestPhrasesAreWholeWords(t *testing.T) {
	for text, want := range map[string]bool{
		"we chose red":                true,
		"So (we chose) red":           true,
		"In 2026we chose red":         true,
		"Über_we chose red":           true,
		"It is what we chose":         true,
		"Approved:red":                true,
		"It was approved:":            true,
		"Owe chose red":               false,
		"we chosen red":               false,
		"we chosen red, and we chose": true,
		"disapproved:red":             false,
	} {
		s := (&log{}).agent(text).source()
		if facts := s.Facts(); (len(facts) > 0) != want {
			t.Errorf("%q: %+v", text, facts)
		}
	}
}
