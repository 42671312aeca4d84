package record

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Codec writes and reads one kind of value.
type Codec[V any] struct {
	Append func(dst []byte, v V) []byte
	Decode func(strictjson.Raw) (V, error)
	// At does what Append does for the value that v points to, which it neither changes nor keeps. It is
	// for values that are large to copy, and may be nil.
	At func(dst []byte, v *V) []byte
	// Into does what Decode does, which may be nil then, for the value that v points to: it is zero before and may be anything
	// after an error. It is for values that are large to copy, and may be nil.
	Into func(v *V, from strictjson.Raw) error
	// sparse leaves out what is empty inside; nil: there is nothing to leave out.
	sparse func(dst []byte, v *V) []byte
}

func (c *Codec[V]) decodeInto(v *V, from strictjson.Raw) (err error) {
	if c.Into != nil {
		return c.Into(v, from)
	}
	*v, err = c.Decode(from)
	return err
}

func (c *Codec[V]) appendAt(dst []byte, v *V) []byte {
	if c.At != nil {
		return c.At(dst, v)
	}
	return c.Append(dst, *v)
}

// Text is the codec of strings and of types made of them. What is written must be valid UTF-8.
func Text[S ~string]() Codec[S] {
	return Codec[S]{
		Append: func(dst []byte, s S) []byte { return strictjson.AppendString(dst, string(s)) },
		Decode: func(v strictjson.Raw) (S, error) {
			s, err := v.String()
			return S(s), err
		},
	}
}

// Int is the codec of whole numbers.
func Int() Codec[int64] {
	return Codec[int64]{
		Append: func(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) },
		Decode: strictjson.Raw.Int,
	}
}

// Float is the codec of numbers. What is written must be finite; it is read back exactly.
func Float() Codec[float64] {
	return Codec[float64]{
		Append: func(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'g', -1, 64) },
		Decode: strictjson.Raw.Float,
	}
}

// Bool is the codec of true and false.
func Bool() Codec[bool] {
	return Codec[bool]{Append: strconv.AppendBool, Decode: strictjson.Raw.Bool}
}

// Time is the codec of times. They are written as [strictjson.TimeFormat] has it and read from any RFC 3339
// text, to the microsecond; the zero time is null.
func Time() Codec[time.Time] {
	return Codec[time.Time]{Append: appendTime, Decode: decodeTime}
}

func appendTime(dst []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(dst, "null"...)
	}
	return strictjson.AppendTime(dst, t)
}

func decodeTime(v strictjson.Raw) (time.Time, error) {
	if v.IsNull() {
		return time.Time{}, nil
	}
	s, err := v.String()
	if err != nil {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("expected a time such as %q, found %.40q", strictjson.TimeFormat, s)
	}
	// With an offset a time may be of another year in UTC.
	return t.UTC().Truncate(time.Microsecond), CheckTime("", t)
}

// Of is the codec of a record inside another.
func Of[E any](fields Fields[E]) Codec[E] {
	return Codec[E]{
		Append: func(dst []byte, e E) []byte { return fields.Append(dst, &e) },
		At:     fields.Append,
		sparse: fields.AppendSparse,
		Decode: func(v strictjson.Raw) (E, error) { return fields.Decode(string(v)) },
		Into:   func(e *E, v strictjson.Raw) error { return fields.DecodeInto(e, string(v)) },
	}
}

// ListOf is the codec of an array. An empty list is read as nil.
func ListOf[E any](c Codec[E]) Codec[[]E] { return listOf(c, math.MaxInt) }

func listOf[E any](c Codec[E], most int) Codec[[]E] {
	return Codec[[]E]{
		Append: func(dst []byte, list []E) []byte {
			dst = append(dst, '[')
			for i := range list {
				if i > 0 {
					dst = append(dst, ',')
				}
				dst = c.appendAt(dst, &list[i])
			}
			return append(dst, ']')
		},
		Decode: func(v strictjson.Raw) ([]E, error) {
			var list []E
			err := v.Array(func(v strictjson.Raw) error {
				if len(list) == most {
					return invalid.New("", fmt.Sprintf("there are more than %d", most), "give fewer at once")
				}
				var zero E
				list = append(list, zero)
				if err := c.decodeInto(&list[len(list)-1], v); err != nil {
					return Within(Indexed("", len(list)-1), err)
				}
				return nil
			})
			return list, err
		},
	}
}
