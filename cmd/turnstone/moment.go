package main

import (
	"time"
)

// parseMoment reads a time as people write it: RFC 3339, a local date or date and time, or how long
// ago. An empty text is the zero time.
func parseMoment(field, text string) (time.Time, error) {
	return readMoment(field, text, "(ago)", func(d time.Duration) time.Time { return time.Now().Add(-d) })
}

// parseAhead is parseMoment for what is to come: how long from now.
func parseAhead(field, text string) (time.Time, error) {
	return readMoment(field, text, "(from now)", func(d time.Duration) time.Time { return time.Now().Add(d) })
}

func readMoment(field, text, way string, apart func(time.Duration) time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		return apart(d), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usage("write 2h "+way+", 2006-01-02, 2006-01-02T15:04:05 or the same with a zone", "%s: %q is no time", field, text)
}
