package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/turnstone-dev/turnstone/internal/record"
)

// digest is the hash of a prompt: of its tools and then of each message, as canonical JSON, one a line. It
// grows with the prompt.
type digest struct{ state hash.Cloner }

func newDigest(tools []Definition) digest {
	// Every hash of the standard library can be cloned.
	d := digest{sha256.New().(hash.Cloner)}
	d.line(toolFields.Append(nil, &toolList{tools}))
	return d
}

func (d *digest) add(messages []Message) {
	var line []byte
	for i := range messages {
		line = messageFields.Append(line[:0], &messages[i])
		d.line(line)
	}
}

func (d *digest) line(text []byte) {
	d.state.Write(append(text, '\n'))
}

// with returns the hash as it is with more messages, and leaves the digest as it is.
func (d *digest) with(messages []Message) (string, error) {
	state, err := d.state.Clone()
	if err != nil {
		return "", fmt.Errorf("hash of the prompt: %w", err)
	}
	last := digest{state}
	last.add(messages)
	return hex.EncodeToString(last.state.Sum(nil)), nil
}

var imageFields = record.Fields[Image]{
	record.Value("media_type", func(i *Image) *string { return &i.MediaType }, record.Text[string]()),
	record.Value("alt", func(i *Image) *string { return &i.Alt }, record.Text[string]()),
	record.Value("sha256", func(i *Image) *string { return &i.SHA256 }, record.Text[string]()),
	record.Value("size", func(i *Image) *int64 { return &i.Size }, record.Int()),
}

var partFields = record.Fields[Part]{
	record.Value("text", func(p *Part) *string { return &p.Text }, record.Text[string]()),
	record.Optional("image", func(p *Part) **Image { return &p.Image }, record.Of(imageFields)),
}

var callFields = record.Fields[ToolCall]{
	record.Value("id", func(c *ToolCall) *string { return &c.ID }, record.Text[string]()),
	record.Value("name", func(c *ToolCall) *string { return &c.Name }, record.Text[string]()),
	record.Value("arguments", func(c *ToolCall) *string { return &c.Arguments }, record.Text[string]()),
}

var messageFields = record.Fields[Message]{
	record.Value("role", func(m *Message) *Role { return &m.Role }, record.Text[Role]()),
	record.List("seqs", func(m *Message) *[]int64 { return &m.Seqs }, record.Int()),
	record.List("parts", func(m *Message) *[]Part { return &m.Parts }, record.Of(partFields)),
	record.List("calls", func(m *Message) *[]ToolCall { return &m.Calls }, record.Of(callFields)),
	record.Value("call_id", func(m *Message) *string { return &m.CallID }, record.Text[string]()),
	record.Value("name", func(m *Message) *string { return &m.Name }, record.Text[string]()),
	record.Value("failed", func(m *Message) *bool { return &m.Failed }, record.Bool()),
}

// AppendJSON appends the message as one JSON object on one line, the same text for the same message.
func (m *Message) AppendJSON(dst []byte) []byte { return messageFields.Append(dst, m) }
