package extract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress/extract"
)

// TestRowsOfArguments checks that no element of a result is left out for a number, an ID or a path that the tool was
// called with or somebody said, as long as it says more than that.
func TestRowsOfArguments(t *testing.T) {
	const rows = 200
	list := func(format string) string {
		var all []string
		for i := range rows {
			all = append(all, strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for _, test := range []struct{ name, said, arguments, result, want string }{
		{"text", "", `{"n":7}`, `{"rows":` + list(`"row # of the table"`) + `}`, "row 7 of the table"},
		{"said", "There are 7 of them.", `{"n":1}`, `{"rows":` + list(`"row # of the table"`) + `}`, "row 7 of the table"},
		{"bare list", "", `{"n":7}`, list(`"row # of the table"`), "row 7 of the table"},
		{"another key", "", `{"n":7}`, `{"rows":` + list("#") + `}`, ",7,"},
		{"objects", "", `{"n":7}`, list(`{"row":#,"of":"table"}`), "; 7 table"},
		{"part of a number", "", `{"n":7}`, `{"rows":` + list(`"at #.5 percent"`) + `}`, "at 7.5 percent"},
		{"ID", "", `{"id":"K7"}`, `{"rows":` + list(`"K# is red"`) + `}`, "K7 is red"},
		{"path", "", `{"path":"tx7.go"}`, `{"rows":` + list(`"tx#.go ok"`) + `}`, "tx7.go ok"},
		{"output", "", `{"n":7}`, strings.NewReplacer("[", "", `"`, "", ",", "\n", "]", "").Replace(list(`"row # of the table"`)), "row 7 of the table"},
	} {
		var lines []extract.Line
		for i := range 3 { // the third time, the call says what two results have said
			id := fmt.Sprint("c", i)
			lines = append(lines,
				extract.Line{Speaker: "agent", Text: test.said},
				extract.Line{Kind: extract.Call, Name: "dump", ID: id, Text: test.arguments},
				extract.Line{Kind: extract.Result, Name: "dump", ID: id, Text: test.result})
		}
		s := extract.Summarise(lines, extract.Options{Budget: 150, Count: runes})
		if !strings.Contains(s.Text, test.want) || !strings.Contains(s.Text, strings.ReplaceAll(test.want, "7", "12")) {
			t.Errorf("%s: no %q in %s", test.name, test.want, s.Text)
		}
	}
}

// TestRepeatedNumber checks that what the call said in the same words and under the same key goes first.
func TestRepeatedNumber(t *testing.T) {
	lines := []extract.Line{
		{Kind: extract.Call, Name: "get", Text: `{"order":317}`},
		{Kind: extract.Result, Name: "get", Text: `{"order":317,"a":"one","total":84,"b":"two","c":"six","d":"ten","e":"red"}`},
	}
	s := extract.Summarise(lines, extract.Options{Budget: 6, Count: fields})
	if !strings.Contains(s.Text, "total=84") || strings.Contains(s.Text, ": order") {
		t.Errorf("%q", s.Text)
	}
}
