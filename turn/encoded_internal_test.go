package turn

import (
	"testing"

	"pgregory.net/rapid"
)

// What is sealed is what others write of the same content, also where it is made in a shorter way.
func TestContentIsEncodedAsItIsAppended(t *testing.T) {
	text := rapid.OneOf(rapid.StringMatching(`[ -~]{0,40}`), rapid.StringMatching(`[a-z .,]{0,40}`), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		c := Text{Text: text.Draw(t, "text")}
		if rapid.Bool().Draw(t, "thinks") {
			c.Thinking = text.Draw(t, "thinking")
		}
		if rapid.Bool().Draw(t, "calls") {
			c.ToolCalls = []ToolCall{{ID: text.Draw(t, "id"), Name: "read", Arguments: "{}"}}
		}
		sealed, plain := saidPlainly(c)
		if !plain {
			sealed = encode(c)
		}
		want := string(AppendContent(nil, c))
		before, said, after := sealed.Parts()
		if sealed.String() != want || before+said+after != want || sealed.Len() != len(want) {
			t.Fatalf("%+v is sealed as %s, %d bytes, in parts %q, %q and %q; want %s", c, sealed, sealed.Len(), before, said, after, want)
		}
	})
}
