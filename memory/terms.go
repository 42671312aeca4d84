package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/internal/words"
)

// maxTerm bounds a term in bytes, as internal/words does.
const maxTerm = 64

// TagTerm returns the term that a tag is indexed by and found by. It starts
// with "t_" and consists of small ASCII letters, digits, underscores and
// characters outside of ASCII, so that it is never a term of a text and stays
// one token in every index. Tags that differ in case, or in the space around
// them, have one term; all others have different ones. It is at most 64 bytes
// long and valid UTF-8.
func TagTerm(tag string) string {
	tag = foldTag(tag)
	term := make([]byte, 0, 2+len(tag))
	term = append(term, "t_"...)
	for i := 0; i < len(tag) && len(term) <= maxTerm; i++ {
		switch c := tag[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c >= 0x80:
			term = append(term, c)
		default:
			term = append(term, '_', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	if len(term) <= maxTerm {
		return string(term)
	}
	// A second underscore is no escape, so that a hash is no other tag's term.
	sum := sha256.Sum256([]byte(tag))
	return "t__" + hex.EncodeToString(sum[:28])
}

const hexDigits = "0123456789abcdef"

// foldTag returns what two spellings of a tag have in common.
func foldTag(tag string) string {
	if folded(tag) {
		return tag
	}
	return strings.TrimSpace(strings.ToLower(strings.ToValidUTF8(tag, "\ufffd")))
}

// folded reports whether a tag is seen at once to be what [foldTag] makes of it, as nearly all are.
func folded(tag string) bool {
	for i := range len(tag) {
		if c := tag[i]; c <= ' ' || c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// RowTerms returns what an item is found by: the terms of its text and, made
// by [TagTerm], its tags, sorted by their bytes, each once. It depends on
// nothing but r.Text and r.About; an About that cannot be read has no tags.
// The caller owns the slice.
func RowTerms(r Row) []string {
	terms := words.Set(r.Text)
	tags := aboutTags(r.About)
	if len(tags) == 0 {
		return terms
	}
	for _, tag := range tags {
		terms = append(terms, TagTerm(tag))
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

func aboutTags(about string) []string {
	var tags []string
	err := strictjson.Object(about, func(name string, v strictjson.Raw) (err error) {
		if name == "tags" {
			tags, err = list(v, strictjson.Raw.String)
		}
		return err
	})
	if err != nil {
		return nil
	}
	return tags
}
