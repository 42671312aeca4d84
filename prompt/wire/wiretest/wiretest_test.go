package wiretest_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt/wire"
	"github.com/turnstone-dev/turnstone/prompt/wire/wiretest"
)

// breach is a change to a valid body that makes it invalid, and what is said about it.
type breach struct{ name, old, new, want string }

func run(t *testing.T, f wire.Format, valid string, breaches []breach) {
	t.Helper()
	if err := wiretest.Check(f, []byte(valid)); err != nil {
		t.Fatalf("the valid list: %v", err)
	}
	for _, b := range breaches {
		t.Run(b.name, func(t *testing.T) {
			if n := strings.Count(valid, b.old); n != 1 {
				t.Fatalf("%q stands %d times in the valid list", b.old, n)
			}
			err := wiretest.Check(f, []byte(strings.Replace(valid, b.old, b.new, 1)))
			if b.want == "" && err == nil {
				return
			}
			if err == nil || b.want == "" || !strings.Contains(err.Error(), b.want) {
				t.Errorf("%v, want %q", err, b.want)
			}
		})
	}
}

// unreadable is what breaks any body that has "hello" as a text in it and old as an object.
func unreadable(old string) []breach {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []breach{
		{"not UTF-8", "hello", "\xff", "not UTF-8"},
		{"half a pair", "hello", `\ud800`, "surrogate"},
		{"the other half", "hello", `\udc00`, "surrogate"},
		{"halves in the wrong order", "hello", `\uDC00\uD800`, "surrogate"},
		{"a whole pair", "hello", `\ud83d\ude00`, ""},
		{"a backslash before a u", "hello", `\\ud800`, ""},
		{"brackets in text", "hello", deep(200), ""},
		{"too deep", old, `{"x":` + deep(130) + `}`, "levels"},
		{"not deep", old, `{"x":` + deep(90) + `}`, ""},
		{"a number beyond 64 bits", old, `{"x":1e400}`, "1e400"},
	}
}

// schemas is what breaks the definitions of tools a and b.
func schemas(member string) []breach {
	named := func(name string) string { return `"name":"` + name + `","` + member + `"` }
	schema := func(s string) string { return `"` + member + `":` + s }
	second := schema(`{"type":"object","title":"b"}`)
	return []breach{
		{"tool without a name", named("a"), named(""), "tools[0]: name"},
		{"tool with an odd name", named("a"), named("a.b"), "tools[0]: name"},
		{"tool with a long name", named("a"), named(strings.Repeat("a", 65)), "tools[0]: name"},
		{"tool twice", named("a"), named("b"), "stands twice"},
		{"schema of another type", second, schema(`{"type":"array"}`), "of type array"},
		{"schema without a type", second, schema(`{}`), "of type"},
		{"schema that is null", second, schema(`null`), "schema"},
		{"schema that is a list", second, schema(`[]`), "schema"},
	}
}

func TestUnknownFormat(t *testing.T) {
	if err := wiretest.Check("gopher", []byte("{}")); err == nil || !strings.Contains(err.Error(), "gopher") {
		t.Error(err)
	}
}

func TestText(t *testing.T) {
	const valid = "# prompt\n# tool a\n# parameters\n# system\n  be brief\n\n# assistant | turn 2\n  hello\n# call c1 | a\n  {}\n# call c2 | b\n# result c1 | a\n# image image/png\n  x\n# result c2 | b | failed\n# user\n"
	run(t, wire.Text, valid, []breach{
		{"no header", "# prompt\n", "", "under a header"},
		{"no last line break", "# user\n", "# user", "under a header"},
		{"not UTF-8", "hello", "\xff", "UTF-8"},
		{"line that is not indented", "  hello", "hello", "line 8 is neither"},
		{"half indented", "  hello", " hello", "line 8 is neither"},
		{"unknown header", "# user", "# root", "neither"},
		{"run-on header", "# user", "# users", "neither"},
		{"carriage return", "hello", "a\rb", "U+000D"},
		{"escape", "hello", "\x1b[2J", "U+001B"},
		{"line separator", "hello", "a\u2028b", "U+2028"},
		{"paragraph separator", "hello", "a\u2029b", "U+2029"},
		{"direction", "hello", "\u202e", "U+202E"},
		{"tab", "hello", "a\tb", ""},
		{"result of another call", "# result c1", "# result c2", `result of "c2"`},
		{"result of no call", "# user\n", "# result c3 | a\n", `result of "c3"`},
		{"call without a result", "# result c2 | b | failed\n", "", "belongs"},
		{"call without a result at the end", "# user\n", "# user\n# call c4 | a\n", `no result of "c4"`},
		{"call without an id", "# call c1 | a", "# call  | a", "neither"},
	})
}
