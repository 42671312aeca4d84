package turn

import (
	"slices"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Encoded is the content of a turn as it is stored, a JSON object. Where a turn only says something, as most do, that is
// all there is of it until it is appended to what goes to the disk: otherwise a long reply would be copied once more.
type Encoded struct {
	text string
	said bool // the text is what is said, and not the object
	more int  // by how many bytes escapes make it longer
}

const saidBefore, saidAfter = `{"text":`, `}`

// EncodedAs is content that is encoded already.
func EncodedAs(json string) Encoded { return Encoded{text: json} }

// escapedLater is how long a text with escapes may be to be escaped inside a transaction, where others wait for it.
const escapedLater = 64 << 10

// encode encodes content that was checked. JSON makes what is said in a text longer by so many bytes.
func encode(c Content, more int) Encoded {
	t, ok := c.(Text)
	if ok && t.Thinking == "" && len(t.ToolCalls) == 0 && (more == 0 || len(t.Text) <= escapedLater) {
		return Encoded{text: t.Text, said: true, more: more}
	}
	n := int(c.size())
	return EncodedAs(record.String(func(dst []byte) []byte { return c.appendJSON(slices.Grow(dst, n+n/16+128)) }))
}

// Len is how many bytes the object has.
func (e Encoded) Len() int {
	if !e.said {
		return len(e.text)
	}
	return len(saidBefore) + len(`""`) + len(e.text) + e.more + len(saidAfter)
}

// AppendTo appends the object to dst and returns the extended slice.
func (e Encoded) AppendTo(dst []byte) []byte {
	switch {
	case !e.said:
		return append(dst, e.text...)
	case e.more == 0:
		dst = append(append(dst, saidBefore...), '"')
		return append(append(append(dst, e.text...), '"'), saidAfter...)
	}
	return append(strictjson.AppendString(append(dst, saidBefore...), e.text), saidAfter...)
}

// String returns the object.
func (e Encoded) String() string {
	if !e.said {
		return e.text
	}
	return string(e.AppendTo(make([]byte, 0, e.Len())))
}
