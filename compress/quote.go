package compress

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/turn"
)

// Quote is where a turn says what is never rewritten: bytes of its [Wording].
type Quote struct {
	Seq      int64
	From, To int
}

// Wording is the text of a turn that quotes are cut from: what was said, or what a tool returned. It is
// empty where there is none. The same turn has the same wording in every version.
func Wording(t *turn.Turn) string {
	r, ok := t.Content.(turn.Result)
	if !ok {
		return said(t)
	}
	if text := returned(r); text != r.Result {
		return text
	}
	return unescaped.Replace(r.Result)
}

// Quotes finds what the turns say that no summary may take the place of: decisions, and what the mode
// protects. What the user said is not among it, for the user's messages are kept themselves. They are
// in the order of the log, apart from each other, and the same words are there once, where they were said
// first. The same turns give the same quotes.
func (s *Source) Quotes(mode string) []Quote {
	var all []Quote
	seen := map[string]bool{}
	for i := range s.Turns {
		t := &s.Turns[i]
		if !counts(t) || t.Role == turn.User {
			continue
		}
		f := finder{at: map[Fact]int{}, wording: Wording(t)}
		f.sentences(t)
		if t.Role == turn.Agent {
			f.markers(said(t))
		}
		f.protected(t, mode)
		for _, q := range f.apart() {
			if text := f.wording[q.From:q.To]; !seen[text] {
				seen[text] = true
				all = append(all, Quote{t.Seq, q.From, q.To})
			}
		}
	}
	return all
}

// quote notes where a part of the turn's wording stands.
func (f *finder) quote(part string) {
	if part = strings.TrimSpace(part); part == "" || f.wording == "" {
		return
	}
	if i := strings.Index(f.wording, part); i >= 0 {
		f.quotes = append(f.quotes, Quote{From: i, To: i + len(part)})
	}
}

// apart are the quotes in order, those put together that overlap.
func (f *finder) apart() []Quote {
	slices.SortFunc(f.quotes, func(a, b Quote) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To)) })
	var all []Quote
	for _, q := range f.quotes {
		if last := len(all) - 1; last >= 0 && q.From < all[last].To {
			all[last].To = max(all[last].To, q.To)
			continue
		}
		all = append(all, q)
	}
	return all
}
