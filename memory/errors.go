package memory

import (
	"errors"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// FieldError is bad input: it names the field, the problem and what to do instead.
type FieldError = invalid.Field

func fieldErrorf(field, fix, format string, args ...any) error {
	return invalid.New(field, fmt.Sprintf(format, args...), fix)
}

// within puts the place of a value before the field an error names; an error that names none
// gets the place for its field.
func within(place string, err error) error {
	if err == nil || place == "" {
		return err
	}
	var field *FieldError
	if !errors.As(err, &field) {
		return invalid.New(place, err.Error(), "")
	}
	name := place + "." + field.Name
	if field.Name == "" || field.Name[0] == '[' {
		name = place + field.Name
	}
	return invalid.New(name, field.Problem, field.Fix)
}

func indexed(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
