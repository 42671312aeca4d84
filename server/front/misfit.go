package front

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// misfit says which field of a call is not what it must be, as OpenAI says it and by the path that it has for it:
// messages[0].content.
type misfit struct {
	param  string
	code   string
	detail string
}

// The codes of misfits.
const (
	missing      = "missing_required_parameter"
	invalidType  = "invalid_type"
	invalidValue = "invalid_value"
)

func (e *misfit) Error() string {
	field := "'" + e.param + "'"
	if e.param == "" {
		field = "the body"
	}
	switch e.code {
	case missing:
		return fmt.Sprintf("Missing required parameter: %s.", field)
	case invalidType:
		return fmt.Sprintf("Invalid type for %s: %s", field, e.detail)
	default:
		return fmt.Sprintf("Invalid value for %s: %s", field, e.detail)
	}
}

var (
	errNoMessages = &misfit{param: "messages", code: missing}
	// errUncalled is of a result without its call.
	errUncalled = &misfit{"", invalidValue, "no call before this message waits for its result. Send results directly behind the 'assistant' message that has their 'tool_calls', each once."}
	// errForgotten is of a result whose call the session no longer has.
	errForgotten = &misfit{"messages", invalidValue, "the call that the last results answer is not in the session any more. Leave out the call and its results."}
)

// mistyped is the misfit of a value of another type.
func mistyped(param, expected string, value []byte) *misfit {
	return &misfit{param, invalidType, fmt.Sprintf("expected %s, but got %s instead.", expected, typeIn(value))}
}

// typed is the error of a value that could not be read, without the words of Go for it.
func typed(param string, raw []byte, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return &misfit{param, invalidValue, err.Error()}
	}
	begin := space(raw, 0)
	path, value := standing(raw[begin:], int(wrong.Offset)-begin)
	param, expected := joined(param, path), expectedOf(wrong.Type)
	if strings.HasPrefix(wrong.Value, "number ") && (expected == "a number" || typeIn(value) == "an integer") {
		return &misfit{param, invalidValue, fmt.Sprintf("%.40s is out of range.", value)}
	}
	return mistyped(param, expected, value)
}

// standing is where an offset of a value of JSON is, as a path that begins with a dot or a bracket, and what stands there.
func standing(raw []byte, offset int) (path string, found []byte) {
	found = raw
	if len(raw) == 0 || offset <= 1 {
		return "", found
	}
	look := func(name string, at int) (int, error) {
		end, err := value(raw, at)
		if err == nil && offset > at && offset <= end {
			path, found = standing(raw[at:end], offset-at)
			path = name + path
		}
		return end, err
	}
	var err error
	switch raw[0] {
	case '[':
		n := 0
		_, err = items(raw, 1, ']', func(at int) (int, error) {
			n++
			return look(fmt.Sprintf("[%d]", n-1), at)
		})
	case '{':
		err = members(raw, func(name string, at int) (int, error) { return look("."+name, at) })
	}
	if err != nil {
		return "", raw // what was decoded is JSON
	}
	return path, found
}

// joined is the path of a part of what has a path.
func joined(param, path string) string {
	if param == "" {
		return strings.TrimPrefix(path, ".")
	}
	if path != "" && path[0] != '.' && path[0] != '[' {
		path = "." + path
	}
	return param + path
}

// expectedOf is what OpenAI calls the values of a type.
func expectedOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Uint32:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		_, of, _ := strings.Cut(expectedOf(t.Elem()), " ")
		return "an array of " + of + "s"
	default:
		return "an object"
	}
}

// typeIn is what OpenAI calls the type of a value of JSON.
func typeIn(value []byte) string {
	switch {
	case len(value) == 0 || value[0] == 'n':
		return "null"
	case value[0] == '"':
		return "a string"
	case value[0] == '{':
		return "an object"
	case value[0] == '[':
		return "an array"
	case value[0] == 't' || value[0] == 'f':
		return "a boolean"
	case strings.ContainsAny(string(value), ".eE"):
		return "a decimal number"
	default:
		return "an integer"
	}
}

// within names the message that an error is about.
func within(n int, err error) error {
	message := fmt.Sprintf("messages[%d]", n)
	var wrong *misfit
	if errors.As(err, &wrong) {
		return &misfit{joined(message, wrong.param), wrong.code, wrong.detail}
	}
	return fmt.Errorf("%s: %w", message, err)
}
