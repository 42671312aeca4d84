package server

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Paging is the part of a request that asks for a page. It is exported for huma, which reads it.
type Paging struct {
	Cursor string `query:"cursor" doc:"where to go on: the next of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"how many there are on a page at most"`
}

// page is one page of a list.
type page[T any] struct {
	Items []T    `json:"items" doc:"what is on the page"`
	Next  string `json:"next,omitempty" doc:"the cursor of the next page; on the last there is none"`
}

// pageOf is a page of things that are shown in another way than they are kept.
func pageOf[K, T any](list []K, show func(K) T) page[T] {
	p := page[T]{Items: make([]T, len(list))}
	for i, kept := range list {
		p.Items[i] = show(kept)
	}
	return p
}

// cut is a page of at most limit things of a list that was asked for one more, and the cursor after it.
func cut[K, T any](list []K, limit int, show func(K) T, cursor func(K) string) page[T] {
	more := len(list) > limit
	if more {
		list = list[:limit]
	}
	p := pageOf(list, show)
	if more {
		p.Next = cursor(list[limit-1])
	}
	return p
}

// cursorOf is a place in the list of that name, for clients to hand back and not to look into.
func cursorOf(list, place string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(list + ":" + place))
}

// placeOf is what cursorOf was given, empty for no cursor. A cursor of another list is refused.
func placeOf(list, cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	of, place, found := strings.Cut(string(text), ":")
	if err != nil || !found || of != list || place == "" {
		return "", misplacedCursor("cursor")
	}
	return place, nil
}

// numberOf is placeOf for a place that is a number.
func numberOf(list, cursor string) (int64, error) {
	place, err := placeOf(list, cursor)
	if place == "" || err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(place, 10, 64)
	if err != nil || n < 0 {
		return 0, misplacedCursor("cursor")
	}
	return n, nil
}

// numbered is cursorOf for a place that is a number.
func numbered(list string, place int64) string { return cursorOf(list, strconv.FormatInt(place, 10)) }

// misplacedCursor is what a cursor of something else is refused with, by the name of the parameter that it came in.
func misplacedCursor(parameter string) error {
	return invalid.New(parameter, "is none of this list", "give the next of the page before")
}
