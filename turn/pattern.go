package turn

import (
	"regexp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/words"
)

const maxPattern = 4096

// pattern decides whether a turn's searchable text matches. The zero value matches everything.
// It runs in Go for every store, so that a pattern means the same on all of them.
type pattern struct {
	literal string
	regexp  *regexp.Regexp
	terms   []string // sorted
}

// compilePattern makes a pattern of a literal, an RE2 regular expression and full-text words. What
// is empty is not asked for. An invalid pattern is a *[FieldError], never an empty answer.
func compilePattern(literal, expr, text string) (pattern, error) {
	p := pattern{literal: literal}
	for _, f := range []struct{ name, value string }{{"match", literal}, {"regexp", expr}, {"text", text}} {
		if len(f.value) > maxPattern {
			return p, fieldErrorf(f.name, "shorten it", "%d bytes, at most %d", len(f.value), maxPattern)
		}
		if err := checkText(f.name, f.value); err != nil {
			return p, err
		}
	}
	if expr != "" {
		re, err := regexp.Compile(expr)
		if err != nil {
			return p, fieldErrorf("regexp", "use RE2 syntax", "%v", err)
		}
		p.regexp = re
	}
	if text != "" {
		p.terms = words.Set(text)
		if len(p.terms) == 0 {
			return p, fieldErrorf("text", "give at least one word or number", "%q holds nothing to search for", text)
		}
	}
	return p, nil
}

func (p *pattern) matchText(t *Turn) bool {
	if p.literal == "" && p.regexp == nil {
		return true
	}
	s := t.Content.Searchable()
	return strings.Contains(s, p.literal) && (p.regexp == nil || p.regexp.MatchString(s))
}

// matchTerms is what the full-text index decides for turns that it holds.
func (p *pattern) matchTerms(t *Turn) bool {
	if len(p.terms) == 0 {
		return true
	}
	have := words.Set(t.Content.Searchable())
	for _, term := range p.terms {
		if _, ok := slices.BinarySearch(have, term); !ok {
			return false
		}
	}
	return true
}
