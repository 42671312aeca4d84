package recall

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// calendar is what of a date is known. Zero fields are not.
type calendar struct {
	year, month, day int
}

// dateOf is the date of a turn.
func dateOf(at time.Time) calendar {
	if at.IsZero() {
		return calendar{}
	}
	at = at.UTC()
	return calendar{year: at.Year(), month: int(at.Month()), day: at.Day()}
}

// readCalendar finds a date in a text: the last year, month and day of the month that it names.
func readCalendar(text string) (c calendar) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, field := range fields {
		if n, err := strconv.Atoi(field); err == nil && len(field) == 4 && n >= 1900 && n < 2100 {
			c.year = n
		}
		month := monthOf(field, i == 0)
		if month == 0 {
			continue
		}
		c.month = month
		for _, near := range []int{i - 1, i + 1} {
			if near >= 0 && near < len(fields) && dayOf(fields[near]) > 0 {
				c.day = dayOf(fields[near])
				break
			}
		}
	}
	return c
}

var months = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}

// monthOf returns the month that a word names, from 1. May and March are also verbs: they count only with a
// capital letter, and not as the first word.
func monthOf(word string, first bool) int {
	if verb := strings.EqualFold(word, "may") || strings.EqualFold(word, "march"); verb && (first || !unicode.IsUpper(rune(word[0]))) {
		return 0
	}
	lower := strings.ToLower(word)
	return 1 + slices.IndexFunc(months, func(m string) bool { return m == lower || len(lower) == 3 && m[:3] == lower })
}

// dayOf returns the day of the month that a word such as 8 or 8th is, 0 for none.
func dayOf(word string) int {
	for _, ending := range []string{"st", "nd", "rd", "th"} {
		word = strings.TrimSuffix(word, ending)
	}
	if n, err := strconv.Atoi(word); err == nil && n >= 1 && n <= 31 && len(word) <= 2 {
		return n
	}
	return 0
}

// agrees counts what the date asked for and the other have in common. A day of another month is none.
func (c calendar) agrees(other calendar) (n float64) {
	if c.year != 0 && c.year == other.year {
		n++
	}
	if c.month != 0 && c.month == other.month {
		n++
		if c.day != 0 && c.day == other.day {
			n++
		}
	}
	return n
}
