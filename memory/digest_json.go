package memory

import (
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// AppendJSON appends the digest as one JSON object on one line.
func (d Digest) AppendJSON(dst []byte) []byte {
	dst = append(dst, `{"v":1,"through_seq":`...)
	dst = strconv.AppendInt(dst, d.ThroughSeq, 10)
	dst = appendList(dst, "rolling", d.Rolling.Lines, appendLine)
	dst = appendList(dst, "topics", d.Topics, appendTopic)
	dst = appendList(dst, "decisions", d.Decisions, appendDecision)
	return append(dst, '}')
}

// appendList appends a member; an empty list is left out.
func appendList[T any](dst []byte, name string, items []T, encode func([]byte, T) []byte) []byte {
	if len(items) == 0 {
		return dst
	}
	dst = append(appendName(dst, name), '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = encode(dst, item)
	}
	return append(dst, ']')
}

func appendLine(dst []byte, l Line) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendInt(dst, l.Seq, 10)
	dst = appendNext(dst, `,"text":`, l.Text)
	return append(dst, '}')
}

// appendNext is appendText behind another member, with all that stands before the text.
func appendNext(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return strictjson.AppendString(append(dst, name...), text)
}

func appendTopic(dst []byte, t Topic) []byte {
	dst = append(dst, `{"word":`...)
	dst = strictjson.AppendString(dst, t.Word)
	dst = append(dst, `,"score":`...)
	dst = strconv.AppendInt(dst, t.Score, 10)
	return append(dst, '}')
}

func appendDecision(dst []byte, d Decision) []byte {
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendInt(dst, d.Seq, 10)
	dst = appendNext(dst, `,"turn_id":`, d.TurnID)
	dst = appendNext(dst, `,"text":`, d.Text)
	return append(dst, '}')
}

// DecodeDigest reads what [Digest.AppendJSON] wrote. Unknown, repeated and ill-typed members and
// another version are errors that name the place.
func DecodeDigest(doc string) (Digest, error) {
	var d Digest
	var version int64
	err := object(doc, "v, through_seq, rolling, topics, decisions", func(name string, v strictjson.Raw) (known bool, err error) {
		switch name {
		case "v":
			version, err = v.Int()
		case "through_seq":
			d.ThroughSeq, err = v.Int()
		case "rolling":
			d.Rolling.Lines, err = list(v, decodeLine)
		case "topics":
			d.Topics, err = list(v, decodeTopic)
		case "decisions":
			d.Decisions, err = list(v, decodeDecision)
		default:
			return false, nil
		}
		return true, err
	})
	if err == nil && version != 1 {
		err = fieldErrorf("v", "this program reads version 1", "%d is not a version of a digest", version)
	}
	if err != nil {
		return Digest{}, within("digest", err)
	}
	return d, nil
}

func decodeLine(v strictjson.Raw) (Line, error) {
	var l Line
	err := object(string(v), "seq, text", func(name string, v strictjson.Raw) (known bool, err error) {
		switch name {
		case "seq":
			l.Seq, err = v.Int()
		case "text":
			l.Text, err = v.String()
		default:
			return false, nil
		}
		return true, err
	})
	return l, err
}

func decodeTopic(v strictjson.Raw) (Topic, error) {
	var t Topic
	err := object(string(v), "word, score", func(name string, v strictjson.Raw) (known bool, err error) {
		switch name {
		case "word":
			t.Word, err = v.String()
		case "score":
			t.Score, err = v.Int()
		default:
			return false, nil
		}
		return true, err
	})
	return t, err
}

func decodeDecision(v strictjson.Raw) (Decision, error) {
	var d Decision
	err := object(string(v), "seq, turn_id, text", func(name string, v strictjson.Raw) (known bool, err error) {
		switch name {
		case "seq":
			d.Seq, err = v.Int()
		case "turn_id":
			d.TurnID, err = v.String()
		case "text":
			d.Text, err = v.String()
		default:
			return false, nil
		}
		return true, err
	})
	return d, err
}
