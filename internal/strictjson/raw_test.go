package strictjson_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

func TestKind(t *testing.T) {
	tests := []struct {
		raw  strictjson.Raw
		kind strictjson.Kind
		text string
	}{
		{``, strictjson.KindInvalid, "no JSON value"},
		{`?`, strictjson.KindInvalid, "no JSON value"},
		{`null`, strictjson.KindNull, "null"},
		{`true`, strictjson.KindBool, "true or false"},
		{`false`, strictjson.KindBool, "true or false"},
		{`-1`, strictjson.KindNumber, "a number"},
		{`9`, strictjson.KindNumber, "a number"},
		{`""`, strictjson.KindString, "a string"},
		{`[]`, strictjson.KindArray, "an array"},
		{`{}`, strictjson.KindObject, "an object"},
	}
	for _, tt := range tests {
		if got := tt.raw.Kind(); got != tt.kind || got.String() != tt.text {
			t.Errorf("%s: got %v, want %v", string(tt.raw), got, tt.kind)
		}
		if got, want := tt.raw.IsNull(), tt.kind == strictjson.KindNull; got != want {
			t.Errorf("%s: IsNull is %v", string(tt.raw), got)
		}
	}
	if got := strictjson.Kind(99).String(); got != "Kind(99)" {
		t.Errorf("unknown kind is called %s", got)
	}
}

func TestString(t *testing.T) {
	good := map[strictjson.Raw]string{
		`""`:                               "",
		`"plain"`:                          "plain",
		`"é日😀"`:                            "é日😀",
		`"\"\\\/\b\f\n\r\t"`:               "\"\\/\b\f\n\r\t",
		`"a\u0000b\u00e9\u65E5c"`:          "a\x00bé日c",
		`"\ud83d\ude00\uD83D\uDE00\ufffd"`: "😀😀\ufffd",
		`"\\ud83d"`:                        `\ud83d`,
	}
	for raw, want := range good {
		if got, err := raw.String(); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", string(raw), got, err, want)
		}
	}
	bad := map[strictjson.Raw]string{
		``:                "expected a string, found no JSON value",
		`1`:               "expected a string, found a number",
		`"a`:              "offset 2: expected the end of the string, found the end",
		`"a"b`:            "offset 3: expected nothing after the value, found 'b'",
		`"ab\ud83d"`:      `offset 3: \ud83d is half of a surrogate pair`,
		`"\ud83d\n12345"`: `offset 1: \ud83d is half of a surrogate pair`,
		`"\ud83d\u0041"`:  `offset 1: \ud83d is half of a surrogate pair`,
		`"\udfff"`:        `offset 1: \udfff is half of a surrogate pair`,
	}
	for raw, want := range bad {
		if _, err := raw.String(); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", string(raw), err, want)
		}
	}
}

func TestInt(t *testing.T) {
	good := map[strictjson.Raw]int64{
		`0`: 0, `-0`: 0, `42`: 42, `-7`: -7,
		`9223372036854775807`: math.MaxInt64, `-9223372036854775808`: math.MinInt64,
	}
	for raw, want := range good {
		if got, err := raw.Int(); err != nil || got != want {
			t.Errorf("%s: got %d, %v", string(raw), got, err)
		}
	}
	bad := map[strictjson.Raw]string{
		`"1"`:                 "expected a number, found a string",
		`1.0`:                 "expected a whole number without fraction or exponent, found 1.0",
		`1e3`:                 "expected a whole number without fraction or exponent, found 1e3",
		`9223372036854775808`: "expected a whole number of 64 bits, found 9223372036854775808",
		`0x10`:                "offset 1: expected nothing after the value, found 'x'",
		`1_0`:                 "offset 1: expected nothing after the value, found '_'",
		`-`:                   "offset 1: expected a digit, found the end",
		strictjson.Raw(strings.Repeat("9", 1000)): "expected a whole number of 64 bits, found " + strings.Repeat("9", 40) + "…",
	}
	for raw, want := range bad {
		if _, err := raw.Int(); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", string(raw), err, want)
		}
	}
}

func TestFloat(t *testing.T) {
	good := map[strictjson.Raw]float64{`0`: 0, `0.1`: 0.1, `-2.5e3`: -2500, `1e-400`: 0, `1.7976931348623157e308`: math.MaxFloat64}
	for raw, want := range good {
		if got, err := raw.Float(); err != nil || got != want {
			t.Errorf("%s: got %g, %v", string(raw), got, err)
		}
	}
	bad := map[strictjson.Raw]string{
		`null`:  "expected a number, found null",
		`1e400`: "expected a number of 64 bits, found 1e400",
		`1.`:    "offset 2: expected a digit, found the end",
		`0x1p2`: "offset 1: expected nothing after the value, found 'x'",
	}
	for raw, want := range bad {
		if _, err := raw.Float(); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", string(raw), err, want)
		}
	}
}

func TestBool(t *testing.T) {
	for raw, want := range map[strictjson.Raw]bool{`true`: true, `false`: false} {
		if got, err := raw.Bool(); err != nil || got != want {
			t.Errorf("%s: got %v, %v", string(raw), got, err)
		}
	}
	for _, raw := range []strictjson.Raw{`1`, `"true"`, `True`, `null`, ``} {
		if _, err := raw.Bool(); err == nil {
			t.Errorf("%s was accepted", string(raw))
		}
	}
}

func TestArray(t *testing.T) {
	var got []string
	collect := func(v strictjson.Raw) error {
		got = append(got, string(v))
		return nil
	}
	if err := strictjson.Raw(` [ 1 ,"a" , [ 2 ] , {"b" : null}] `).Array(collect); err != nil {
		t.Fatal(err)
	}
	if want := []string{`1`, `"a"`, `[ 2 ]`, `{"b" : null}`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, raw := range []strictjson.Raw{``, `{}`, `[`, `[1`, `[1,]`, `[1 2]`, `[] x`} {
		if raw.Array(collect) == nil {
			t.Errorf("%s was accepted", string(raw))
		}
	}
	stop := errors.New("stop")
	if err := strictjson.Raw(`[1]`).Array(func(strictjson.Raw) error { return stop }); err != stop {
		t.Errorf("got %v, want the error of the callback", err)
	}
}

func TestRawObject(t *testing.T) {
	var got string
	err := strictjson.Raw(`{"a":1}`).Object(func(name string, v strictjson.Raw) error {
		got = name + string(v)
		return nil
	})
	if err != nil || got != "a1" {
		t.Errorf("got %q, %v", got, err)
	}
	if strictjson.Raw(`{"a":1,"a":1}`).Object(func(string, strictjson.Raw) error { return nil }) == nil {
		t.Error("a repeated name was accepted")
	}
}
