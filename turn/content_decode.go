package turn

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// object reads the members of one JSON object by a table of setters: what is not in the table is
// refused by name, and so is what a setter cannot take.
func object(path, data string, legalNames string, set func(name string, v strictjson.Raw) (known bool, err error)) error {
	err := strictjson.Object(data, func(name string, v strictjson.Raw) error {
		known, err := set(name, v)
		if !known {
			return fieldErrorf(join(path, name), "legal here: "+legalNames, "is not a field")
		}
		var bad *FieldError
		if err != nil && !errors.As(err, &bad) {
			return fieldErrorf(join(path, name), "correct the value", "%v", err)
		}
		return err
	})
	var bad *FieldError
	if err != nil && !errors.As(err, &bad) {
		return fieldErrorf(path, "send one JSON object", "%v", err)
	}
	return err
}

// join names a member of what stands at path.
func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// plainText reads content that is nothing but text, as AppendContent writes it: nearly all is, and it may be long. Whatever
// is not ok is for decodeText to read or refuse.
func plainText(data string) (text string, ok bool) {
	value, begins := strings.CutPrefix(data, `{"text":`)
	value, ends := strings.CutSuffix(value, `}`)
	if !begins || !ends {
		return "", false
	}
	text, err := strictjson.Raw(value).String()
	return text, err == nil
}

func decodeText(data string) (Content, error) {
	if text, ok := plainText(data); ok {
		return Text{Text: text}, nil
	}
	var c Text
	err := object("content", data, "text, thinking, tool_calls", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "text":
			c.Text, err = v.String()
		case "thinking":
			c.Thinking, err = v.String()
		case "tool_calls":
			err = v.Array(func(v strictjson.Raw) error {
				call, err := decodeCall(string(v))
				if err != nil {
					return ofCall(len(c.ToolCalls), err)
				}
				c.ToolCalls = append(c.ToolCalls, call)
				return nil
			})
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func decodeCall(data string) (ToolCall, error) {
	var c ToolCall
	err := object("content.tool_calls", data, "id, name, arguments", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "id":
			c.ID, err = v.String()
		case "name":
			c.Name, err = v.String()
		case "arguments":
			c.Arguments = string(v)
		default:
			return false, nil
		}
		return true, err
	})
	return c, err
}

func decodeSpeech(data string) (Content, error) {
	var c Speech
	err := object("content", data, "transcript, language, confidence, audio", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "transcript":
			c.Transcript, err = v.String()
		case "language":
			c.Language, err = v.String()
		case "confidence":
			var p float64
			p, err = v.Float()
			c.Confidence = &p
		case "audio":
			c.Audio, err = decodeAudio(string(v))
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func decodeAudio(data string) (*Audio, error) {
	var a Audio
	err := object("content.audio", data, "media_type, data, sha256, size", func(name string, v strictjson.Raw) (bool, error) {
		if name == "media_type" {
			var err error
			a.MediaType, err = v.String()
			return true, err
		}
		return a.Blob.decodeMember(name, v)
	})
	return &a, err
}

func decodeImage(data string) (Content, error) {
	var c Image
	err := object("content", data, "media_type, alt, data, sha256, size", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "media_type":
			c.MediaType, err = v.String()
		case "alt":
			c.Alt, err = v.String()
		default:
			return c.Blob.decodeMember(name, v)
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (b *Blob) decodeMember(name string, v strictjson.Raw) (known bool, err error) {
	switch name {
	case "data":
		var text string
		if text, err = v.String(); err == nil {
			b.Data, err = base64.StdEncoding.DecodeString(text)
		}
	case "sha256":
		b.SHA256, err = v.String()
	case "size":
		b.Size, err = v.Int()
	default:
		return false, nil
	}
	return true, err
}

// decodeAction tells a tool result from another action of the system by its call_id.
func decodeAction(data string) (Content, error) {
	var a Action
	var r Result
	isResult := false
	err := object("content", data, "name, target, payload; of a tool result name, call_id, status, result, synthetic",
		func(name string, v strictjson.Raw) (bool, error) {
			var err error
			switch name {
			case "name":
				a.Name, err = v.String()
				r.Name = a.Name
			case "target":
				a.Target, err = v.String()
			case "payload":
				a.Payload = string(v)
			case "call_id":
				isResult = true
				r.CallID, err = v.String()
			case "status":
				var s string
				s, err = v.String()
				r.Status = CallStatus(s)
			case "result":
				r.Result = string(v)
			case "synthetic":
				r.Synthetic, err = v.Bool()
			default:
				return false, nil
			}
			return true, err
		})
	switch {
	case err != nil:
		return nil, err
	case isResult && (a.Target != "" || a.Payload != ""):
		return nil, fieldErrorf("content", "leave out target and payload", "a tool result has neither")
	case isResult:
		return r, nil
	case r.Status != "" || r.Result != "" || r.Synthetic:
		return nil, fieldErrorf("content.call_id", "name the call that this is the result of", "is missing")
	}
	return a, nil
}
