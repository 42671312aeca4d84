package bpe

import (
	"math"
	"regexp"
	"strings"
	"unicode/utf8"
)

// What follows is what the package does, written down as plainly as can be: split by a regular
// expression, then look for the best pair from the start until there is none.

// Go's expressions know no lookahead, and their \s knows ASCII only: W stands for any space, and
// the alternative with the lookahead is cut by hand.
const anySpace = `[\t-\r\x{85}\p{Z}]`

var expressions = map[string]*regexp.Regexp{
	"cl100k": expression(`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^W\p{L}\p{N}]+[\r\n]*|W*[\r\n]+`),
	"qwen2":  expression(`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^W\p{L}\p{N}]+[\r\n]*|W*[\r\n]+`),
	"o200k": expression(`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?` +
		`|\p{N}{1,3}| ?[^W\p{L}\p{N}]+[\r\n/]*|W*[\r\n]+`),
	"tekken": expression(`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` +
		`|\p{N}| ?[^W\p{L}\p{N}]+[\r\n/]*|W*[\r\n]+`),
	"gpt-2": expression(`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^W\p{L}\p{N}]+`),
}

func expression(pattern string) *regexp.Regexp {
	pattern = strings.ReplaceAll(pattern, "[^W", "[^"+strings.Trim(anySpace, "[]"))
	return regexp.MustCompile(`^(?:` + strings.ReplaceAll(pattern, "W", anySpace) + `)`)
}

var run = regexp.MustCompile(`^` + anySpace + `+`)

// referenceSplit returns the pieces of a text.
func referenceSplit(e *regexp.Regexp, text string) []string {
	var pieces []string
	for text != "" {
		piece := e.FindString(text)
		if piece == "" {
			piece = run.FindString(text)
			if _, last := utf8.DecodeLastRuneInString(piece); len(piece) < len(text) && last < len(piece) {
				piece = piece[:len(piece)-last]
			}
		}
		pieces = append(pieces, piece)
		text = text[len(piece):]
	}
	return pieces
}

// referenceMerge joins neighbours as long as rank, the lower the better, is below infinity.
func referenceMerge(parts []string, rank func(left, right string) float64) []string {
	for {
		best, at := math.Inf(1), 0
		for i := range len(parts) - 1 {
			if r := rank(parts[i], parts[i+1]); r < best {
				best, at = r, i
			}
		}
		if math.IsInf(best, 1) {
			return parts
		}
		parts = append(append(parts[:at:at], parts[at]+parts[at+1]), parts[at+2:]...)
	}
}

// referenceEncoding is an embedded vocabulary without anything that makes it fast.
type referenceEncoding struct {
	pattern *regexp.Regexp
	ranks   map[string]uint32
}

func newReference(e *Encoding, pattern string) *referenceEncoding {
	r := &referenceEncoding{pattern: expressions[pattern], ranks: map[string]uint32{}}
	for id := range uint32(len(e.whole.ends) - 1) {
		r.ranks[string(e.whole.at(id))] = id
	}
	return r
}

func (r *referenceEncoding) encode(text string) []uint32 {
	var ids []uint32
	for _, piece := range referenceSplit(r.pattern, string([]rune(text))) {
		parts := referenceMerge(bytesOf(piece), func(left, right string) float64 {
			if rank, ok := r.ranks[left+right]; ok {
				return float64(rank)
			}
			return math.Inf(1)
		})
		for _, part := range parts {
			ids = append(ids, r.ranks[part])
		}
	}
	return ids
}

func bytesOf(s string) []string {
	parts := make([]string, len(s))
	for i := range len(s) {
		parts[i] = s[i : i+1]
	}
	return parts
}
