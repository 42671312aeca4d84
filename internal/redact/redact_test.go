package redact_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/redact"
)

func TestWordsAreWhatNobodyElseSays(t *testing.T) {
	var w redact.Words
	if w.Hit("anything") {
		t.Error("nothing was said, and yet it is hit")
	}
	w.Add("My password is hunter2, please keep the red file safe.")
	w.Spare("Where is the file? Is it safe to keep a red one?")
	for text, want := range map[string]bool{
		"the user's Passwords":          true,  // by its stem
		"HUNTER2":                       true,  // whatever its case
		"keep the red lamp":             true,  // three words in a row, each of which others say
		"a red file is safe":            false, // others say all of it
		"please say what it is":         false, // common words
		"is my":                         false, // too short to give anything away
		"":                              false,
		"{\"secret\":\"hunter2\\n\"}":   true,
		"unrelated words that are fine": false,
	} {
		if got := w.Hit(text); got != want {
			t.Errorf("%q is hit: %t, want %t", text, got, want)
		}
	}
	w.Spare("My password is hunter2, please keep the red file safe.")
	if w.Hit("hunter2") {
		t.Error("what others say too is hit")
	}
}

func TestJSONReplacesOnlyWhatItMay(t *testing.T) {
	fields := redact.Fields{Texts: []string{"title", "steps"}, Whole: []string{"data"}}
	hit := func(s string) bool { return s == "secret" || s == "42" }
	for doc, want := range map[string]string{
		`{"title":"secret"}`:                       `{"title":"[forgotten]"}`,
		`{"title": "secret" , "status": "secret"}`: `{"title":"[forgotten]","status":"secret"}`,
		`{"steps":["a","secret","secret"]}`:        `{"steps":["a","[forgotten]","[forgotten 2]"]}`,
		`{"title":{"status":"secret"}}`:            `{"title":{"status":"secret"}}`,
		`{"a":[{"title":"secret","n":42}]}`:        `{"a":[{"title":"[forgotten]","n":42}]}`,
		`{"data":{"x":["secret",42,true,null]}}`:   `{"data":{"x":["[forgotten]",0,true,null]}}`,
		`{"data":{"secret":1,"a":{"secret":2}}}`:   `{"data":{"[forgotten]":1,"a":{"[forgotten 2]":2}}}`,
		`{"secret":{"title":"fine"}}`:              `{"secret":{"title":"fine"}}`,
		`{"title":"s\u0065cret"}`:                  `{"title":"[forgotten]"}`,
		`{ "title" : "fine", "n": 1.50 }`:          `{ "title" : "fine", "n": 1.50 }`,
		`[ ]`:                                      `[ ]`,
	} {
		got, changed, err := redact.JSON(doc, fields, hit)
		if err != nil || got != want || changed != (doc != want) {
			t.Errorf("%s became %s (%t, %v), want %s", doc, got, changed, err, want)
		}
	}
	if _, _, err := redact.JSON(`{"title":`, fields, hit); err == nil {
		t.Error("what is no JSON is taken")
	}
}

func TestJSONLeavesNamesAroundATextAlone(t *testing.T) {
	split := func(field string) (before, said, after string) {
		if field == "title" {
			return field, "", ""
		}
		if rest, ok := strings.CutPrefix(field, "list"); ok {
			said, ends := strings.CutSuffix(rest, ".end")
			if ends {
				after = ".end"
			}
			return "list", said, after
		}
		return "", field, ""
	}
	fields := redact.Fields{Named: map[string]func(string) (before, said, after string){"field": split}}
	for doc, want := range map[string]string{
		`{"field":"title"}`:                 `{"field":"title"}`,
		`{"field":"list"}`:                  `{"field":"list"}`,
		`{"field":"list[a title]"}`:         `{"field":"list[forgotten]"}`,
		`{"field":"list[a title].end"}`:     `{"field":"list[forgotten].end"}`,
		`{"field":"list[forgotten].end"}`:   `{"field":"list[forgotten].end"}`,
		`{"field":"list[forgotten 12]"}`:    `{"field":"list[forgotten 12]"}`,
		`{"field":"list[forgotten a] b]"}`:  `{"field":"list[forgotten]"}`,
		`{"field":"said"}`:                  `{"field":"[forgotten]"}`,
		`{"field":"[said]"}`:                `{"field":"[forgotten]"}`,
		`{"a":[{"field":"list[a]"}],"b":1}`: `{"a":[{"field":"list[forgotten]"}],"b":1}`,
	} {
		for _, doc := range []string{doc, want} {
			got, changed, err := redact.JSON(doc, fields, func(text string) bool { return text != "" && !redact.IsMark(text) })
			if err != nil || got != want || changed != (doc != want) {
				t.Errorf("%s became %s (%t, %v), want %s", doc, got, changed, err, want)
			}
		}
	}
}

func TestSaysIsWhatTextsSay(t *testing.T) {
	hit := func(s string) bool { return s == "secret" || s == "42" }
	for doc, want := range map[string]bool{
		`{"any":"secret"}`:              true,
		`{"any":[{"x":"s\u0065cret"}]}`: true,
		`"secret"`:                      true,
		`{"data":{"secret":1}}`:         true,
		`{"data":42}`:                   true,
		`{"secret":"fine"}`:             false, // whoever wrote the document named it so
		`{"any":42}`:                    false, // how much there is of something
		`{}`:                            false,
	} {
		if got, err := redact.Says(doc, []string{"data"}, hit); err != nil || got != want {
			t.Errorf("%s says it: %t, %v", doc, got, err)
		}
	}
	if _, err := redact.Says(`{"any":`, nil, hit); err == nil {
		t.Error("what is no JSON is taken")
	}
	if !redact.IsMark(redact.Mark) || !redact.IsMark("[forgotten 2]") || redact.IsMark("") || redact.IsMark("forgotten") ||
		redact.IsMark("[forgotten password] hunter2") || redact.IsMark("[forgotten a]") || redact.IsMark("[forgotten") {
		t.Error("marks are not known from texts")
	}
}
