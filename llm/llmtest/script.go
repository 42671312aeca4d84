// Package llmtest has models for tests: they say what they were told to say.
package llmtest

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/turnstone-dev/turnstone/llm"
)

// Script is a model that gives its answers one after the other, word by word, and remembers what it was
// asked. It is safe for concurrent use.
type Script struct {
	mu      sync.Mutex // guards all below
	answers []string
	asked   []llm.Request
}

// NewScript returns a model with the given answers.
func NewScript(answers ...string) *Script { return &Script{answers: answers} }

// Stream implements [llm.Model]. A script that is at its end is an error.
func (s *Script) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		answer, err := s.next(r)
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		words := strings.SplitAfter(answer, " ")
		for i, word := range words {
			if err := ctx.Err(); err != nil {
				yield(llm.Chunk{}, err)
				return
			}
			chunk := llm.Chunk{Text: word}
			if i == len(words)-1 {
				chunk.Usage = llm.Usage{Prompt: len(r.Messages), Answer: len(words)}
			}
			if !yield(chunk, nil) {
				return
			}
		}
	}
}

func (s *Script) next(r llm.Request) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	if len(s.answers) == 0 {
		return "", errors.New("the script has no more answers")
	}
	answer := s.answers[0]
	s.answers = s.answers[1:]
	return answer, nil
}

// Asked returns the requests so far.
func (s *Script) Asked() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.asked...)
}
