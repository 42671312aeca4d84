package turn

import (
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// AppendJSON appends the draft as one JSON object. Bytes of images and audio stand in it as data.
func (d *Draft) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"role":`...)
	dst = strictjson.AppendString(dst, string(d.Role))
	dst = appendMember(dst, "form", string(d.Content.form()))
	for _, m := range [...]struct{ name, value string }{
		{"turn_id", d.ID}, {"message_id", d.MessageID}, {"idempotency_key", d.IdempotencyKey},
	} {
		if m.value != "" {
			dst = appendMember(dst, m.name, m.value)
		}
	}
	if d.Meta != (Meta{}) {
		dst = append(dst, `,"meta":`...)
		dst = d.Meta.AppendJSON(dst)
	}
	dst = append(dst, `,"content":`...)
	return append(d.Content.appendJSON(dst), '}')
}

// DecodeDraft reads a draft. Its form is text unless it says otherwise, and a text may be given as
// "text" in place of its content. Unknown fields are refused by name.
func DecodeDraft(data string) (Draft, error) {
	var d Draft
	var said strictjson.Raw
	form, content := FormText, ""
	err := object("", data, "turn_id, role, form, text, content, message_id, idempotency_key, meta",
		func(name string, v strictjson.Raw) (known bool, err error) {
			var s string
			switch name {
			case "turn_id":
				d.ID, err = v.String()
			case "role":
				s, err = v.String()
				d.Role = Role(s)
			case "form":
				s, err = v.String()
				form = Form(s)
			case "text", "content":
				if content != "" || said != "" {
					return true, fieldErrorf(name, "leave text or content out", "stands beside the other")
				}
				if name == "text" {
					said = v
				} else {
					content = string(v)
				}
			case "message_id":
				d.MessageID, err = v.String()
			case "idempotency_key":
				d.IdempotencyKey, err = v.String()
			case "meta":
				d.Meta, err = DecodeMeta(string(v))
			default:
				return false, nil
			}
			return true, err
		})
	if err != nil {
		return Draft{}, err
	}
	switch {
	case said != "" && form == FormText:
		d.Content, err = decodeSaid(d.Role, said)
		return d, err
	case said != "":
		content = `{"text":` + string(said) + `}`
	case content == "":
		return Draft{}, fieldErrorf("content", "give text or content", "is missing")
	}
	d.Content, err = DecodeContent(d.Role, form, content)
	return d, err
}

// decodeSaid is [DecodeContent] of a text alone, which most drafts are.
func decodeSaid(role Role, said strictjson.Raw) (Content, error) {
	if err := Check(role, FormText); err != nil {
		return nil, err
	}
	text, err := said.String()
	if err != nil {
		return nil, fieldErrorf("content.text", "correct the value", "%v", err)
	}
	return Text{Text: text}, nil
}
