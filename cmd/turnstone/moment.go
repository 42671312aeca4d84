package main

import (
	"time"
)

// parseMoment reads a time as people write it: RFC 3339, a local date or date and time, or how long
// ago. An empty text is the zero time.
func parseMoment(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if ago, err := time.ParseDuration(text); err == nil {
		return time.Now().Add(-ago), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("write 2h (ago), 2006-01-02, 2006-01-02T15:04:05 or the same with a zone", "%s: %q is no time", field, text)
}
