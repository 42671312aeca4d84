package bpe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// spaces writes the sign that SentencePiece has for a space as a space. Vocabularies and texts
// both go through it, so that neither has to be copied to get the sign in.
func spaces(text string) string {
	return strings.ReplaceAll(text, "\u2581", " ")
}

// sentencePiece builds an encoding of characters that are joined by the score of what they make,
// highest first. Characters that are no token become their bytes, and are not joined.
func (v *Vocabulary) sentencePiece() (*Encoding, error) {
	if len(v.Scores) != len(v.Tokens) {
		return nil, invalid.New("scores", fmt.Sprintf("there are %d for %d tokens", len(v.Scores), len(v.Tokens)), "send one for each token")
	}
	for i, s := range v.Scores {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return nil, invalid.New(fmt.Sprintf("scores[%d]", i), fmt.Sprintf("%v is not a finite number", s), "send the vocabulary's scores")
		}
	}
	e := &Encoding{}
	tokens, err := v.pieces(e)
	if err != nil {
		return nil, err
	}
	ids := make(map[string]uint32, len(tokens))
	var runes []token
	apart := true
	for _, t := range tokens {
		if _, twice := ids[t.text]; twice {
			return nil, invalid.New(fmt.Sprintf("tokens[%d]", t.id), fmt.Sprintf("%.40q is there twice", v.Tokens[t.id]), "send each token once")
		}
		ids[t.text] = t.id
		if utf8.RuneCountInString(t.text) == 1 {
			runes = append(runes, t)
		}
		apart = apart && !strings.Contains(strings.TrimLeft(t.text, " "), " ")
	}
	e.runes = tabulate(runes)
	e.split = func(s string) int { return len(s) }
	if apart {
		e.split = beforeSpace
	}
	if err := e.findPairs(tokens, ids, v.Scores); err != nil {
		return nil, err
	}
	e.settle(tokens)
	e.added = newAdded(v.added(spaces))
	e.spacePrefix = v.AddSpacePrefix
	return e, nil
}

// pieces returns the tokens that text may become, and gives e the tokens for bytes.
func (v *Vocabulary) pieces(e *Encoding) ([]token, error) {
	var have [256]bool
	tokens := make([]token, 0, len(v.Tokens))
	for i, t := range v.Tokens {
		kind := v.typeOf(i)
		if b, ok := byteName(t); ok && (kind == typeByte || len(v.Types) == 0) {
			e.bytes[b], have[b] = uint32(i), true
			continue
		}
		switch kind {
		case typeUnknown, typeControl, typeAdded, typeByte:
			continue
		}
		// A space in a text is never a plain one when tokens are looked for.
		if t != "" && !strings.Contains(t, " ") {
			tokens = append(tokens, token{spaces(t), uint32(i)})
		}
	}
	return tokens, missingByte(&have)
}

// byteName reads the name of a byte, <0x0A>.
func byteName(t string) (b byte, ok bool) {
	if len(t) != len("<0x0A>") || t[:3] != "<0x" || t[5] != '>' {
		return 0, false
	}
	for _, c := range []byte(t[3:5]) {
		switch {
		case c >= '0' && c <= '9':
			b = b<<4 | (c - '0')
		case c >= 'A' && c <= 'F':
			b = b<<4 | (c - 'A' + 10)
		default:
			return 0, false
		}
	}
	return b, true
}

// findPairs adds every way in which a token is two others side by side. Tokens of equal score have
// equal rank.
func (e *Encoding) findPairs(tokens []token, ids map[string]uint32, scores []float32) error {
	type half struct{ left, right, joined uint32 }
	var found []half
	for _, t := range tokens {
		for i := range t.text {
			left, okLeft := ids[t.text[:i]]
			right, okRight := ids[t.text[i:]]
			if !okLeft || !okRight {
				continue
			}
			if len(found) == maxPairs {
				return invalid.New("tokens", fmt.Sprintf("more than %d pairs of them are a third", maxPairs), "send a vocabulary with shorter tokens")
			}
			found = append(found, half{left, right, t.id})
		}
	}
	slices.SortFunc(found, func(a, b half) int {
		return cmp.Or(-cmp.Compare(scores[a.joined], scores[b.joined]), cmp.Compare(a.joined, b.joined))
	})
	e.pairs, e.joined = newPairs(len(found)), newPairs(len(found))
	rank := uint32(0)
	for i, f := range found {
		if i > 0 && scores[found[i-1].joined] != scores[f.joined] {
			rank++
		}
		e.pairs.add(f.left, f.right, rank)
		e.joined.add(f.left, f.right, f.joined)
	}
	e.ranks = int(rank) + 1
	return nil
}

// beforeSpace splits before the spaces that follow a word, where no token reaches across.
func beforeSpace(s string) int {
	for i := 1; i < len(s); i++ {
		if s[i] == ' ' && s[i-1] != ' ' {
			return i
		}
	}
	return len(s)
}
