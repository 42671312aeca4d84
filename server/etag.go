package server

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
)

// tagged is an answer with the tag of what it shows.
type tagged[T any] struct {
	Status int
	ETag   string `header:"ETag" doc:"the version of what is shown, for If-Match and If-None-Match"`
	Body   T
}

// IfNoneMatch is the part of a request that asks only for what is new. It is exported for huma, which reads it.
type IfNoneMatch struct {
	IfNoneMatch string `header:"If-None-Match" doc:"the ETag that the client has; if it is still the one, the answer is 304"`
}

// IfMatch is the part of a request that changes only what the client has seen. It is exported for huma, which reads it.
type IfMatch struct {
	IfMatch string `header:"If-Match" doc:"the ETag that the client has seen; if it is no longer the one, nothing is changed and the answer is 412"`
}

// tag is the tag of a version.
func tag(version string) string { return `"` + version + `"` }

// tagOf is the tag of what is shown, for what has no version of its own.
func tagOf(shown any) (string, error) {
	text, err := json.Marshal(shown)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return tag(hex.EncodeToString(sum[:12])), nil
}

// newer is the answer to who has what that tag says, or nothing where it is that.
func newer[T any](in IfNoneMatch, tag string, body T) *tagged[T] {
	if in.IfNoneMatch != "" && matches(in.IfNoneMatch, tag) {
		return &tagged[T]{Status: http.StatusNotModified, ETag: tag}
	}
	return &tagged[T]{Status: http.StatusOK, ETag: tag, Body: body}
}

// named reports whether the client says what it has seen, and not only that there was something.
func (in IfMatch) named() bool { return in.IfMatch != "" && !matches(in.IfMatch, "*") }

// check refuses a change of something else than the client has seen.
func (in IfMatch) check(tag string) error {
	if in.IfMatch == "" || matches(in.IfMatch, tag) {
		return nil
	}
	return in.failed(tag)
}

// failed is what a change of something else is refused with.
func (in IfMatch) failed(now string) error {
	p := refuse(http.StatusPreconditionFailed, "if-match: it is %s by now; read it again", now)
	p.Field = "if-match"
	return p
}

// matches reports whether a list of tags, or a star, has one. A weak tag is taken for its strong one.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == "*" || one == tag {
			return true
		}
	}
	return false
}
