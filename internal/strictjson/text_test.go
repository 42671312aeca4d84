package strictjson_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

func TestAppendStringEscapesOnlyWhatItMust(t *testing.T) {
	tests := map[string]string{
		"":                     `""`,
		`a"b\c`:                `"a\"b\\c"`,
		"\b\f\n\r\t\x00\x1b":   `"\b\f\n\r\t\u0000\u001b"`,
		"<a href='x'>&\u2028é": "\"<a href='x'>&\u2028é\"",
		"\x7f/":                "\"\x7f/\"",
	}
	for s, want := range tests {
		if got := string(strictjson.AppendString([]byte("x:"), s)); got != "x:"+want {
			t.Errorf("%q: got %s, want x:%s", s, got, want)
		}
	}
}

func TestAppendStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		raw := strictjson.Raw(strictjson.AppendString(nil, s))
		if err := strictjson.Check(string(raw)); err != nil {
			t.Fatal(err)
		}
		if got, err := raw.String(); err != nil || got != s {
			t.Fatalf("read back %q, %v", got, err)
		}
		var std string
		if err := json.Unmarshal([]byte(raw), &std); err != nil || std != s {
			t.Fatalf("encoding/json read back %q, %v", std, err)
		}
	})
}

// bytesOf draws bytes of all kinds, those that end what is plain and their neighbours more often than others.
func bytesOf(t *rapid.T) string {
	edges := rapid.SampledFrom([]byte{0, 1, 0x1f, ' ', '!', '"', '#', '[', '\\', ']', 0x7f, 0x80, 0x82, 0xa0, 0xa2, 0xdc, 0xff})
	letters := rapid.SliceOfN(rapid.ByteRange('a', 'z'), 0, 40).Draw(t, "letters")
	for i, c := range rapid.SliceOfN(rapid.OneOf(edges, rapid.Byte()), 0, 20).Draw(t, "others") {
		letters = slices.Insert(letters, rapid.IntRange(0, len(letters)).Draw(t, fmt.Sprint("at", i)), c)
	}
	return string(letters)
}

func TestPlainEndsAtTheFirstThatIsEscaped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := bytesOf(t)
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		want := from
		for want < len(s) && s[want] >= ' ' && s[want] != '"' && s[want] != '\\' {
			want++
		}
		if got := strictjson.Plain(s, from); got != want {
			t.Fatalf("%q from %d: plain up to %d, want %d", s, from, got, want)
		}
	})
}

func TestEscapesAreWhatAppendStringAdds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := bytesOf(t)
		ascii := !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
		want := len(strictjson.AppendString(nil, s)) - len(`""`) - len(s)
		if more, is := strictjson.Escapes(s); more != want || is != ascii {
			t.Fatalf("%q: escapes are %d bytes, ASCII %v; want %d and %v", s, more, is, want, ascii)
		}
	})
}

func TestCheckRefusesWhatIsNotUTF8InAString(t *testing.T) {
	for at := range 40 {
		s := []byte(strings.Repeat("a", 40))
		if s[at] = 0xff; strictjson.Check(`"`+string(s)+`"`) == nil {
			t.Errorf("%q is taken", s)
		}
	}
	plain := strings.NewReplacer(`"`, "'", `\`, "/")
	rapid.Check(t, func(t *rapid.T) {
		s := plain.Replace(bytesOf(t))
		legal := utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
		// An escape inside makes it be looked at in two parts.
		for _, data := range []string{`"` + s + `"`, `"` + s + `\n"`, `"\n` + s + `"`} {
			if err := strictjson.Check(data); (err == nil) != legal {
				t.Fatalf("%q: %v, but legal is %v", data, err, legal)
			}
		}
	})
}

func textRecord() string {
	return `{"text":"` + strings.Repeat("what did we decide? ", 20) + `"}`
}

func decodeText(record string) (text string, err error) {
	err = strictjson.Object(record, func(name string, value strictjson.Raw) (err error) {
		if name == "text" {
			text, err = value.String()
		}
		return err
	})
	return text, err
}

func TestReadingWithoutEscapesAllocatesNothing(t *testing.T) {
	record := textRecord()
	nested := `{"a":[[1,2,{"b":"c","d":[true,null]}]],"text":"x"}`
	allocs := testing.AllocsPerRun(100, func() {
		for _, r := range []string{record, nested} {
			if text, err := decodeText(r); err != nil || text == "" {
				t.Fatal(text, err)
			}
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
}

func TestReadingEscapesAllocatesTheResultOnly(t *testing.T) {
	raw := strictjson.Raw(`"` + strings.Repeat(`a line\n`, 100) + `"`)
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := raw.String(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 1 {
		t.Errorf("%v allocations, want one", allocs)
	}
}

func BenchmarkObject(b *testing.B) {
	records := map[string]string{
		"ascii":   textRecord(),
		"latin":   `{"text":"` + strings.Repeat("où était le café? ", 20) + `"}`,
		"han":     `{"text":"` + strings.Repeat("我们决定了什么", 20) + `"}`,
		"escaped": `{"text":"` + strings.Repeat(`line of text here\n`, 20) + `"}`,
		"calls":   `{"text":"ok","tool_calls":[{"id":"1","name":"read","arguments":{"path":"a/b/c.go","lines":[1,200]}}]}`,
	}
	for name, record := range records {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(record)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decodeText(record); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("what did we decide?\n", 20)
	dst := make([]byte, 0, 2*len(s))
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		dst = strictjson.AppendString(dst[:0], s)
	}
}
