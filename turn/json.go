package turn

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// TimeFormat is how times are written: UTC, RFC 3339, microseconds.
const TimeFormat = strictjson.TimeFormat

// AppendJSON appends the turn as one JSON object on one line. Content stands in it exactly as it is
// stored; where its raw values were written over several lines, it is given as a string in
// "content_text" instead, so that a line stays a line and no byte is lost.
func (t *Turn) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"turn_id":`...)
	dst = strictjson.AppendString(dst, t.ID)
	if t.Session != "" {
		dst = appendMember(dst, "session_id", t.Session)
	}
	dst = appendInt(dst, "seq", t.Seq)
	dst = appendMember(dst, "role", string(t.Role))
	dst = appendMember(dst, "form", string(t.Form))
	if t.Kind != KindTurn {
		dst = appendMember(dst, "kind", string(t.Kind))
	}
	before := len(dst)
	dst = append(dst, `,"content":`...)
	from := len(dst)
	if dst = t.Content.appendJSON(dst); bytes.IndexByte(dst[from:], '\n') >= 0 || bytes.IndexByte(dst[from:], '\r') >= 0 {
		content := string(dst[from:])
		dst = appendMember(dst[:before], "content_text", content)
	}
	dst = append(dst, `,"created_at":`...)
	dst = strictjson.AppendTime(dst, t.CreatedAt)
	if t.Unit != 0 {
		dst = appendInt(dst, "unit", t.Unit)
	}
	if t.MessageID != "" {
		dst = appendMember(dst, "message_id", t.MessageID)
	}
	if t.IdempotencyKey != "" {
		dst = appendMember(dst, "idempotency_key", t.IdempotencyKey)
	}
	if t.Covers != (Range{}) {
		dst = append(dst, `,"covers":[`...)
		dst = strconv.AppendInt(dst, t.Covers.From, 10)
		dst = append(dst, ',')
		dst = strconv.AppendInt(dst, t.Covers.To, 10)
		dst = append(dst, ']')
	}
	if t.Meta != (Meta{}) {
		dst = append(dst, `,"meta":`...)
		dst = t.Meta.AppendJSON(dst)
	}
	return append(dst, '}')
}

func appendInt(dst []byte, name string, n int64) []byte {
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return strconv.AppendInt(dst, n, 10)
}

// DecodeTurn reads what [Turn.AppendJSON] wrote. Unknown fields are refused by name.
func DecodeTurn(data string) (Turn, error) {
	t := Turn{Kind: KindTurn}
	var content string
	err := object("turn", data, "turn_id, session_id, seq, role, form, kind, content, content_text, created_at, unit, message_id, idempotency_key, covers, meta",
		func(name string, v strictjson.Raw) (bool, error) {
			switch {
			case (name == "content" || name == "content_text") && content != "":
				return true, fieldErrorf("turn."+name, "leave content or content_text out", "stands beside the other")
			case name == "content":
				content = string(v)
				return true, nil
			}
			return t.decodeMember(name, v, &content)
		})
	if err != nil {
		return Turn{}, err
	}
	if t.Content, err = DecodeContent(t.Role, t.Form, content); err != nil {
		return Turn{}, err
	}
	return t, nil
}

func (t *Turn) decodeMember(name string, v strictjson.Raw, content *string) (known bool, err error) {
	var s string
	switch name {
	case "turn_id":
		t.ID, err = v.String()
	case "session_id":
		t.Session, err = v.String()
	case "seq":
		t.Seq, err = v.Int()
	case "role":
		s, err = v.String()
		t.Role = Role(s)
	case "form":
		s, err = v.String()
		t.Form = Form(s)
	case "kind":
		s, err = v.String()
		t.Kind = Kind(s)
	case "content_text":
		*content, err = v.String()
	case "created_at":
		if s, err = v.String(); err == nil {
			t.CreatedAt, err = time.Parse(TimeFormat, s)
		}
	case "unit":
		t.Unit, err = v.Int()
	case "message_id":
		t.MessageID, err = v.String()
	case "idempotency_key":
		t.IdempotencyKey, err = v.String()
	case "covers":
		t.Covers, err = decodeRange(v)
	case "meta":
		t.Meta, err = DecodeMeta(string(v))
	default:
		return false, nil
	}
	return true, err
}

func decodeRange(v strictjson.Raw) (Range, error) {
	var ends []int64
	err := v.Array(func(v strictjson.Raw) error {
		n, err := v.Int()
		ends = append(ends, n)
		return err
	})
	if err != nil {
		return Range{}, err
	}
	if len(ends) != 2 {
		return Range{}, fieldErrorf("covers", "give [first, last]", "%d numbers", len(ends))
	}
	return Range{From: ends[0], To: ends[1]}, nil
}

// AppendJSON appends the known fields as a JSON object.
func (m Meta) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	start := len(dst)
	if m.Tokens != 0 {
		dst = appendInt(dst, "tokens", m.Tokens)
	}
	if m.Model != "" {
		dst = appendMember(dst, "model", m.Model)
	}
	if m.Latency != 0 {
		dst = appendInt(dst, "latency_us", m.Latency.Microseconds())
	}
	if m.Interrupted {
		dst = append(dst, `,"interrupted":true`...)
	}
	if len(dst) > start {
		dst = append(dst[:start], dst[start+1:]...)
	}
	return append(dst, '}')
}

// DecodeMeta reads what [Meta.AppendJSON] wrote.
func DecodeMeta(data string) (Meta, error) {
	var m Meta
	err := object("meta", data, "tokens, model, latency_us, interrupted", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "tokens":
			m.Tokens, err = v.Int()
		case "model":
			m.Model, err = v.String()
		case "latency_us":
			m.Latency, err = decodeLatency(v)
		case "interrupted":
			m.Interrupted, err = v.Bool()
		default:
			return false, nil
		}
		return true, err
	})
	return m, err
}

func decodeLatency(v strictjson.Raw) (time.Duration, error) {
	us, err := v.Int()
	if err == nil && (us < 0 || us > math.MaxInt64/int64(time.Microsecond)) {
		err = fmt.Errorf("%d is out of range", us)
	}
	return time.Duration(us) * time.Microsecond, err
}
