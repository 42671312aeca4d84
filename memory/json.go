package memory

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// object reads an object's members; what set does not know is refused by name.
func object(data, legal string, set func(name string, v strictjson.Raw) (known bool, err error)) error {
	return strictjson.Object(data, func(name string, v strictjson.Raw) error {
		known, err := set(name, v)
		if !known {
			return fieldErrorf(name, "legal here: "+legal, "is not a field")
		}
		return within(name, err)
	})
}

// list reads an array; an error names the element.
func list[T any](v strictjson.Raw, element func(strictjson.Raw) (T, error)) ([]T, error) {
	var items []T
	err := v.Array(func(v strictjson.Raw) error {
		item, err := element(v)
		if err != nil {
			return within("["+strconv.Itoa(len(items))+"]", err)
		}
		items = append(items, item)
		return nil
	})
	return items, err
}

func decodeTime(v strictjson.Raw) (time.Time, error) {
	text, err := v.String()
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(strictjson.TimeFormat, text)
	if err != nil {
		return time.Time{}, fieldErrorf("", "write it like "+strictjson.TimeFormat, "%q is not a time", text)
	}
	return at, nil
}

// appendName appends the name of a member, after a comma unless the object was just opened.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}

// appendText appends a member; an empty one is left out.
func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return strictjson.AppendString(appendName(dst, name), text)
}

// appendTime appends a member; the zero time is left out.
func appendTime(dst []byte, name string, at time.Time) []byte {
	if at.IsZero() {
		return dst
	}
	return strictjson.AppendTime(appendName(dst, name), at)
}

// appendTexts appends a member; an empty list is left out.
func appendTexts(dst []byte, name string, texts []string) []byte {
	if len(texts) == 0 {
		return dst
	}
	dst = append(appendName(dst, name), '[')
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strictjson.AppendString(dst, text)
	}
	return append(dst, ']')
}

// appendRaw appends a member that is JSON already, as a line: a value written over several lines, or
// with white space around it, is given as a string under another name, so that no byte of it is lost.
func appendRaw(dst []byte, name, value string) []byte {
	switch {
	case value == "":
		return dst
	case strings.ContainsAny(value, "\r\n"), value[0] <= ' ', value[len(value)-1] <= ' ':
		return appendText(dst, name+"_text", value)
	}
	return append(appendName(dst, name), value...)
}

func appendFloat(dst []byte, name string, f float64) []byte {
	return appendNumber(appendName(dst, name), f)
}

// appendNumber appends a number as strconv does. Whole millionths from 0 to 1, which is what there is, are written by their
// digits: there is no shorter way to write them.
func appendNumber(dst []byte, f float64) []byte {
	if !(f >= 0 && f <= 1) {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	n := uint64(f*1e6 + 0.5)
	if math.Float64bits(float64(n)/1e6) != math.Float64bits(f) { // which tells 0 and -0 apart
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	if n == 0 || n == 1e6 {
		return append(dst, byte('0'+n/1e6))
	}
	digits := [8]byte{'0', '.'}
	end := 0
	for i := 7; i >= 2; i-- {
		if digits[i] = byte('0' + n%10); digits[i] != '0' && end == 0 {
			end = i + 1
		}
		n /= 10
	}
	return append(dst, digits[:end]...)
}

// millionths rounds a number from 0 to 1 to what is stored of it.
func millionths(f float64) int64 { return int64(math.Round(f * 1e6)) }

func fromMillionths(n int64) float64 { return float64(n) / 1e6 }
