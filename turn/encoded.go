package turn

import (
	"slices"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Encoded is the content of a turn as it is stored, a JSON object. Of a turn that only says something, without characters that
// JSON escapes, it is what was said and what stands around it: a store that binds it in parts spares itself a copy.
type Encoded struct {
	text string
	said bool // the text is the value of textBefore and textAfter
}

const textBefore, textAfter = `{"text":"`, `"}`

// EncodedAs is content that is encoded already.
func EncodedAs(json string) Encoded { return Encoded{text: json} }

// saidPlainly encodes what only says something, in ASCII without characters that JSON escapes. It refuses other content.
func saidPlainly(c Content) (e Encoded, ok bool) {
	t, ok := c.(Text)
	if !ok || t.Thinking != "" || len(t.ToolCalls) > 0 || !strictjson.Bare(t.Text) {
		return Encoded{}, false
	}
	return Encoded{text: t.Text, said: true}, true
}

// encode writes any content once, into memory that is sized for text with few escapes.
func encode(c Content) Encoded {
	n := int(c.size())
	return EncodedAs(record.String(func(dst []byte) []byte { return c.appendJSON(slices.Grow(dst, n+n/16+128)) }))
}

// Parts returns what makes the object one after the other.
func (e Encoded) Parts() (before, text, after string) {
	if e.said {
		return textBefore, e.text, textAfter
	}
	return "", e.text, ""
}

// Len is how many bytes the object has.
func (e Encoded) Len() int {
	before, text, after := e.Parts()
	return len(before) + len(text) + len(after)
}

// String returns the object.
func (e Encoded) String() string {
	before, text, after := e.Parts()
	return before + text + after
}
