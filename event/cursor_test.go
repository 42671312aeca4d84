package event_test

import (
	"errors"
	"math"
	"testing"

	"github.com/turnstone-dev/turnstone/event"
)

func TestCursor(t *testing.T) {
	for _, place := range []int64{0, 1, 42, math.MaxInt64} {
		e := event.Event{Place: place}
		got, err := event.ParseCursor(e.Cursor())
		if err != nil || got != place || (e.Cursor() == "") != (place == 0) {
			t.Errorf("place %d: cursor %q is place %d, %v", place, e.Cursor(), got, err)
		}
	}
}

func TestWhatIsNoCursor(t *testing.T) {
	for _, text := range []string{"0", "-1", "+1", "01", "1 ", "x", "9223372036854775808", "01JD0000000000000000000000"} {
		_, err := event.ParseCursor(text)
		var field *event.FieldError
		if !errors.As(err, &field) || field.Name != "after" {
			t.Errorf("%q: got %v", text, err)
		}
	}
}
