package front

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// misfit says which field of a call is not what it must be, by the path that OpenAI has for it: messages.0.content.
type misfit struct {
	param   string
	problem string
}

func (e *misfit) Error() string { return e.param + ": " + e.problem }

var errNoMessages = &misfit{"messages", "is required; send a list of one message at least"}

// typed is the error of a value that could not be read, in words.
func typed(param string, err error) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w", param, err)
	}
	if wrong.Field != "" {
		param += "." + wrong.Field
	}
	return &misfit{param, fmt.Sprintf("is a JSON %s; it must be %s", wrong.Value, kindIn(wrong.Type))}
}

// kindIn is what JSON has for a type.
func kindIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	default:
		return "an object"
	}
}

// within names the message that an error is about.
func within(n int, err error) error {
	var wrong *misfit
	if errors.As(err, &wrong) {
		return &misfit{fmt.Sprintf("messages.%d.%s", n, wrong.param), wrong.problem}
	}
	return fmt.Errorf("messages[%d]: %w", n, err)
}
