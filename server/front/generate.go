package front

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/llm"
)

// generate reads a call of /api/generate: one message, and with the context of an earlier answer one that goes on from
// there. A context is the tokens of the conversation, which no client looks into; here it is the hash that its session is
// found by, in eight numbers. One that another server made, or whose session is gone, leads nowhere: a new session begins, and the
// client is told in a header.
func (c *call) generate() error {
	var text, system string
	var images []string
	var context []uint32
	if err := few("images", c.fields["images"]); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		into any
	}{{"prompt", &text}, {"system", &system}, {"images", &images}, {"context", &context}} {
		if err := c.read(f.name, f.into); err != nil {
			return err
		}
	}
	if system != "" {
		c.system = []string{plain(system)}
	}
	m := message{role: llm.User}
	if text != "" {
		m.parts = []part{{text: plain(text)}}
	}
	for i, image := range images {
		shown, err := encodedPicture(i, image)
		if err != nil {
			return err
		}
		m.parts = append(m.parts, shown)
	}
	c.prompt, c.later = &m, len(context) > 0
	if len(context) == contextSize {
		var h chain.Hash
		for i, n := range context {
			binary.BigEndian.PutUint32(h[4*i:], n)
		}
		c.goesOn = &h
	}
	return nil
}

const contextSize = len(chain.Hash{}) / 4

// appendContext writes the hash as a context.
func appendContext(dst []byte, h chain.Hash) []byte {
	dst = append(dst, '[')
	for i := range contextSize {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fmt.Append(dst, binary.BigEndian.Uint32(h[4*i:]))
	}
	return append(dst, ']')
}

// bare reports whether the call is no part of a conversation: it loads or unloads a model, or has the server complete a
// text as it stands.
func (c *call) bare() bool {
	if c.api != ollamaGenerate {
		return c.first == 0
	}
	var raw bool
	var suffix, template string
	for name, into := range map[string]any{"raw": &raw, "suffix": &suffix, "template": &template} {
		if c.read(name, into) != nil {
			return true // the server will say what is wrong with it
		}
	}
	return raw || suffix != "" || strings.TrimSpace(template) != "" || c.prompt.empty()
}
