package memory

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/words"
)

// Order is the order of what a search finds.
type Order string

// The orders. The zero Order is Newest.
const (
	Newest        Order = "newest"
	MostImportant Order = "importance"
)

// Search selects items of a tenant. Empty fields are not asked for; all others must hold. What has
// expired is never found.
type Search struct {
	// Text are words that an item's text must all hold, in any order, whatever their case and English
	// ending.
	Text string
	// Tags that an item must all have, whatever their case.
	Tags []string
	Type Type
	User string
	// Since and Until bound when an item was made: not before Since, before Until.
	Since, Until time.Time
	// MinImportance is from 0 to 1.
	MinImportance float64
	// Archived also finds what was archived.
	Archived bool
	// Order defaults to Newest.
	Order Order
	// Limit is how many items a page holds at most. Defaults to 50, at most 1,000.
	Limit int
	// Cursor is what [Filter.Next] returned for the page before.
	Cursor string
}

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// Compile checks the search and returns what a store is asked: about one tenant, and one session
// unless segment is 0, as of now. Errors are *[FieldError] and name the field.
func (s Search) Compile(tenant string, segment int64, now time.Time) (Filter, error) {
	if err := s.check(); err != nil {
		return Filter{}, err
	}
	f := Filter{
		Tenant: tenant, Segment: segment, User: s.User, Type: s.Type,
		Tags: uniqueTags(nil, s.Tags), Terms: words.Set(s.Text),
		// A store knows whole microseconds: what was made within one is not before its end.
		Since: ceilMicros(s.Since), Until: ceilMicros(s.Until),
		MinImportance: int64(math.Ceil(s.MinImportance*1e6 - 1e-6)), Archived: s.Archived,
		ByImportance: s.Order == MostImportant, Limit: s.Limit, Now: now,
	}
	if f.Limit == 0 {
		f.Limit = defaultLimit
	}
	if len(f.Terms) == 0 && strings.TrimSpace(s.Text) != "" {
		return Filter{}, fieldErrorf("text", "give a word, or leave it out", "%.40q has no word to look for", s.Text)
	}
	if s.Cursor != "" {
		var ok bool
		if f.After, f.AfterImportance, ok = readCursor(s.Cursor, f.ByImportance); !ok {
			return Filter{}, fieldErrorf("cursor", "give the one that the page before ended with, with the same order",
				"%.40q is no cursor of this search", s.Cursor)
		}
	}
	return f, nil
}

func (s Search) check() error {
	switch {
	case s.Limit < 0 || s.Limit > maxLimit:
		return fieldErrorf("limit", fmt.Sprintf("use 1 to %d, or 0 for %d", maxLimit, defaultLimit), "is %d", s.Limit)
	case !(s.MinImportance >= 0 && s.MinImportance <= 1):
		return fieldErrorf("min_importance", "give a number from 0 to 1", "%v is not from 0 to 1", s.MinImportance)
	case s.Order != "" && s.Order != Newest && s.Order != MostImportant:
		return fieldErrorf("order", "use newest or importance", "%.40q is not an order", s.Order)
	case !s.Since.IsZero() && !s.Until.IsZero() && !s.Since.Before(s.Until):
		return fieldErrorf("until", "give a later time", "is not after since")
	}
	if err := checkText("text", s.Text); err != nil {
		return err
	}
	if err := checkName("type", string(s.Type)); err != nil {
		return err
	}
	if err := checkName("user", s.User); err != nil {
		return err
	}
	return checkTags(s.Tags)
}

// Next returns the cursor of the page after one that a store returned for f; empty after the last.
func (f Filter) Next(page []Row) string {
	if len(page) == 0 || len(page) < f.Limit {
		return ""
	}
	last := page[len(page)-1]
	cursor := "n" + last.ID
	if f.ByImportance {
		cursor = "i" + last.ID + strconv.FormatInt(last.Importance, 10)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(cursor))
}

const ulidBytes = 26

func readCursor(cursor string, byImportance bool) (id string, importance int64, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(raw) < 1+ulidBytes || (raw[0] == 'i') != byImportance || raw[0] != 'n' && raw[0] != 'i' {
		return "", 0, false
	}
	id = string(raw[1 : 1+ulidBytes])
	rest := string(raw[1+ulidBytes:])
	if !byImportance {
		return id, 0, ids.Valid(id) && rest == ""
	}
	importance, err = strconv.ParseInt(rest, 10, 64)
	return id, importance, err == nil && importance >= 0 && importance <= 1e6 && ids.Valid(id)
}

func ceilMicros(at time.Time) time.Time {
	if whole := at.Truncate(time.Microsecond); !whole.Equal(at) {
		return whole.Add(time.Microsecond).UTC()
	}
	if at.IsZero() {
		return at
	}
	return at.UTC()
}
