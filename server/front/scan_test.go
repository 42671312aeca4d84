package front

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestValueEnds(t *testing.T) {
	deep := strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth)
	for _, test := range []struct {
		data string
		at   int
		want string // the value, or what the error says
	}{
		{`"a" `, 0, `"a"`},
		{`"a\"b",`, 0, `"a\"b"`},
		{`"a\\",1`, 0, `"a\\"`},
		{`17, 18`, 0, `17`},
		{`17, 18`, 4, `18`},
		{`true}`, 0, `true`},
		{`{"a":[1,{"b":"]"}]}]`, 0, `{"a":[1,{"b":"]"}]}`},
		{deep, 0, deep},
		{"[" + deep + "]", 0, "less nesting"},
		{`[}`, 0, "offset 1: expected the other bracket"},
		{`[1`, 0, "offset 2: expected a closing bracket"},
		{`"a`, 0, "the end of a string"},
		{`["a`, 0, "the end of a string"},
		{`,`, 0, "offset 0: expected a value"},
		{``, 0, "offset 0: expected a value"},
	} {
		end, err := value([]byte(test.data), test.at)
		if err != nil {
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%.40s at %d: %v, want %.40s", test.data, test.at, err, test.want)
			}
		} else if got := test.data[test.at:end]; got != test.want {
			t.Errorf("%.40s at %d: %.40s, want %.40s", test.data, test.at, got, test.want)
		}
	}
}

func TestMembers(t *testing.T) {
	for data, want := range map[string]string{
		` { } `:                                "",
		`{"a":1}`:                              "a=1;",
		" {\t\"a\" :\r\n[1, 2] , \"b\":\"}\"}": `a=[1, 2];b="}";`,
		`{"\u0061":null,"a":2}`:                "a=null;a=2;",
		`[]`:                                   "offset 0: expected an object",
		`{"a":1} x`:                            "offset 8: expected nothing more",
		`{"a" 1}`:                              "offset 5: expected a colon",
		`{a:1}`:                                "offset 1: expected a string",
		`{"a":1,}`:                             "offset 7: expected a string",
		`{"a":1 "b":2}`:                        "offset 7: expected a comma or a closing bracket",
		`{"a":1`:                               "offset 6: expected a comma or a closing bracket",
		`{"\x":1}`:                             "offset 1: invalid character",
	} {
		got, err := walked([]byte(data))
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

func walked(data []byte) (seen string, err error) {
	err = members(data, func(name string, at int) (int, error) {
		end, err := value(data, at)
		if err == nil {
			seen += name + "=" + string(data[at:end]) + ";"
		}
		return end, err
	})
	return seen, err
}

// FuzzScan holds the scanners against encoding/json: whatever comes they do not panic, and what is an object there is one
// here, with the same names and values.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"]\\"}],"c":"\""}`, ` {"a" : null , "a":{}} `, `{"a":"\\\\\""}`, `[1]`, `{"a":1}}`, `{"`, `{"a":[}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := map[string]json.RawMessage{}
		depth := 0
		err := members(data, func(name string, at int) (int, error) {
			end, err := value(data, at)
			if err == nil {
				got[name] = data[at:end]
			}
			return end, err
		})
		for _, c := range data {
			if c == '[' || c == '{' {
				depth++
			}
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(data, &want) != nil || want == nil || depth > maxDepth {
			return // what the scanners take of it is decoded, and refused, later
		}
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %d names, want %d", data, len(got), len(want))
		}
		for name, value := range want {
			if string(got[name]) != string(value) {
				t.Errorf("%q: %q is %q, want %q", data, name, got[name], value)
			}
		}
	})
}
