// Package llmtest has what tests of models and of their users need: a model that says what it was told to say,
// servers in memory that play exchanges from files, and the suite that every client passes.
package llmtest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
	"github.com/turnstone-dev/turnstone/llm"
)

// Reply is what a script answers to one request: thinking, then the text, word by word, then the calls.
type Reply struct {
	Thinking string
	Text     string
	Calls    []llm.Call
	// Delay is waited before every piece. Inside a bubble of testing/synctest it costs nothing.
	Delay time.Duration
	// Endless says the text, which defaults to "on ", again and again, until the caller stops or its context ends.
	Endless bool
	// Err comes in place of the end: a model that fails in the middle, or at once where there is nothing else.
	Err error
	// Stop and Usage are the end's. Default to [llm.StopCalls] with calls and [llm.StopEnd] without, and to a
	// token for every message and every piece.
	Stop  llm.Stop
	Usage llm.Usage
}

// Script is a model that gives its replies one after the other and remembers what it was asked. It is
// safe for concurrent use.
type Script struct {
	mu    sync.Mutex // guards all below
	reply func(llm.Request) (Reply, error)
	asked []llm.Request
}

var errEnd = errors.New("the script has no more answers")

// NewScript returns a model that answers with the given texts.
func NewScript(texts ...string) *Script {
	replies := make([]Reply, len(texts))
	for i, text := range texts {
		replies[i].Text = text
	}
	return Replies(replies...)
}

// Replies returns a model with the given replies. At their end it has an error.
func Replies(replies ...Reply) *Script {
	return &Script{reply: func(llm.Request) (Reply, error) {
		if len(replies) == 0 {
			return Reply{}, errEnd
		}
		next := replies[0]
		replies = replies[1:]
		return next, nil
	}}
}

// Respond returns a model whose reply depends on the request. Calls of respond do not overlap.
func Respond(respond func(llm.Request) Reply) *Script {
	return &Script{reply: func(r llm.Request) (Reply, error) { return respond(r), nil }}
}

// Stream implements [llm.Model].
func (s *Script) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		reply, err := s.next(r)
		if err != nil {
			yield(llm.Chunk{}, err)
			return
		}
		if reply.Endless && reply.Text == "" {
			reply.Text = "on "
		}
		p := player{ctx: ctx, reply: reply, yield: yield}
		if !p.play() {
			return
		}
		if reply.Err != nil {
			yield(llm.Chunk{}, reply.Err)
			return
		}
		end := llm.Chunk{Calls: slices.Clone(reply.Calls), Stop: reply.Stop, Usage: reply.Usage}
		if end.Stop == "" && len(end.Calls) > 0 {
			end.Stop = llm.StopCalls
		} else if end.Stop == "" {
			end.Stop = llm.StopEnd
		}
		if end.Usage == (llm.Usage{}) {
			end.Usage = llm.Usage{Prompt: len(r.Messages), Answer: p.pieces}
		}
		p.say(end)
	}
}

// player says one reply.
type player struct {
	ctx    context.Context
	reply  Reply
	yield  func(llm.Chunk, error) bool
	pieces int
}

// play says all but the end and reports whether to go on.
func (p *player) play() bool {
	for word := range words(p.reply.Thinking) {
		if !p.say(llm.Chunk{Thinking: word}) {
			return false
		}
	}
	for {
		for word := range words(p.reply.Text) {
			if !p.say(llm.Chunk{Text: word}) {
				return false
			}
		}
		if !p.reply.Endless {
			return true
		}
	}
}

// say yields one piece, or the context's error, and reports whether to go on.
func (p *player) say(chunk llm.Chunk) bool {
	if p.ctx.Err() != nil || p.reply.Delay > 0 && !pause.For(p.ctx, p.reply.Delay) {
		p.yield(llm.Chunk{}, llm.Ended(p.ctx))
		return false
	}
	p.pieces++
	return p.yield(chunk, nil)
}

func words(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.SplitAfterSeq(text, " ") {
			if word != "" && !yield(word) {
				return
			}
		}
	}
}

func (s *Script) next(r llm.Request) (Reply, error) {
	if err := r.Check(); err != nil {
		return Reply{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, r)
	return s.reply(r)
}

// Asked returns the requests so far.
func (s *Script) Asked() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}
