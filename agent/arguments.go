package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// decode reads a value of the shape. Unknown, repeated, missing and ill-typed members are refused with a *[FieldError]
// that names the place and is written for the model.
func (s *shape) decode(raw string, into any) error {
	if err := s.check(strictjson.Raw(strings.TrimSpace(raw))); err != nil {
		return record.Within("", err)
	}
	err := json.Unmarshal([]byte(raw), into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		// What the shape lets through and Go does not: numbers that are too large, values of types that read themselves.
		return invalid.New(wrong.Field, fmt.Sprintf("%s is no %s", wrong.Value, wrong.Type), "give a value that fits")
	}
	return err
}

func (s *shape) check(v strictjson.Raw) error {
	if s.kind == strictjson.KindInvalid {
		return nil
	}
	if is := v.Kind(); is != s.kind {
		return invalid.New("", fmt.Sprintf("is %s", is), fmt.Sprintf("give %s", s.kind))
	}
	switch {
	case s.object:
		return s.checkFields(v)
	case s.whole != nil && s.whole(string(v)) != nil:
		return invalid.New("", fmt.Sprintf("%.40s does not fit", string(v)), "give a whole number in its range")
	case s.kind == strictjson.KindArray:
		n := 0
		err := v.Array(func(v strictjson.Raw) error {
			n++
			return record.Within(record.Indexed("", n-1), s.elem.check(v))
		})
		if err == nil && s.size > 0 && n != s.size {
			err = invalid.New("", fmt.Sprintf("has %d elements", n), fmt.Sprintf("give %d", s.size))
		}
		return err
	case s.elem != nil:
		return strictjson.Object(string(v), func(name string, v strictjson.Raw) error {
			return record.Within(name, s.elem.check(v))
		})
	}
	return nil
}

func (s *shape) checkFields(v strictjson.Raw) error {
	there := make(map[string]bool, len(s.fields))
	err := strictjson.Object(string(v), func(name string, v strictjson.Raw) error {
		for i := range s.fields {
			m := &s.fields[i]
			if m.name != name {
				continue
			}
			there[name] = true
			if v.IsNull() && !m.required {
				return nil
			}
			return record.Within(name, m.shape.check(v))
		}
		return invalid.New(name, "is not a field", "legal here: "+s.names())
	})
	if err != nil {
		return err
	}
	for _, m := range s.fields {
		if m.required && !there[m.name] {
			return invalid.New(m.name, "is missing", "give it")
		}
	}
	return nil
}

func (s *shape) names() string {
	names := make([]string, len(s.fields))
	for i, m := range s.fields {
		names[i] = m.name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
