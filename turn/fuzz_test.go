package turn_test

import (
	"errors"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/turngen"
	"github.com/turnstone-dev/turnstone/turn"
)

// FuzzDecodeContent: what is refused is refused by name; what is accepted reads back from what is
// written of it, and sealing it never panics.
func FuzzDecodeContent(f *testing.F) {
	for _, c := range written {
		f.Add(string(c.role), string(c.form), c.json)
	}
	f.Fuzz(func(t *testing.T, role, form, json string) {
		c, err := turn.DecodeContent(turn.Role(role), turn.Form(form), json)
		if err != nil {
			var bad *turn.FieldError
			if !errors.As(err, &bad) {
				t.Fatalf("%v names no field", err)
			}
			return
		}
		canon := string(turn.AppendContent(nil, c))
		again, err := turn.DecodeContent(turn.Role(role), turn.Form(form), canon)
		if err != nil {
			t.Fatalf("%s was read, %s was written: %v", json, canon, err)
		}
		if rewritten := string(turn.AppendContent(nil, again)); rewritten != canon {
			t.Fatalf("%s was written, then %s", canon, rewritten)
		}
		_, err = turn.Draft{ID: turngen.ID(1), Role: turn.Role(role), Content: c}.Seal(turn.Limits{Text: 1 << 20, Blob: 1 << 20, Calls: 256})
		if err != nil {
			var bad *turn.FieldError
			if !errors.As(err, &bad) {
				t.Fatalf("%v names no field", err)
			}
		}
	})
}

// FuzzDecodeTurn: a turn that was read is written as a line that reads back as the same turn.
func FuzzDecodeTurn(f *testing.F) {
	for _, l := range lines {
		f.Add(l.json)
	}
	f.Fuzz(func(t *testing.T, json string) {
		first, err := turn.DecodeTurn(json)
		if err != nil {
			var bad *turn.FieldError
			if !errors.As(err, &bad) {
				t.Fatalf("%v names no field", err)
			}
			return
		}
		line := string(first.AppendJSON(nil))
		for _, c := range line {
			if c == '\n' || c == '\r' {
				t.Fatalf("%q is more than a line", line)
			}
		}
		second, err := turn.DecodeTurn(line)
		if err != nil {
			t.Fatalf("%s was read, %s was written: %v", json, line, err)
		}
		if again := string(second.AppendJSON(nil)); again != line {
			t.Fatalf("%s was written, then %s", line, again)
		}
		// A hash next to bytes is checked and dropped; all else is kept.
		if b, ok := turn.BlobOf(first.Content); !ok || b.Data == nil {
			same(t, line, second, first)
		}
	})
}

// FuzzPattern: a pattern is refused by name or can be searched with.
func FuzzPattern(f *testing.F) {
	for _, p := range [][3]string{
		{"", "", ""}, {"a", `\bturn\w*`, "running tests"}, {"%_", "(", "東京"}, {"\xff", "[", "!"}, {"'", "(?i)É{1,1000}", "e\u0301"},
		{"\x00", `\pN+$`, "don't"}, {"🎉", "(?P<n>a)(?:b)*?", "🎉"}, {"", "((a{100}){100}){100}", "ﬁ ² ™"},
	} {
		f.Add(p[0], p[1], p[2])
	}
	b := newBook(f)
	b.append(f, said(turn.User, "running tests at 東京 🎉"), said(turn.Agent, "don't e\u0301 ﬁne"),
		turn.Draft{Role: turn.User, Content: turn.Action{Name: "click", Payload: `{"%_": "'"}`}})
	f.Fuzz(func(t *testing.T, literal, expr, text string) {
		search, err := turn.Query{Match: literal, Regexp: expr, Text: text}.Compile()
		if err != nil {
			var bad *turn.FieldError
			if !errors.As(err, &bad) || search != nil {
				t.Fatalf("%v names no field", err)
			}
			return
		}
		b.read(t, func(rows turn.Rows, info turn.SessionInfo) error {
			page, err := search.Run(t.Context(), rows, info)
			if len(page.Turns) > 3 || page.Next != 0 {
				t.Errorf("%d turns found, next %d", len(page.Turns), page.Next)
			}
			return err
		})
	})
}
