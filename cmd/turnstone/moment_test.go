package main

import (
	"strings"
	"testing"
	"time"
)

func TestParseMoment(t *testing.T) {
	local := func(y int, m time.Month, d, h, min, s int) time.Time {
		return time.Date(y, m, d, h, min, s, 0, time.Local)
	}
	for text, want := range map[string]time.Time{
		"":                             {},
		"2026-03-04":                   local(2026, 3, 4, 0, 0, 0),
		"2026-03-04 05:06":             local(2026, 3, 4, 5, 6, 0),
		"2026-03-04 05:06:07":          local(2026, 3, 4, 5, 6, 7),
		"2026-03-04T05:06:07":          local(2026, 3, 4, 5, 6, 7),
		"2026-03-04T05:06:07Z":         time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
		"2026-03-04T05:06:07.25+02:00": time.Date(2026, 3, 4, 3, 6, 7, 250e6, time.UTC),
		"2026-03-04T05:06:07.000001Z":  time.Date(2026, 3, 4, 5, 6, 7, 1000, time.UTC),
	} {
		got, err := parseMoment("since", text)
		if err != nil || !got.Equal(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	before := time.Now().Add(-90 * time.Minute)
	got, err := parseMoment("since", "90m")
	if after := time.Now().Add(-90 * time.Minute); err != nil || got.Before(before) || got.After(after) {
		t.Errorf("90m: got %v, %v", got, err)
	}
	for _, text := range []string{"yesterday", "2026-13-01", "12:00", "5"} {
		if _, err := parseMoment("until", text); err == nil || !strings.HasPrefix(err.Error(), "until: ") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestParseAhead(t *testing.T) {
	before := time.Now().Add(90 * time.Minute)
	got, err := parseAhead("due", "90m")
	if after := time.Now().Add(90 * time.Minute); err != nil || got.Before(before) || got.After(after) {
		t.Errorf("90m: got %v, %v", got, err)
	}
	if got, err := parseAhead("due", "2026-03-04T05:06:07Z"); err != nil || !got.Equal(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)) {
		t.Errorf("a time: got %v, %v", got, err)
	}
	if _, err := parseAhead("due", "soon"); err == nil || err.Error() != `due: "soon" is no time; write 2h (from now), 2006-01-02, 2006-01-02T15:04:05 or the same with a zone` {
		t.Errorf("soon: got %v", err)
	}
}
