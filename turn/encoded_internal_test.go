package turn

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is sealed is what others write of the same content, also where it is made in a shorter way.
func TestContentIsEncodedAsItIsAppended(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.StringMatching(`[a-z .,]{0,40}`), rapid.StringMatching(`[a-z\n"\\\x01-\x1f]{1,40}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		c := Text{Text: text.Draw(t, "text")}
		if rapid.Bool().Draw(t, "thinks") {
			c.Thinking = text.Draw(t, "thinking")
		}
		if rapid.Bool().Draw(t, "calls") {
			c.ToolCalls = []ToolCall{{ID: text.Draw(t, "id"), Name: "read", Arguments: "{}"}}
		}
		more, err := measureText("text", c.Text)
		if err != nil {
			t.Skip(err)
		}
		checkEncoded(t, encode(c, more), c)
	})
}

func TestALongTextIsEscapedAtOnce(t *testing.T) {
	for _, n := range []int{escapedLater - 1, escapedLater, escapedLater + 1} {
		for end, later := range map[string]bool{".": true, "\n": n <= escapedLater} {
			c := Text{Text: strings.Repeat("a", n-1) + end}
			more, err := measureText("text", c.Text)
			if err != nil {
				t.Fatal(err)
			}
			encoded := encode(c, more)
			if encoded.said != later {
				t.Errorf("%d bytes that end with %q: left as they are is %v", n, end, encoded.said)
			}
			checkEncoded(t, encoded, c)
		}
	}
}

// checkEncoded complains about what is not the content's JSON.
func checkEncoded(t interface{ Errorf(string, ...any) }, e Encoded, c Content) {
	if want := string(AppendContent(nil, c)); e.String() != want || e.Len() != len(want) || string(e.AppendTo([]byte("x"))) != "x"+want {
		t.Errorf("%.200v is encoded as %.200s, %d bytes, or %.200s; want %.200s", c, e, e.Len(), e.AppendTo(nil), want)
	}
}
