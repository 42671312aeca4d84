package turn

import (
	"encoding/base64"
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// AppendContent appends the content's JSON to dst. Equal content always gives equal bytes, and raw
// values (arguments, payload, result) stand in it byte for byte.
func AppendContent(dst []byte, c Content) []byte { return c.appendJSON(dst) }

// DecodeContent reads the JSON of a turn's content. Unknown, repeated and ill-typed members are
// refused with a *[FieldError]. It checks the shape only; [Draft.Seal] checks the rest.
func DecodeContent(role Role, form Form, data string) (Content, error) {
	if err := Check(role, form); err != nil {
		return nil, err
	}
	if data == tombstone {
		return Forgotten{}, nil
	}
	switch form {
	case FormSpeech:
		return decodeSpeech(data)
	case FormImage:
		return decodeImage(data)
	case FormAction:
		return decodeAction(data)
	default:
		return decodeText(data)
	}
}

func (c Text) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"text":`...)
	dst = strictjson.AppendString(dst, c.Text)
	if c.Thinking != "" {
		dst = appendMember(dst, "thinking", c.Thinking)
	}
	for i, call := range c.ToolCalls {
		if i == 0 {
			dst = append(dst, `,"tool_calls":[{"id":`...)
		} else {
			dst = append(dst, `,{"id":`...)
		}
		dst = strictjson.AppendString(dst, call.ID)
		dst = appendMember(dst, "name", call.Name)
		dst = appendRaw(dst, "arguments", call.Arguments)
		dst = append(dst, '}')
	}
	if len(c.ToolCalls) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func (c Speech) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"transcript":`...)
	dst = strictjson.AppendString(dst, c.Transcript)
	if c.Language != "" {
		dst = appendMember(dst, "language", c.Language)
	}
	if c.Confidence != nil {
		dst = append(dst, `,"confidence":`...)
		dst = strconv.AppendFloat(dst, *c.Confidence, 'g', -1, 64)
	}
	if c.Audio != nil {
		dst = append(dst, `,"audio":{"media_type":`...)
		dst = strictjson.AppendString(dst, c.Audio.MediaType)
		dst = c.Audio.appendMembers(dst)
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func (c Image) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"media_type":`...)
	dst = strictjson.AppendString(dst, c.MediaType)
	if c.Alt != "" {
		dst = appendMember(dst, "alt", c.Alt)
	}
	dst = c.Blob.appendMembers(dst)
	return append(dst, '}')
}

// appendMembers writes data for a blob on its way in, hash and size for one that is stored.
func (b Blob) appendMembers(dst []byte) []byte {
	if b.Data != nil {
		dst = append(dst, `,"data":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, b.Data)
		return append(dst, '"')
	}
	dst = appendMember(dst, "sha256", b.SHA256)
	dst = append(dst, `,"size":`...)
	return strconv.AppendInt(dst, b.Size, 10)
}

func (c Action) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = strictjson.AppendString(dst, c.Name)
	if c.Target != "" {
		dst = appendMember(dst, "target", c.Target)
	}
	dst = appendRaw(dst, "payload", c.Payload)
	return append(dst, '}')
}

func (c Result) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"name":`...)
	dst = strictjson.AppendString(dst, c.Name)
	dst = appendMember(dst, "call_id", c.CallID)
	dst = appendMember(dst, "status", string(c.Status))
	dst = appendRaw(dst, "result", c.Result)
	if c.Synthetic {
		dst = append(dst, `,"synthetic":true`...)
	}
	return append(dst, '}')
}

func appendMember(dst []byte, name, value string) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return strictjson.AppendString(dst, value)
}

func appendRaw(dst []byte, name, raw string) []byte {
	if raw == "" {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return append(dst, raw...)
}
