package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

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
