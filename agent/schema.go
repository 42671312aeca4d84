package agent

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// shape is what a Go type looks like in JSON: it writes the schema and holds arguments against it.
type shape struct {
	// head is the schema's members without those below: `"type":"string"`. Empty for anything.
	head   string
	kind   strictjson.Kind    // what a value must be; KindInvalid for anything
	fields []member           // of an object with known members
	object bool               // it is one of those, even where there are none
	elem   *shape             // of an array, or of every member of an object
	size   int                // how many elements an array has, 0 for any number
	whole  func(string) error // of whole numbers: whether one fits
}

type member struct {
	name, doc string
	required  bool
	shape     *shape
}

var (
	timeType        = reflect.TypeFor[time.Time]()
	jsonReader      = reflect.TypeFor[json.Unmarshaler]()
	textReader      = reflect.TypeFor[encoding.TextUnmarshaler]()
	bytesType       = reflect.TypeFor[[]byte]()
	numberType      = reflect.TypeFor[json.Number]()
	errNotInJSON    = "cannot be read from JSON"
	adviceNotInJSON = "use strings, numbers, booleans, structs, slices, and maps with string keys"
)

// shapeOf describes a type. The errors are *[FieldError]. Within are the types around it.
func shapeOf(t reflect.Type, within ...reflect.Type) (*shape, error) {
	if slices.Contains(within, t) {
		return nil, endless("", t)
	}
	within = append(slices.Clip(within), t)
	switch {
	case t.Kind() == reflect.Pointer:
		return shapeOf(t.Elem(), within...)
	case t == timeType:
		return &shape{head: `"type":"string","format":"date-time"`, kind: strictjson.KindString}, nil
	case reflect.PointerTo(t).Implements(jsonReader):
		return &shape{}, nil
	case reflect.PointerTo(t).Implements(textReader):
		return &shape{head: `"type":"string"`, kind: strictjson.KindString}, nil
	case t == numberType:
		return &shape{head: `"type":"number"`, kind: strictjson.KindNumber}, nil
	case t == bytesType:
		return &shape{head: `"type":"string","contentEncoding":"base64"`, kind: strictjson.KindString}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return &shape{head: `"type":"string"`, kind: strictjson.KindString}, nil
	case reflect.Bool:
		return &shape{head: `"type":"boolean"`, kind: strictjson.KindBool}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &shape{head: `"type":"integer"`, kind: strictjson.KindNumber, whole: func(digits string) error {
			_, err := strconv.ParseInt(digits, 10, t.Bits())
			return err
		}}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &shape{head: `"type":"integer","minimum":0`, kind: strictjson.KindNumber, whole: func(digits string) error {
			_, err := strconv.ParseUint(digits, 10, t.Bits())
			return err
		}}, nil
	case reflect.Float32, reflect.Float64:
		return &shape{head: `"type":"number"`, kind: strictjson.KindNumber}, nil
	case reflect.Interface:
		if t.NumMethod() == 0 {
			return &shape{}, nil
		}
	case reflect.Slice, reflect.Array:
		elem, err := shapeOf(t.Elem(), within...)
		s := &shape{head: `"type":"array"`, kind: strictjson.KindArray, elem: elem}
		if t.Kind() == reflect.Array && t.Len() > 0 {
			s.size = t.Len()
			s.head += fmt.Sprintf(`,"minItems":%d,"maxItems":%[1]d`, s.size)
		}
		return s, record.Within("[]", err)
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			elem, err := shapeOf(t.Elem(), within...)
			return &shape{head: `"type":"object"`, kind: strictjson.KindObject, elem: elem}, record.Within("[]", err)
		}
	case reflect.Struct:
		s := &shape{head: `"type":"object"`, kind: strictjson.KindObject, object: true}
		return s, s.addFields(t, within)
	}
	return nil, invalid.New("", fmt.Sprintf("%s %s", t, errNotInJSON), adviceNotInJSON)
}

func endless(name string, t reflect.Type) error {
	return invalid.New(name, fmt.Sprintf("%s contains itself", t), "use a type that does not: a schema has an end")
}

// addFields adds the fields of a struct as encoding/json sees them, those of embedded structs as its own.
func (s *shape) addFields(t reflect.Type, within []reflect.Type) error {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			if slices.Contains(within, inner) {
				return endless(f.Name, inner)
			}
			if f.Type.Kind() == reflect.Pointer && !f.IsExported() {
				return invalid.New(f.Name, fmt.Sprintf("%s %s", f.Type, errNotInJSON), "embed the struct, not a pointer to it")
			}
			if err := s.addFields(inner, append(slices.Clip(within), inner)); err != nil {
				return err
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		case strings.ContainsFunc(name, unnamable):
			return invalid.New(f.Name, fmt.Sprintf("%q is no name that encoding/json takes", name), "use letters and digits in its json tag")
		}
		if slices.ContainsFunc(s.fields, func(m member) bool { return m.name == name }) {
			return invalid.New(name, "stands twice", "give each field a name of its own in its json tag")
		}
		of, err := shapeOf(f.Type, within...)
		if err != nil {
			return record.Within(name, err)
		}
		has := func(option string) bool { return slices.Contains(strings.Split(options, ","), option) }
		if has("string") {
			return invalid.New(name, "has the option string, which hides its type", "leave the option out")
		}
		required := f.Type.Kind() != reflect.Pointer && !has("omitempty") && !has("omitzero")
		s.fields = append(s.fields, member{name: name, doc: f.Tag.Get("doc"), required: required, shape: of})
	}
	return nil
}

// unnamable are the characters for which encoding/json drops a name and takes the field's own.
func unnamable(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r)
}

// append writes the schema, with what the type is for where that is known.
func (s *shape) append(dst []byte, doc string) []byte {
	dst = append(append(dst, '{'), s.head...)
	comma := func() {
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
	}
	if doc != "" {
		comma()
		dst = strictjson.AppendString(append(dst, `"description":`...), doc)
	}
	switch {
	case s.object:
		dst = append(dst, `,"properties":{`...)
		var required []byte
		for _, m := range s.fields {
			comma()
			dst = append(strictjson.AppendString(dst, m.name), ':')
			dst = m.shape.append(dst, m.doc)
			if m.required {
				required = strictjson.AppendString(append(required, ','), m.name)
			}
		}
		dst = append(dst, '}')
		if len(required) > 0 {
			dst = append(append(append(dst, `,"required":[`...), required[1:]...), ']')
		}
		dst = append(dst, `,"additionalProperties":false`...)
	case s.kind == strictjson.KindArray:
		dst = s.elem.append(append(dst, `,"items":`...), "")
	case s.elem != nil:
		dst = s.elem.append(append(dst, `,"additionalProperties":`...), "")
	}
	return append(dst, '}')
}
