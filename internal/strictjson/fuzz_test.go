package strictjson_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// FuzzObject holds the package against encoding/json: what both must accept,
// what only encoding/json may, and that the values are equal.
func FuzzObject(f *testing.F) {
	for _, tt := range refusals {
		f.Add(tt.data)
	}
	f.Add(textRecord())
	f.Add(`{"s":"\ud83d\ude00 \\ud83d \u0000","n":[-1.5e3,0,12345678901234567890],"o":{"a":{"a":true}},"é":null}`)
	f.Fuzz(func(t *testing.T, data string) {
		valid := json.Valid([]byte(data)) && utf8.ValidString(data) && depth(data) <= strictjson.MaxDepth
		if err := strictjson.Check(data); (err == nil) != valid {
			t.Fatalf("Check says %v, encoding/json says valid is %v", err, valid)
		}
		got, err := members(data)
		if !valid {
			if err == nil && depth(data) <= strictjson.MaxDepth {
				t.Fatal("Object accepted what is not valid")
			}
			return
		}
		want, ok := reference(t, data)
		if (err == nil) != ok {
			t.Fatalf("Object says %v, encoding/json says acceptable is %v", err, ok)
		}
		if !ok {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%d members, want %d", len(got), len(want))
		}
		for i, m := range got {
			if m.Name != want[i].Name || m.Value != want[i].Value {
				t.Fatalf("member %d is %q, want %q", i, m, want[i])
			}
			compare(t, m.Value)
		}
	})
}

// reference reads an object's members with encoding/json and reports whether it
// is an object whose names are whole and unique.
func reference(t *testing.T, data string) (want []member, ok bool) {
	d := json.NewDecoder(strings.NewReader(data))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	seen := map[string]bool{}
	for d.More() {
		from := d.InputOffset()
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		name := token.(string)
		written := strings.TrimLeft(data[from:d.InputOffset()], ", \t\r\n")
		if seen[name] || halfPair(written, name) {
			return nil, false
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		want = append(want, member{name, string(value)})
	}
	return want, true
}

// halfPair reports whether encoding/json put a replacement character into
// decoded that is not in the written string: it does so for half pairs only,
// once the text is valid UTF-8.
func halfPair(written, decoded string) bool {
	written = strings.ToLower(strings.ReplaceAll(written, `\\`, ""))
	meant := strings.Count(written, "\ufffd") + strings.Count(written, `\ufffd`)
	return strings.Count(decoded, "\ufffd") != meant
}

// compare decodes value with every method and with encoding/json.
func compare(t *testing.T, value string) {
	raw := strictjson.Raw(value)
	var s string
	ok := value[0] == '"' && json.Unmarshal([]byte(value), &s) == nil && !halfPair(value, s)
	if got, err := raw.String(); (err == nil) != ok || ok && got != s {
		t.Fatalf("String of %s is %q, %v; want %q, %v", value, got, err, s, ok)
	}
	var n int64
	ok = value != "null" && json.Unmarshal([]byte(value), &n) == nil
	if got, err := raw.Int(); (err == nil) != ok || ok && got != n {
		t.Fatalf("Int of %s is %d, %v; want %d, %v", value, got, err, n, ok)
	}
	var x float64
	ok = value != "null" && json.Unmarshal([]byte(value), &x) == nil
	if got, err := raw.Float(); (err == nil) != ok || ok && got != x {
		t.Fatalf("Float of %s is %g, %v; want %g, %v", value, got, err, x, ok)
	}
	var y bool
	ok = value != "null" && json.Unmarshal([]byte(value), &y) == nil
	if got, err := raw.Bool(); (err == nil) != ok || ok && got != y {
		t.Fatalf("Bool of %s is %v, %v; want %v, %v", value, got, err, y, ok)
	}
	var elements []json.RawMessage
	ok = value != "null" && json.Unmarshal([]byte(value), &elements) == nil
	i := 0
	err := raw.Array(func(v strictjson.Raw) error {
		if i < len(elements) && !bytes.Equal(elements[i], []byte(v)) {
			t.Fatalf("element %d of %s is %s, want %s", i, value, string(v), elements[i])
		}
		i++
		return nil
	})
	if (err == nil) != ok || i != len(elements) {
		t.Fatalf("Array of %s: %d elements, %v; want %d, %v", value, i, err, len(elements), ok)
	}
}

// depth counts brackets outside of strings; what it says of invalid JSON does
// not matter.
func depth(data string) (deepest int) {
	now, inside := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case !inside && (c == '{' || c == '['):
			now++
			deepest = max(deepest, now)
		case !inside && (c == '}' || c == ']'):
			now--
		}
	}
	return deepest
}
