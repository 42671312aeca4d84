package budget

import (
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// FieldError is bad input: it names the field, the problem and what to do instead.
type FieldError = invalid.Field

func fieldErrorf(field, fix, format string, args ...any) error {
	return invalid.New(field, fmt.Sprintf(format, args...), fix)
}
