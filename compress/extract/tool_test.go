package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress/extract"
)

func TestTool(t *testing.T) {
	call := func(id, text string) extract.Line {
		return extract.Line{Kind: extract.Call, Name: "find", ID: id, Text: text}
	}
	result := func(id, text string) extract.Line {
		return extract.Line{Kind: extract.Result, Name: "find", ID: id, Text: text}
	}
	for name, test := range map[string]struct {
		lines []extract.Line
		want  string
	}{
		"call":            {[]extract.Line{call("", `{"id": "K1", "limit": 3}`)}, "find(id=K1 limit=3)\n"},
		"call and result": {[]extract.Line{call("", `{"id": "K1"}`), result("", `{"total": 7}`)}, "find(id=K1): total=7\n"},
		"no arguments":    {[]extract.Line{call("", `{}`), result("", `{"total": 7}`)}, "find: total=7\n"},
		"without a name":  {[]extract.Line{{Kind: extract.Result, Text: "7"}}, "tool: 7\n"},
		"calls side by side": {[]extract.Line{
			call("a", `{"id": "K1"}`), call("b", `{"id": "K2"}`), result("b", `{"total": 7}`), result("a", `{"total": 8}`),
		}, "find(id=K2): total=7\nfind(id=K1): total=8\n"},
		"calls in turn": {[]extract.Line{
			call("", `{"id": "K1"}`), call("", `{"id": "K2"}`), result("", `{"total": 7}`), result("", `{"total": 8}`),
		}, "find(id=K1): total=7\nfind(id=K2): total=8\n"},
		"boilerplate": {[]extract.Line{result("", `{"a": null, "b": "", "c": false, "d": [], "e": {}, "f": "x1", "g": "--"}`)}, "find: f=x1\n"},
		"list":        {[]extract.Line{result("", `{"ids": ["K1", "K2"], "n": 3}`)}, "find: ids=K1,K2 n=3\n"},
		"bare list":   {[]extract.Line{result("", `["K1", 2, -3.5e2]`)}, "find: K1 2 -3.5e2\n"},
		"table": {[]extract.Line{result("", `[{"id": "K1", "n": 1}, {"id": "K2", "n": 2}, {"id": "K3", "m": 3}]`)},
			"find: id=K1 n=1; K2 2 id=K3 m=3\n"},
		"nested": {[]extract.Line{result("", `{"to": {"name": "Xanthe Pell", "zip": "8261AB"}, "at": "14:30"}`)},
			"find: name=Xanthe Pell zip=8261AB at=14:30\n"},
		"escapes": {[]extract.Line{result("", `{"a": "caf\u00e9 \"x\"", "b\nc": "K1"}`)}, "find: a=café \"x\" b c=K1\n"},
		"text in data": {[]extract.Line{result("", `{"id": "K1", "note": "The violin plays upstairs while the kettle boils. A falcon sits."}`)},
			"find: id=K1; The violin plays upstairs while the kettle boils; A falcon sits\n"},
		"text in an object": {[]extract.Line{result("", `{"x": {"id": "K1", "note": "The violin plays upstairs while the kettle boils again."}}`)},
			"find: id=K1; The violin plays upstairs while the kettle boils again\n"},
		"long value": {[]extract.Line{result("", `{"x": "`+strings.Repeat("長", 2000)+`"}`)}, "find: x=" + strings.Repeat("長", 840) + "…\n"},
		"long row": {[]extract.Line{result("", strings.Repeat("violin ", 60))},
			"find: " + strings.TrimSpace(strings.Repeat("violin ", 40)) + "\n  " + strings.TrimSpace(strings.Repeat("violin ", 20)) + "\n"},
		"output":   {[]extract.Line{result("", "=== RUN\nthe violin plays\n----\n\n\tat tx.go:3\n")}, "find: === RUN\n  the violin plays\n  at tx.go:3\n"},
		"no JSON":  {[]extract.Line{result("", `{"id": "K1", }`)}, "find: {\"id\": \"K1\", }\n"},
		"cut JSON": {[]extract.Line{result("", `{"id": "K1`)}, "find: {\"id\": \"K1\n"},
		"no comma": {[]extract.Line{result("", `[1 2]`)}, "find: [1 2]\n"},
		"two JSON": {[]extract.Line{result("", `{"id": 1} {"id": 2}`)}, "find: {\"id\": 1} {\"id\": 2}\n"},
		"too deep": {[]extract.Line{result("", strings.Repeat("[", 70)+"1"+strings.Repeat("]", 70))},
			"find: " + strings.Repeat("[", 70) + "1" + strings.Repeat("]", 70) + "\n"},
		"fenced code": {[]extract.Line{{Speaker: "Bram", Text: "Like this:\n```go\nthe := a\n```\nthen stop"}}, "Bram: Like this: the := a then stop\n"},
	} {
		s := extract.Summarise(test.lines, extract.Options{Budget: 1000, Count: fields})
		if diff := cmp.Diff(test.want, s.Text); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestArguments checks that a result says what it is of, even where that was said before.
func TestArguments(t *testing.T) {
	lines := []extract.Line{
		{Speaker: "Bram", Text: "Compare K100 with K200 and K300, which were sold in Urk and Kampen."},
		{Kind: extract.Call, Name: "get", Text: `{"order": "K200"}`},
		{Kind: extract.Result, Name: "get", Text: `{"payment": "pay_77", "a": "one", "b": "of", "c": "many", "d": "words", "e": "that", "f": "fill"}`},
	}
	s := extract.Summarise(lines, extract.Options{Budget: 16, Count: fields})
	if !strings.Contains(s.Text, "get(order=K200): payment=pay_77") {
		t.Errorf("%q", s.Text)
	}
	lines[1].Text = `{"query": "` + strings.Repeat("which of them is it and why ", 8) + `"}`
	s = extract.Summarise(lines, extract.Options{Budget: 20, Count: fields})
	if !strings.Contains(s.Text, "get: payment=pay_77") {
		t.Errorf("%q", s.Text)
	}
}

// TestFailure checks that what went wrong is kept, even where all its words were said before.
func TestFailure(t *testing.T) {
	lines := []extract.Line{
		{Speaker: "Bram", Text: "Open store/tx.go and store/log.go, then run the migration of 2031-03-06 in Kampen."},
		{},
	}
	for _, failure := range []string{"migration error store/log.go", "migration ENOENT store/log.go"} {
		lines[1] = extract.Line{Kind: extract.Result, Name: "run",
			Text: "opened store/tx.go\nopened store/log.go\n" + failure + "\nclosed store/log.go\n"}
		s := extract.Summarise(lines, extract.Options{Budget: 16, Count: fields})
		if !strings.Contains(s.Text, failure) {
			t.Errorf("%q", s.Text)
		}
	}
}

// TestLog checks that lines which differ in their numbers only do not crowd out the others.
func TestLog(t *testing.T) {
	var log strings.Builder
	for i := range 200 {
		fmt.Fprintf(&log, "2031-03-06T10:%02d:%02d worker %d: job K%04d done in %dms\n", i/60, i%60, i%7, 1000+i, 10+i*i%97)
		if i == 120 {
			log.WriteString("the disk of the second machine was replaced\n")
		}
	}
	lines := []extract.Line{{Kind: extract.Result, Name: "logs", Text: log.String()}}
	s := extract.Summarise(lines, extract.Options{Budget: 60, Count: fields})
	if !strings.Contains(s.Text, "disk") || strings.Count(s.Text, "worker") < 3 {
		t.Errorf("%s", s.Text)
	}
}
