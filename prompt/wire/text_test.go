package wire_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/prompt/wire"
)

func TestTextHasOnlyItsOwnHeaders(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := request(t, 0)
		want := 1 + len(r.Tools) + len(r.Messages)
		for _, d := range r.Tools {
			if d.Schema != "" {
				want++
			}
		}
		for _, m := range r.Messages {
			want += len(m.Calls)
			for _, p := range m.Parts {
				if p.Image != nil {
					want++
				}
			}
		}
		body, err := wire.Append(t.Context(), nil, wire.Text, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count("\n"+string(body), "\n#"); got != want {
			t.Fatalf("%d headers, want %d\n%s", got, want, body)
		}
	})
}

func TestTextShowsWhatIsHidden(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"a\n\nb\n", "  a\n\n  b\n\n"},
		{"a\r\nb\rc", "  a\n  b\\rc\n"},
		{"tab\there", "  tab\there\n"},
		{"\x1b[2J\x07\x7f\u0085", "  \\x1b[2J\\a\\x7f\\u0085\n"},
		{"\u2028\u2029\u202e\u2066", "  \\u2028\\u2029\\u202e\\u2066\n"},
		{"\xff\ufffd東👩‍👩", "  \\xff\ufffd東👩‍👩\n"},
	} {
		r := wire.Request{Messages: []prompt.Message{said(prompt.User, tt.text)}}
		body, err := wire.Append(t.Context(), nil, wire.Text, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("# prompt\n# user\n"+tt.want, string(body)); diff != "" {
			t.Errorf("%q: %s", tt.text, diff)
		}
	}
}

func TestTextQuotesNames(t *testing.T) {
	r := wire.Request{
		Model: "a b\n# user",
		Messages: []prompt.Message{
			called(prompt.ToolCall{ID: "c", Name: "x\ny"}), result("c", ""),
			{Role: prompt.User, Parts: []prompt.Part{{Image: &prompt.Image{MediaType: "é", SHA256: `"`}}}},
		},
	}
	const want = `# prompt | model "a b\n# user"
# assistant
# call c | "x\ny"
# result c | "x\ny"
# user
# image "\u00e9" | 0 bytes | sha256 "\""
`
	body, err := wire.Append(t.Context(), nil, wire.Text, r, nil)
	if diff := cmp.Diff(want, string(body)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
