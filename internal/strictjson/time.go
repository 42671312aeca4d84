package strictjson

import "time"

// TimeFormat is how times are written: UTC, RFC 3339, microseconds.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// AppendTime appends t as a JSON string in [TimeFormat]. Records are full of
// times, and [time.Time.AppendFormat] takes its layout apart for each of them.
func AppendTime(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return append(t.AppendFormat(append(dst, '"'), TimeFormat), '"')
	}
	hour, minute, second := t.Clock()
	micros := t.Nanosecond() / 1000
	return append(dst, '"',
		digit(year/1000), digit(year/100), digit(year/10), digit(year), '-',
		digit(int(month)/10), digit(int(month)), '-', digit(day/10), digit(day), 'T',
		digit(hour/10), digit(hour), ':', digit(minute/10), digit(minute), ':', digit(second/10), digit(second), '.',
		digit(micros/100_000), digit(micros/10_000), digit(micros/1000), digit(micros/100), digit(micros/10), digit(micros),
		'Z', '"')
}

// digit is the last decimal digit of n.
func digit(n int) byte { return '0' + byte(uint(n)%10) }
