package ollama

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// decode reads any value with the reader's own methods.
func (r *reader) decode() (any, error) {
	is, err := r.kind()
	if err != nil {
		return nil, err
	}
	switch is {
	case "an object":
		object := map[string]any{}
		return object, r.members("", func(name string) (err error) {
			object[name], err = r.decode()
			return err
		})
	case "an array":
		array := []any{}
		err := r.elements("", 1<<20, func() error {
			element, err := r.decode()
			array = append(array, element)
			return err
		})
		return array, err
	case "a string":
		return r.string("")
	case "a number":
		n, err := r.number("")
		return json.Number(n), err
	case "true or false":
		return r.truth("")
	}
	return nil, r.skip()
}

// tooLong is a number of more digits than are read.
var tooLong = regexp.MustCompile(fmt.Sprintf(`[-+.0-9eE]{%d}`, maxNumber+1))

// FuzzReader holds the reader against encoding/json: what that one accepts is read, to the same values, and
// can be skipped.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		`{"a":[0,1,9,-2.5e+3,7E1,true,false,null,"x\n\"\\\/\b\f\r\té😀"],"b":{}, "c" : [ ] }`,
		`"\ud83d\ude00 \ud83d \ud83dx \ude00 \ud83d\u0041 \ud83d\ud83d\ude00"`,
		`[[[["deep"]]]]`, `"\u00`, `{"a"`, `{"a" 1}`, `[1 2]`, `[,]`, `nul`, `tru`, `-`, "\"\x01\"", "\"\xff\"", ` `, `]`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) || len(text) > maxText || tooLong.MatchString(text) {
			// Whatever it is, reading it ends.
			if _, err := newReader(strings.NewReader(text)).decode(); err == nil && text == "" {
				t.Fatal("nothing was read as something")
			}
			return
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		r := newReader(strings.NewReader(text))
		got, err := r.decode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(canonical(t, want), canonical(t, got)); diff != "" {
			t.Fatal(diff)
		}
		for name, r := range map[string]*reader{"read": r, "skipped": newReader(strings.NewReader(text))} {
			if name == "skipped" {
				if err := r.skip(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.peek(); err != io.EOF {
				t.Fatalf("%s, but not to its end", name)
			}
		}
	})
}

func canonical(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReaderSaysWhere(t *testing.T) {
	for text, want := range map[string]string{
		`<html>`:                            `it is not JSON: '<' at offset 0`,
		`  {"a";1}`:                         `it is not JSON: ';' at offset 6`,
		`{"a":1;}`:                          `it is not JSON: ';' at offset 6`,
		`{"a":?}`:                           `it is not JSON: '?' at offset 5`,
		`["a\x"]`:                           `it is not JSON: 'x' at offset 4`,
		`["\u12g4"]`:                        `it is not JSON: 'g' at offset 6`,
		"[\"a\nb\"]":                        `it is not JSON: '\n' at offset 3`,
		`[tru]`:                             `it is not JSON: "tru" at offset 1`,
		`{"a":[}`:                           `it is not JSON: '}' at offset 6`,
		`[` + strings.Repeat("1", 65) + `]`: `it is not JSON: '1' at offset 65`,
	} {
		if _, err := newReader(strings.NewReader(text)).decode(); !errors.Is(err, errNotJSON) || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	for _, text := range []string{`,`, `:`, `}`, `?`, `{"a":?}`, `["\x"]`} {
		if err := newReader(strings.NewReader(text)).skip(); !errors.Is(err, errNotJSON) {
			t.Errorf("skip %s: %v", text, err)
		}
	}
	for _, text := range []string{`{"a`, `{"a"`, `{"a":`, `[1,`, `["\`, `["\u12`, `["\ud83d\u`, `  `} {
		if _, err := newReader(strings.NewReader(text)).decode(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
