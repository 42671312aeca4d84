package main

import (
	"strings"
	"sync"

	"github.com/turnstone-dev/turnstone/budget/bpe"
)

// purpose is what a prompt is for. Servers keep the beginnings of several: a prompt is compared with the one before
// of the same purpose.
type purpose int

const (
	forReply purpose = iota
	forSummary
	purposes
)

// prompts counts the tokens of prompts, all with the same vocabulary, and how many of them each shares with the
// beginning of the one before.
type prompts struct {
	mu     sync.Mutex // guards all below
	tokens map[string][]uint32
	before [purposes][]string
	sent   int
	reused int
	most   int
}

// see takes a prompt as the model is sent it: the tools, then the messages, each as text.
func (p *prompts) see(of purpose, prompt []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	total, common, same := 0, 0, true
	for i, text := range prompt {
		tokens := p.encode(text)
		total += len(tokens)
		if !same || i >= len(p.before[of]) {
			continue
		}
		before := p.encode(p.before[of][i])
		n := 0
		for n < min(len(tokens), len(before)) && tokens[n] == before[n] {
			n++
		}
		common += n
		same = text == p.before[of][i]
	}
	p.before[of] = prompt
	p.sent += total
	p.reused += common
	p.most = max(p.most, total)
}

func (p *prompts) encode(text string) []uint32 {
	tokens, ok := p.tokens[text]
	if !ok {
		if p.tokens == nil {
			p.tokens = make(map[string][]uint32)
		}
		tokens = bpe.O200k().Append(nil, text)
		p.tokens[text] = tokens
	}
	return tokens
}

// message is a message as text. Calls are names and arguments, one after the other.
func message(role, text string, calls ...string) string {
	return strings.Join(append([]string{role, text}, calls...), "\n")
}
