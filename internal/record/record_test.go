package record_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

type word string

type part struct{ Name string }

type thing struct {
	Name  string
	Kind  word
	Count int64
	Size  float64
	Open  bool
	At    time.Time
	Label *string
	Until *time.Time
	Tags  *[]string
	Notes []string
	Parts []part
	Inner part
}

var partFields = record.Fields[part]{
	record.Value("name", func(p *part) *string { return &p.Name }, record.Text[string]()),
}

var fields = record.Fields[thing]{
	record.Value("name", func(t *thing) *string { return &t.Name }, record.Text[string]()),
	record.Value("kind", func(t *thing) *word { return &t.Kind }, record.Text[word]()),
	record.Value("count", func(t *thing) *int64 { return &t.Count }, record.Int()).Always(),
	record.Value("size", func(t *thing) *float64 { return &t.Size }, record.Float()),
	record.Value("open", func(t *thing) *bool { return &t.Open }, record.Bool()),
	record.Value("at", func(t *thing) *time.Time { return &t.At }, record.Time()),
	record.Optional("label", func(t *thing) **string { return &t.Label }, record.Text[string]()),
	record.Optional("until", func(t *thing) **time.Time { return &t.Until }, record.Time()),
	record.Optional("tags", func(t *thing) **[]string { return &t.Tags }, record.ListOf(record.Text[string]())),
	record.List("notes", func(t *thing) *[]string { return &t.Notes }, record.Text[string]()),
	record.List("parts", func(t *thing) *[]part { return &t.Parts }, record.Of(partFields)),
	record.Inside("inner", func(t *thing) *part { return &t.Inner }, record.Of(partFields)),
}

func ptr[V any](v V) *V { return &v }

var moment = time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)

func TestAppend(t *testing.T) {
	for _, test := range []struct {
		name  string
		thing thing
		want  string
	}{
		{"empty", thing{}, `{"count":0,"inner":{}}`},
		{"full", thing{
			"a\"b", "k", -7, 0.1, true, moment, ptr(""), &time.Time{}, ptr([]string(nil)), []string{"x", "y"}, []part{{"p"}, {}}, part{"q"},
		}, `{"name":"a\"b","kind":"k","count":-7,"size":0.1,"open":true,"at":"2026-01-02T03:04:05.000006Z","label":"","until":null,"tags":[],"notes":["x","y"],"parts":[{"name":"p"},{}],"inner":{"name":"q"}}`},
	} {
		got := string(fields.Append([]byte("> "), &test.thing))
		if got != "> "+test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		back, err := fields.Decode(test.want)
		if diff := cmp.Diff(test.thing, back); err != nil || diff != "" {
			t.Errorf("%s: %v %s", test.name, err, diff)
		}
	}
}

// A sparse record has nothing that is empty in it, whatever the table says, and is read as the same.
func TestAppendSparse(t *testing.T) {
	type outer struct {
		Thing thing
		Few   []part
		Count int64
		Maybe *part
		Raw   string
	}
	raw := record.Codec[string]{
		Append: func(dst []byte, s string) []byte { return append(dst, s...) },
		Decode: func(v strictjson.Raw) (string, error) { return string(v), nil },
	}
	outerFields := record.Fields[outer]{
		record.Inside("thing", func(o *outer) *thing { return &o.Thing }, record.Of(fields)),
		record.List("few", func(o *outer) *[]part { return &o.Few }, record.Of(partFields)).Always(),
		record.Value("count", func(o *outer) *int64 { return &o.Count }, record.Int()).Always(),
		record.Optional("maybe", func(o *outer) **part { return &o.Maybe }, record.Of(partFields)),
		record.Value("raw", func(o *outer) *string { return &o.Raw }, raw),
	}
	for _, test := range []struct {
		of   outer
		want string
	}{
		{outer{}, `{}`},
		{outer{Count: 7}, `{"count":7}`},
		{outer{Thing: thing{Name: "n"}}, `{"thing":{"name":"n"}}`},
		{outer{Thing: thing{Inner: part{Name: "in"}}, Few: []part{{}, {"p"}}}, `{"thing":{"inner":{"name":"in"}},"few":[{},{"name":"p"}]}`},
		{outer{Maybe: new(part), Raw: `{}`}, `{"maybe":{},"raw":{}}`}, // what is there is there, however little it holds
		{outer{Thing: thing{Tags: ptr([]string(nil)), Label: ptr("")}}, `{"thing":{"label":"","tags":[]}}`},
	} {
		got := string(outerFields.AppendSparse(nil, &test.of))
		if got != test.want {
			t.Errorf("%+v is written as %s, want %s", test.of, got, test.want)
		}
		back, err := outerFields.Decode(got)
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(string(outerFields.Append(nil, &test.of)), string(outerFields.Append(nil, &back))); diff != "" {
			t.Errorf("%s is read as another (-want +got):\n%s", got, diff)
		}
	}
}

func TestTimesAreReadInAnyZone(t *testing.T) {
	got, err := fields.Decode(`{"at":"2026-01-02T04:04:05.0000069+01:00"}`)
	if err != nil || got.At != moment {
		t.Errorf("%v, %v", got.At, err)
	}
	east := thing{At: moment.In(time.FixedZone("east", 3600))}
	if text := string(fields.Append(nil, &east)); !strings.Contains(text, `"2026-01-02T03:04:05.000006Z"`) {
		t.Errorf("written as %s", text)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"nme":"x"}`, "nme: is not a field; legal here: name, kind, count, size, open, at, label, until, tags, notes, parts, inner"},
		{`{"Name":"x"}`, "Name: is not a field"},
		{`{"name":7}`, "name: expected a string, found a number"},
		{`{"name":null}`, "name: expected a string, found null"},
		{`{"label":null}`, "label: expected a string, found null"},
		{`{"count":1.5}`, "count: expected a whole number"},
		{`{"size":"1"}`, "size: expected a number, found a string"},
		{`{"open":1}`, "open: expected true or false"},
		{`{"at":"2026-01-02"}`, `at: expected a time such as "2006-01-02T15:04:05.000000Z", found "2026-01-02"`},
		{`{"at":7}`, "at: expected a string"},
		{`{"notes":["x",1]}`, "notes[1]: expected a string, found a number"},
		{`{"notes":"x"}`, "notes: expected an array, found a string"},
		{`{"parts":[{},{"nme":"x"}]}`, "parts[1].nme: is not a field; legal here: name"},
		{`{"inner":{"name":1}}`, "inner.name: expected a string"},
		{`{"name":"x","name":"y"}`, `member "name" appears twice`},
		{`[]`, "expected an object"},
		{`{} {}`, "expected nothing after the value"},
		{``, "expected an object"},
	} {
		got, err := fields.Decode(test.text)
		var field *invalid.Field
		if !errors.As(err, &field) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.text, err, test.want)
		}
		if diff := cmp.Diff(thing{}, got); diff != "" {
			t.Errorf("%s: half a record came back: %s", test.text, diff)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	text := rapid.StringOf(rapid.Rune())
	rapid.Check(t, func(t *rapid.T) {
		want := thing{
			Name: text.Draw(t, "name"), Count: rapid.Int64().Draw(t, "count"), Size: rapid.Float64().Draw(t, "size"),
			At:    time.UnixMicro(rapid.Int64Range(0, 1<<55).Draw(t, "at")).UTC(),
			Label: rapid.Ptr(text, true).Draw(t, "label"), Inner: part{text.Draw(t, "inner")},
		}
		if want.At.UnixMicro() == 0 {
			want.At = time.Time{}
		}
		back, err := fields.Decode(string(fields.Append(nil, &want)))
		if diff := cmp.Diff(want, back); err != nil || diff != "" {
			t.Fatal(err, diff)
		}
	})
}

func TestChecks(t *testing.T) {
	same := func(s string) string { return s }
	fine := func(string) error { return nil }
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"line", record.CheckLine("f", "x", 1), ""},
		{"no line", record.CheckLine("f", " ", 9), "f: is empty; give one"},
		{"two lines", record.CheckLine("f", "a\nb", 9), "f: has line breaks or other control characters; write it on one line"},
		{"long line", record.CheckLine("f", "ab", 1), "f: is 2 bytes long, at most 1; shorten it"},
		{"text", record.CheckText("f", "a\nb", 3), ""},
		{"no text", record.CheckText("f", "", 3), ""},
		{"long text", record.CheckText("f", "abcd", 3), "f: is 4 bytes long, at most 3; shorten it"},
		{"UTF-8", record.CheckLine("f", "\xff", 3), "f: is not valid UTF-8; send UTF-8"},
		{"NUL", record.CheckText("f", "\x00", 3), "f: has a NUL character; leave it out"},
		{"list", record.CheckList("f", []string{"a", "b"}, 2, same, fine), ""},
		{"long list", record.CheckList("f", []string{"a", "b"}, 1, same, fine), "f: would be 2, at most 1; leave out what no longer matters"},
		{"twice", record.CheckList("f", []string{"a", "b", "a"}, 3, same, fine), `f[2]: "a" stands twice; name each once`},
		{"element", record.CheckList("f", []string{"a", ""}, 3, same, func(s string) error { return record.CheckLine("x", s, 9) }), "f[1].x: is empty; give one"},
		{"within nothing", record.Within("", errors.New("odd")), "odd"},
		{"within", record.Within("a", record.Within("b", errors.New("odd"))), "a.b: odd"},
		{"within an element", record.Within("a", invalid.New("[1]", "odd", "")), "a[1]: odd"},
		{"no error", record.Within("a", nil), ""},
	} {
		got := ""
		if test.err != nil {
			got = test.err.Error()
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestCheckLineRefusesEveryControlCharacter holds CheckLine against what Unicode says of each character.
func TestCheckLineRefusesEveryControlCharacter(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		if !utf8.ValidRune(r) {
			continue
		}
		for _, line := range []string{"a" + string(r), "é" + string(r) + "b"} {
			if err := record.CheckLine("f", line, 9); (err != nil) != unicode.IsControl(r) {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
	for _, line := range []string{"a\xc2", "a\xc2\n", "\n\xff"} {
		if err := record.CheckLine("f", line, 9); err == nil || !strings.Contains(err.Error(), "is not valid UTF-8") {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// A list that is too long is refused at its first value too many: what follows is not read.
func TestFew(t *testing.T) {
	reads := 0
	codec := record.Text[string]()
	read := codec.Decode
	codec.Decode = func(v strictjson.Raw) (string, error) {
		reads++
		return read(v)
	}
	few := record.Fields[thing]{record.Few("notes", func(t *thing) *[]string { return &t.Notes }, codec, 2)}
	if got, err := few.Decode(`{"notes":["a","b"]}`); err != nil || len(got.Notes) != 2 {
		t.Errorf("%v, %v", got.Notes, err)
	}
	reads = 0
	_, err := few.Decode(`{"notes":["a","b","c","d","e"]}`)
	var field *invalid.Field
	if !errors.As(err, &field) || field.Name != "notes" || !strings.Contains(field.Problem, "more than 2") || reads != 2 {
		t.Errorf("%v after %d were read", err, reads)
	}
}
