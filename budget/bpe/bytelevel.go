package bpe

import (
	"fmt"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// splitRule is how a vocabulary's text is split.
type splitRule struct {
	split func(c *classes, s string) int
	// anyWhole says that a piece that is a token is never merged, even where the merges
	// would not lead to that token.
	anyWhole bool
}

var (
	likeLlama3  = splitRule{func(c *classes, s string) int { return c.cl100k(s, 3) }, true}
	likeCl100k  = splitRule{func(c *classes, s string) int { return c.cl100k(s, 3) }, false}
	likeQwen2   = splitRule{func(c *classes, s string) int { return c.cl100k(s, 1) }, false}
	likeO200k   = splitRule{func(c *classes, s string) int { return c.o200k(s, 3, true) }, false}
	likeTekken  = splitRule{func(c *classes, s string) int { return c.o200k(s, 1, false) }, true}
	likeGPT2    = splitRule{(*classes).gpt2, false}
	likeStarred = splitRule{(*classes).digitsFirst, false}
)

// splitRules by the names that GGUF files have for them.
var splitRules = map[string]splitRule{
	"llama-bpe": likeLlama3, "llama3": likeLlama3, "llama-v3": likeLlama3, "falcon3": likeLlama3, "pixtral": likeLlama3,
	"dbrx": likeCl100k, "smaug-bpe": likeCl100k, "glm4": likeCl100k, "chatglm-bpe": likeCl100k,
	"qwen2": likeQwen2, "deepseek-r1-qwen": likeQwen2, "stablelm2": likeQwen2,
	"gpt-4o": likeO200k, "llama4": likeO200k,
	"tekken": likeTekken,
	"gpt-2":  likeGPT2, "default": likeGPT2, "": likeGPT2,
	"starcoder": likeStarred, "refact": likeStarred, "command-r": likeStarred, "smollm": likeStarred, "codeshell": likeStarred,
}

// byteLevel builds an encoding of bytes that are joined by a list of merges. Tokens are written
// in printable characters, one for each byte.
func (v *Vocabulary) byteLevel() (*Encoding, error) {
	rule, ok := splitRules[v.Pre]
	if !ok {
		return nil, fmt.Errorf("pre %q: %w", v.Pre, ErrUnknownPre)
	}
	ids := make(map[string]uint32, len(v.Tokens))
	for i, t := range v.Tokens {
		if _, twice := ids[t]; twice && t != "" {
			return nil, invalid.New(fmt.Sprintf("tokens[%d]", i), fmt.Sprintf("%.40q is there twice", t), "send each token once")
		}
		ids[t] = uint32(i)
	}
	c := characters()
	e := &Encoding{split: func(s string) int { return rule.split(c, s) }}
	if err := e.findBytes(ids); err != nil {
		return nil, err
	}
	if err := e.findMerges(v.Merges, ids); err != nil {
		return nil, err
	}
	tokens := v.normal()
	if rule.anyWhole {
		e.whole = tabulate(tokens)
	} else {
		e.settle(tokens)
	}
	e.added = newAdded(v.added(func(t string) string { return t }))
	return e, nil
}

func (e *Encoding) findBytes(ids map[string]uint32) error {
	var have [256]bool
	for b, r := range printable() {
		if id, ok := ids[string(r)]; ok {
			e.bytes[b], have[b] = id, true
		}
	}
	return missingByte(&have)
}

func (e *Encoding) findMerges(merges []string, ids map[string]uint32) error {
	e.pairs = newPairs(len(merges))
	e.ranks, e.merged = len(merges), make([]uint32, len(merges))
	for rank, merge := range merges {
		refuse := func(problem, fix string) error {
			return invalid.New(fmt.Sprintf("merges[%d]", rank), fmt.Sprintf("%.80q %s", merge, problem), fix)
		}
		// The first half may begin with a space where spaces are not written otherwise.
		gap := strings.IndexByte(merge[min(1, len(merge)):], ' ') + 1
		if gap == 0 || gap == len(merge)-1 {
			return refuse("is not two tokens", `write "left right"`)
		}
		left, okLeft := ids[merge[:gap]]
		right, okRight := ids[merge[gap+1:]]
		joined, okJoined := ids[merge[:gap]+merge[gap+1:]]
		if !okLeft || !okRight || !okJoined {
			return refuse("names a token that is not there", "send the merges of this vocabulary")
		}
		if !e.pairs.add(left, right, uint32(rank)) {
			return refuse("is there twice", "send each merge once")
		}
		e.merged[rank] = joined
	}
	return nil
}

// normal returns the tokens that text may become, in their bytes.
func (v *Vocabulary) normal() []token {
	var tokens []token
	value := map[rune]byte{}
	for b, r := range printable() {
		value[r] = byte(b)
	}
	var text []byte
next:
	for i, t := range v.Tokens {
		switch v.typeOf(i) {
		case typeUnknown, typeControl, typeAdded, typeByte:
			continue
		}
		text = text[:0]
		for _, r := range t {
			b, ok := value[r]
			if !ok {
				continue next
			}
			text = append(text, b)
		}
		if len(text) > 0 {
			tokens = append(tokens, token{string(text), uint32(i)})
		}
	}
	return tokens
}

// printable returns the character that each byte is written as: itself where it can be seen, and
// otherwise the next one from U+0100 on.
func printable() (table [256]rune) {
	next := rune(0x100)
	for b := range rune(256) {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xFF && b != 0xAD {
			table[b] = b
		} else {
			table[b] = next
			next++
		}
	}
	return table
}
