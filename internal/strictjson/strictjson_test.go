package strictjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

type member struct{ Name, Value string }

func members(data string) ([]member, error) {
	var got []member
	err := strictjson.Object(data, func(name string, value strictjson.Raw) error {
		got = append(got, member{name, string(value)})
		return nil
	})
	return got, err
}

func TestObjectReadsMembersInOrder(t *testing.T) {
	tests := []struct {
		name, data string
		want       []member
	}{
		{"empty", `{}`, nil},
		{"empty with space", " {\n\t} \r\n", nil},
		{"order", `{"b":1,"a":2}`, []member{{"b", "1"}, {"a", "2"}}},
		{"case matters", `{"a":1,"A":2}`, []member{{"a", "1"}, {"A", "2"}}},
		{"empty name", `{"":null}`, []member{{"", "null"}}},
		{"escaped name", `{"\u0061\n\ud83d\ude00":true}`, []member{{"a\n😀", "true"}}},
		{"space around", "{ \"a\" : \t[ 1 , 2 ]\n, \"b\" :\"x\" }", []member{{"a", "[ 1 , 2 ]"}, {"b", `"x"`}}},
		{"nested kept", `{"a":{ "x": [{}, [] ,{"y":-1.5e+3}] }}`, []member{{"a", `{ "x": [{}, [] ,{"y":-1.5e+3}] }`}}},
		{"nested repeated names kept", `{"a":{"x":1,"x":2}}`, []member{{"a", `{"x":1,"x":2}`}}},
		{"half pair not decoded", `{"a":"\ud83d","b":{"\udc00":0}}`, []member{{"a", `"\ud83d"`}, {"b", `{"\udc00":0}`}}},
		{"all values", `{"a":"","b":0,"c":-0,"d":1.25E-7,"e":true,"f":false,"g":null,"h":[],"i":{}}`, []member{
			{"a", `""`}, {"b", "0"}, {"c", "-0"}, {"d", "1.25E-7"}, {"e", "true"}, {"f", "false"}, {"g", "null"}, {"h", "[]"}, {"i", "{}"}}},
		{"characters that need no escape", "{\"/<>&\u2028é日😀\x7f\":0}", []member{{"/<>&\u2028é日😀\x7f", "0"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := members(tt.data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// refusals are objects that must be refused, each with the whole error.
var refusals = []struct{ data, want string }{
	{``, "offset 0: expected an object, found the end"},
	{` `, "offset 1: expected an object, found the end"},
	{`null`, "expected an object, found null"},
	{`[]`, "expected an object, found an array"},
	{"\ufeff{}", `offset 0: expected an object, found '\ufeff'`},
	{`{`, "offset 1: expected a string, found the end"},
	{`{a:1}`, "offset 1: expected a string, found 'a'"},
	{`{'a':1}`, `offset 1: expected a string, found '\''`},
	{`{"a"}`, "offset 4: expected ':' after a member name, found '}'"},
	{` {"a"}`, "offset 5: expected ':' after a member name, found '}'"},
	{`{"a"`, "offset 4: expected ':' after a member name, found the end"},
	{`{"a":}`, "offset 5: expected a value, found '}'"},
	{`{"a":`, "offset 5: expected a value, found the end"},
	{`{"a":1`, "offset 6: expected ',' or '}', found the end"},
	{`{"a":1]`, "offset 6: expected ',' or '}', found ']'"},
	{`{"a":1,}`, "offset 7: expected a string, found '}'"},
	{`{,}`, "offset 1: expected a string, found ','"},
	{`{"a":1 "b":2}`, `offset 7: expected ',' or '}', found '"'`},
	{`{"a":[1,]}`, "offset 8: expected a value, found ']'"},
	{`{"a":[1}`, "offset 7: expected ',' or ']', found '}'"},
	{`{"a":{"b":1,"c"}}`, "offset 15: expected ':' after a member name, found '}'"},
	{`{"a":{1:2}}`, "offset 6: expected a string, found '1'"},
	{`{} {}`, "offset 3: expected nothing after the value, found '{'"},
	{"{}\x00", `offset 2: expected nothing after the value, found '\x00'`},
	{"{\"a\":\x00}", `offset 5: expected a value, found '\x00'`},
	{"{\"a\":\"x\x00y\"}", `offset 7: expected control characters to be escaped, found '\x00'`},
	{"{\"a\":\"12345678\n\"}", `offset 14: expected control characters to be escaped, found '\n'`},
	{"{\"a\":\"\x1f\"}", `offset 6: expected control characters to be escaped, found '\x1f'`},
	{"{\"a\":\"1234567\xff8\"}", "offset 13: byte 0xff is not UTF-8"},
	{"{\"a\":\"\xed\xa0\xbd\"}", "offset 6: byte 0xed is not UTF-8"},
	{"{\"a\xc0\x80\":1}", "offset 3: byte 0xc0 is not UTF-8"},
	{"{\"a\":\xff}", "offset 5: expected a value, found byte 0xff"},
	{`{"a":"x}`, "offset 8: expected the end of the string, found the end"},
	{`{"a":"\`, "offset 7: expected an escape, found the end"},
	{`{"a":"\x41"}`, `offset 7: expected one of "\/bfnrtu after \, found 'x'`},
	{`{"a":"\u00g0"}`, "offset 10: expected a hexadecimal digit, found 'g'"},
	{`{"a":"\u00`, "offset 10: expected a hexadecimal digit, found the end"},
	{`{"a":tru}`, "offset 5: expected true, found 't'"},
	{`{"a":False}`, "offset 5: expected a value, found 'F'"},
	{`{"a":fals}`, "offset 5: expected false, found 'f'"},
	{`{"a":nil}`, "offset 5: expected null, found 'n'"},
	{`{"a":01}`, "offset 6: expected ',' or '}', found '1'"},
	{`{"a":-}`, "offset 6: expected a digit, found '}'"},
	{`{"a":+1}`, "offset 5: expected a value, found '+'"},
	{`{"a":.5}`, "offset 5: expected a value, found '.'"},
	{`{"a":5.}`, "offset 7: expected a digit, found '}'"},
	{`{"a":5e}`, "offset 7: expected a digit, found '}'"},
	{`{"a":5E+}`, "offset 8: expected a digit, found '}'"},
	{`{"a":1,"b":2,"a":3}`, `offset 13: member "a" appears twice`},
	{`{"a":1,"\u0061":2}`, `offset 7: member "a" appears twice`},
	{`{"x\ud83d":1}`, `offset 3: \ud83d is half of a surrogate pair`},
	{`{"\ud83d\ud83d":1}`, `offset 2: \ud83d is half of a surrogate pair`},
	{`{"\ude00\ud83d":1}`, `offset 2: \ude00 is half of a surrogate pair`},
	{`{"\ud83dx12345":1}`, `offset 2: \ud83d is half of a surrogate pair`},
}

func TestObjectRefuses(t *testing.T) {
	for _, tt := range refusals {
		t.Run(tt.data, func(t *testing.T) {
			_, err := members(tt.data)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestObjectRefusesARepeatedNameAmongMany(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `,"n%d":%d`, i, i)
	}
	all := b.String()[1:]
	if got, err := members("{" + all + "}"); err != nil || len(got) != 100 {
		t.Fatalf("read %d of 100 members: %v", len(got), err)
	}
	for _, again := range []string{"n0", "n15", "n16", "n99"} {
		if _, err := members("{" + all + `,"` + again + `":0}`); err == nil {
			t.Errorf("second %q was accepted", again)
		}
	}
}

func TestObjectReturnsTheErrorOfField(t *testing.T) {
	stop := errors.New("stop")
	calls := 0
	err := strictjson.Object(`{"a":1,"b":2}`, func(string, strictjson.Raw) error {
		calls++
		return stop
	})
	if err != stop || calls != 1 {
		t.Errorf("got %v after %d calls, want the error itself after one", err, calls)
	}
}

func TestCheck(t *testing.T) {
	for _, data := range []string{`null`, ` [1, {"a": "b"}] `, `"\ud83d"`, `{"a":1,"a":2}`, `-0.0e-0`, `""`} {
		if err := strictjson.Check(data); err != nil {
			t.Errorf("%s: %v", data, err)
		}
	}
	for _, data := range []string{``, ` `, `1 2`, `[1`, "\"\x00\"", "\"\xff\"", `nul`, `{"a":1}}`, `{"a"=1}`} {
		if strictjson.Check(data) == nil {
			t.Errorf("%q was accepted", data)
		}
	}
}

func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

func TestDepthIsLimited(t *testing.T) {
	if err := strictjson.Check(nested(strictjson.MaxDepth)); err != nil {
		t.Error(err)
	}
	if strictjson.Check(nested(strictjson.MaxDepth+1)) == nil {
		t.Error("one level too many was accepted")
	}
	if strictjson.Check(strings.Repeat(`{"a":`, 1<<20)) == nil {
		t.Error("a million levels were accepted")
	}
	if _, err := members(`{"a":` + nested(1<<20) + `}`); err == nil {
		t.Error("a million levels were read")
	}
}

func TestWhatCheckAcceptsCanBeReadInsideARecord(t *testing.T) {
	record := nested(strictjson.MaxDepth)
	for range 50 {
		record = `{"a":` + record + `}`
	}
	for range 50 {
		got, err := members(record)
		if err != nil {
			t.Fatal(err)
		}
		record = got[0].Value
	}
}
