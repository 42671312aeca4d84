package main

import (
	"math/rand/v2"
	"strings"
)

// prose makes up text with the statistics of English that matter here: words of uneven length,
// drawn by Zipf's law from a large vocabulary.
type prose struct {
	rng   *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newProse(seed uint64) *prose {
	rng := rand.New(rand.NewPCG(seed, 1))
	return &prose{rng: rng, zipf: rand.NewZipf(rng, 1.1, 4, uint64(len(vocabulary)-1)), words: vocabulary}
}

// vocabulary is the language that all of it is written in.
var vocabulary = func() []string {
	rng := rand.New(rand.NewPCG(1, 1))
	words := make([]string, 20_000)
	syllables := strings.Fields("a an ba be con de dis en er est fa ge ha i in ka la le li lo ma me mo na ne no o on or pa per po pre ra re ri ro sa se si so st ta te ti to tra u un ur va ve vi wa we za")
	for i := range words {
		var b strings.Builder
		for range 1 + min(i/200, 3) + rng.IntN(2) {
			b.WriteString(syllables[rng.IntN(len(syllables))])
		}
		words[i] = b.String()
	}
	return words
}()

// text returns about n bytes, between half and one and a half times as many.
func (p *prose) text(n int) string {
	size := n/2 + p.rng.IntN(n)
	var b strings.Builder
	b.Grow(size + 16)
	for b.Len() < size {
		b.WriteString(p.words[p.zipf.Uint64()])
		if p.rng.IntN(12) == 0 {
			b.WriteString(". ")
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// paragraphs is text as people read it: with empty lines, and here and there a sentence in quotes.
func (p *prose) paragraphs(n int) string {
	var b strings.Builder
	for sentence := range strings.SplitAfterSeq(p.text(n), ". ") {
		switch p.rng.IntN(24) {
		case 0:
			b.WriteString(`"` + strings.TrimSpace(sentence) + `" `)
		case 1, 2, 3, 4, 5, 6, 7:
			b.WriteString(strings.TrimSpace(sentence) + "\n\n")
		default:
			b.WriteString(sentence)
		}
	}
	return b.String()
}
