package record

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// CheckLine refuses text that is empty, longer than limit bytes or more than one line, and what no
// store can keep. The error names the field.
func CheckLine(field, s string, limit int) error {
	if strings.TrimSpace(s) == "" {
		return invalid.New(field, "is empty", "give one")
	}
	if hasControl(s) && utf8.ValidString(s) {
		return invalid.New(field, "has line breaks or other control characters", "write it on one line")
	}
	return CheckText(field, s, limit)
}

// hasControl reports whether valid UTF-8 holds a control character: one of ASCII, or of those that follow it, U+0080 to
// U+009F, which are written with 0xc2 and one byte.
func hasControl(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case ' ' <= c && c < 0x7f: // nearly all
		case c <= 0x7f, c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0:
			return true
		}
	}
	return false
}

// CheckText refuses text that is longer than limit bytes or that no store can keep.
func CheckText(field, s string, limit int) error {
	switch {
	case len(s) > limit:
		return invalid.New(field, fmt.Sprintf("is %d bytes long, at most %d", len(s), limit), "shorten it")
	case !utf8.ValidString(s):
		return invalid.New(field, "is not valid UTF-8", "send UTF-8")
	case strings.IndexByte(s, 0) >= 0:
		return invalid.New(field, "has a NUL character", "leave it out")
	}
	return nil
}

// CheckTime refuses a time that [strictjson.TimeFormat] cannot write: in UTC its year has four digits.
func CheckTime(field string, t time.Time) error {
	if year := t.UTC().Year(); year < 0 || year > 9999 {
		return invalid.New(field, fmt.Sprintf("the year is %d in UTC", year), "give a time of the years 0 to 9999")
	}
	return nil
}

// CheckList holds a list against its limit and every element against check, and refuses elements
// that stand twice. Key says what makes an element the same as another.
func CheckList[E any](field string, list []E, limit int, key func(E) string, check func(E) error) error {
	if len(list) > limit {
		return invalid.New(field, fmt.Sprintf("would be %d, at most %d", len(list), limit), "leave out what no longer matters")
	}
	for i, e := range list {
		if err := check(e); err != nil {
			return Within(Indexed(field, i), err)
		}
		for _, before := range list[:i] {
			if key(before) == key(e) {
				return invalid.New(Indexed(field, i), fmt.Sprintf("%.80q stands twice", key(e)), "name each once")
			}
		}
	}
	return nil
}
