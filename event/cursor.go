package event

import (
	"fmt"
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// FieldError is the error for input that breaks a rule; found with errors.As.
type FieldError = invalid.Field

// Cursor is what to give to read on behind the event. It is empty while the event has no place. What stands in it is
// nobody's business, and holds for the tenant only.
func (e *Event) Cursor() string {
	if e.Place == 0 {
		return ""
	}
	return strconv.FormatInt(e.Place, 10)
}

// ParseCursor returns the place that a cursor stands for, 0 for the empty one. The error is a *[FieldError].
func ParseCursor(cursor string) (place int64, err error) {
	if cursor == "" {
		return 0, nil
	}
	place, err = strconv.ParseInt(cursor, 10, 64)
	if err != nil || place <= 0 || strconv.FormatInt(place, 10) != cursor {
		return 0, invalid.New("after", fmt.Sprintf("%.40q is not a cursor", cursor), "use one that came with an event")
	}
	return place, nil
}
