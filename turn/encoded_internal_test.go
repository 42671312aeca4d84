package turn

import (
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
		sealed, want := encode(c, more), string(AppendContent(nil, c))
		if sealed.String() != want || sealed.Len() != len(want) || string(sealed.AppendTo([]byte("x"))) != "x"+want {
			t.Fatalf("%+v is sealed as %s, %d bytes, or %s; want %s", c, sealed, sealed.Len(), sealed.AppendTo(nil), want)
		}
	})
}
