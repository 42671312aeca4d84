package history

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/turn"
)

// text decodes a string of somebody else's: half a surrogate pair, which cut texts end in, is
// replaced, and null is no text.
func (s *sink) text(p place, v strictjson.Raw) (string, error) {
	if v.IsNull() {
		return "", nil
	}
	text, err := v.String()
	if err == nil || v.Kind() != strictjson.KindString {
		return text, err
	}
	if json.Unmarshal([]byte(v), &text) != nil {
		return "", err
	}
	s.report.lose("halves of surrogate pairs", p, "replaced by U+FFFD")
	return text, nil
}

// scalar is a string, number or boolean as text, and "" for anything else.
func (s *sink) scalar(p place, v strictjson.Raw) string {
	switch v.Kind() {
	case strictjson.KindString:
		// The scanner has accepted the string, so nothing but its pairs can be wrong.
		text, err := s.text(p, v)
		if err != nil {
			return ""
		}
		return text
	case strictjson.KindNumber, strictjson.KindBool:
		return string(v)
	}
	return ""
}

// word is scalar, but an object or array, which has no place in a turn, is reported.
func (s *sink) word(p place, name string, v strictjson.Raw) string {
	if k := v.Kind(); k == strictjson.KindObject || k == strictjson.KindArray {
		s.other(p, name, v)
		return ""
	}
	return s.scalar(p, v)
}

// rawJSON is a text as the raw value that the log keeps: the JSON object or array that it spells, or
// else a JSON string.
func rawJSON(text string) string {
	if text != "" && (text[0] == '{' || text[0] == '[') && strictjson.Check(text) == nil && strings.TrimRight(text, " \t\r\n") == text {
		return text
	}
	return quoted(text)
}

// arguments is what a call was given, as raw JSON.
func (s *sink) arguments(p place, v strictjson.Raw) string {
	if v.Kind() != strictjson.KindString {
		if v == "" || v.IsNull() {
			return "{}"
		}
		return string(v)
	}
	text := strings.Trim(s.scalar(p, v), " \t\r\n")
	if text == "" {
		return "{}"
	}
	if strictjson.Check(text) == nil {
		return text
	}
	s.report.lose("arguments that are not JSON", p, "kept as a JSON string")
	return quoted(text)
}

// layouts are the times that are understood besides numbers.
var layouts = []string{
	time.RFC3339, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04", "2006-01-02", "3:04 pm on 2 January, 2006",
}

// at decodes a time in any of the usual notations; without a zone it is UTC. What cannot be read is
// reported and zero.
func (s *sink) at(p place, v strictjson.Raw) time.Time {
	var t time.Time
	switch v.Kind() {
	case strictjson.KindNumber:
		t = unixTime(v)
	case strictjson.KindString:
		text := strings.TrimSpace(s.scalar(p, v))
		if text == "" {
			return t
		}
		for _, layout := range layouts {
			if parsed, err := time.Parse(layout, text); err == nil {
				t = parsed
				break
			}
		}
	case strictjson.KindNull, strictjson.KindInvalid:
		return t
	}
	t = t.UTC().Truncate(time.Microsecond)
	if t.IsZero() || t.Year() < 1 || t.Year() > 9999 {
		s.report.lose("times that cannot be read", p, "left out")
		return time.Time{}
	}
	return t
}

// unixTime reads seconds, or milliseconds where seconds would lie thousands of years ahead.
func unixTime(v strictjson.Raw) time.Time {
	const milliseconds, last = 1e11, 253402300799
	n, err := v.Float()
	if err != nil {
		return time.Time{}
	}
	if math.Abs(n) >= milliseconds {
		n /= 1000
	}
	if n <= 0 || n > last {
		return time.Time{}
	}
	return time.UnixMicro(int64(n * 1e6))
}

var errNoBytes = errors.New("no bytes")

// decodeBase64 takes the alphabets and paddings that are in use.
func decodeBase64(text string) ([]byte, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(text, "-_") {
		encoding = base64.RawURLEncoding
	}
	data, err := encoding.DecodeString(text)
	if err == nil && len(data) == 0 {
		err = errNoBytes
	}
	return data, err
}

// dataURL decodes what follows on data: in an address that holds the bytes itself.
func dataURL(rest string) (turn.Image, error) {
	kind, text, _ := strings.Cut(rest, ",")
	kind, ok := strings.CutSuffix(kind, ";base64")
	if !ok {
		return turn.Image{}, errNoBytes
	}
	data, err := decodeBase64(text)
	kind, _, _ = strings.Cut(kind, ";")
	return turn.Image{MediaType: kind, Blob: turn.Blob{Data: data}}, err
}
