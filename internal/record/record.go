// Package record writes and reads the JSON of stored records by one table of their fields, so that
// the two directions cannot part.
//
// Reading is strict: unknown, repeated and ill-typed members are refused with an error that is a
// *[invalid.Field] and names the place. Writing is deterministic: the members stand in the order of
// the table, and what is empty is left out unless the table says otherwise.
package record

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Fields is the table of a record's fields in the order in which they are written.
type Fields[T any] []Field[T]

// Field is one field of a record T. [Value], [Optional] and [List] make them.
type Field[T any] struct {
	name   string
	empty  func(*T) bool
	always bool // it is written even so
	append func([]byte, *T) []byte
	sparse func([]byte, *T) []byte // of what is inside, which is empty where this writes {}; nil of all else
	decode func(*T, strictjson.Raw) error
}

// Value is a field that is left out while it is zero.
func Value[T any, V comparable](name string, at func(*T) *V, c Codec[V]) Field[T] {
	var zero V
	return Field[T]{
		name:   name,
		empty:  func(t *T) bool { return *at(t) == zero },
		append: func(dst []byte, t *T) []byte { return c.appendAt(dst, at(t)) },
		decode: func(t *T, v strictjson.Raw) error { return c.decodeInto(at(t), v) },
	}
}

// Optional is a field that is left out while it is nil.
func Optional[T, V any](name string, at func(*T) **V, c Codec[V]) Field[T] {
	return Field[T]{
		name:   name,
		empty:  func(t *T) bool { return *at(t) == nil },
		append: func(dst []byte, t *T) []byte { return c.appendAt(dst, *at(t)) },
		decode: func(t *T, v strictjson.Raw) error {
			value := new(V)
			*at(t) = value
			return c.decodeInto(value, v)
		},
	}
}

// List is a field of several values that is left out while there are none.
func List[T, E any](name string, at func(*T) *[]E, c Codec[E]) Field[T] {
	return listed(name, at, ListOf(c))
}

// Few is a [List] of so many values at most. Reading ends at the first that is too many: values may take many times the
// memory of their bytes.
func Few[T, E any](name string, at func(*T) *[]E, c Codec[E], most int) Field[T] {
	return listed(name, at, listOf(c, most))
}

func listed[T, E any](name string, at func(*T) *[]E, list Codec[[]E]) Field[T] {
	return Field[T]{
		name:   name,
		empty:  func(t *T) bool { return len(*at(t)) == 0 },
		append: func(dst []byte, t *T) []byte { return list.Append(dst, *at(t)) },
		decode: func(t *T, v strictjson.Raw) (err error) {
			*at(t), err = list.Decode(v)
			return err
		},
	}
}

// Always returns the field as one that is written even where it is empty.
func (f Field[T]) Always() Field[T] {
	f.always = true
	return f
}

// Append appends the record as one JSON object on one line.
func (fields Fields[T]) Append(dst []byte, t *T) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for i := range fields {
		f := &fields[i]
		if f.always || !f.empty(t) {
			dst = f.append(f.begin(dst, start), t)
		}
	}
	return append(dst, '}')
}

// AppendSparse appends the record without anything that is empty, also where Append would write it, and inside of it.
// [Fields.Decode] reads the same from both.
func (fields Fields[T]) AppendSparse(dst []byte, t *T) []byte {
	dst = append(dst, '{')
	start := len(dst)
	for i := range fields {
		f := &fields[i]
		if f.empty(t) {
			continue
		}
		before := len(dst)
		dst = f.begin(dst, start)
		if f.sparse == nil {
			dst = f.append(dst, t)
			continue
		}
		value := len(dst)
		if dst = f.sparse(dst, t); string(dst[value:]) == "{}" {
			dst = dst[:before]
		}
	}
	return append(dst, '}')
}

// begin appends what comes before the field's value in a record that starts there.
func (f *Field[T]) begin(dst []byte, start int) []byte {
	if len(dst) > start {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, f.name...)
	return append(dst, '"', ':')
}

// Decode reads one JSON object. Members that are not there stay zero: whether they may is the
// caller's to check.
func (fields Fields[T]) Decode(data string) (T, error) {
	var t T
	if err := fields.DecodeInto(&t, data); err != nil {
		var zero T
		return zero, err
	}
	return t, nil
}

// DecodeInto is Decode into a record that is zero. After an error it may be anything.
func (fields Fields[T]) DecodeInto(t *T, data string) error {
	return Within("", strictjson.Object(data, func(name string, v strictjson.Raw) error {
		for i := range fields {
			if fields[i].name == name {
				return Within(name, fields[i].decode(t, v))
			}
		}
		return invalid.New(name, "is not a field", "legal here: "+fields.names())
	}))
}

// CheckStorable refuses what would not be read again as it is written: text that is not UTF-8, a number that is not finite, a time
// that cannot be written. The error names the field.
func (fields Fields[T]) CheckStorable(t *T) error {
	var again T
	for i := range fields {
		f := &fields[i]
		if f.empty(t) {
			continue
		}
		text := f.append(nil, t)
		if !utf8.Valid(text) {
			return invalid.New(f.name, "is not valid UTF-8", "send UTF-8")
		}
		if err := f.decode(&again, strictjson.Raw(text)); err != nil {
			return Within(f.name, err)
		}
	}
	return nil
}

func (fields Fields[T]) names() string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return strings.Join(names, ", ")
}

// Within puts the path of the enclosing value before the field that an error names, and makes an
// *[invalid.Field] of any other error. Elements of a list are named by [Indexed].
func Within(path string, err error) error {
	if err == nil {
		return nil
	}
	var field *invalid.Field
	if !errors.As(err, &field) {
		return invalid.New(path, err.Error(), "")
	}
	if path != "" && field.Name != "" && field.Name[0] != '[' {
		path += "."
	}
	return invalid.New(path+field.Name, field.Problem, field.Fix)
}

// Indexed names an element of a list.
func Indexed(field string, i int) string { return field + "[" + strconv.Itoa(i) + "]" }

// Inside is a field of any type that is always written.
func Inside[T, V any](name string, at func(*T) *V, c Codec[V]) Field[T] {
	sparse := c.sparse
	if sparse == nil {
		sparse = c.appendAt
	}
	return Field[T]{
		name:   name,
		empty:  func(*T) bool { return false },
		append: func(dst []byte, t *T) []byte { return c.appendAt(dst, at(t)) },
		sparse: func(dst []byte, t *T) []byte { return sparse(dst, at(t)) },
		decode: func(t *T, v strictjson.Raw) error { return c.decodeInto(at(t), v) },
	}
}
