package compress

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// ErrTooSmall says that the turns are too few to become smaller: no summary of them takes fewer tokens
// than they do themselves. Leave them as they are.
var ErrTooSmall = errors.New("the turns take no more than a summary of them would")

// Options are how a summary is made. The zero value is ready for use.
type Options struct {
	// By is the name of the model that summarises, for the receipt. Defaults to that of the request, and to "model"
	// where none is named.
	By string
	// Timeout is how long the summariser may take for one answer. A [Model] that reads the turns in parts gives
	// several: it is waited for MaxCalls times as long at most. Defaults to two minutes.
	Timeout time.Duration
}

const (
	defaultBy      = "model"
	defaultTimeout = 2 * time.Minute
	// leastSource is how many tokens must leave the prompt for a checkpoint to be worth what it is
	// wrapped in.
	leastSource = 32
	// maxAnswer bounds, in bytes for each token of the budget, what is looked at of an answer.
	maxAnswer = 256
)

// Run makes a summary that [Verify] lets pass: the summariser is asked, asked once more to repair what
// was wrong, what it left out is patched in, and if all of that does not help the extractive summary
// is taken. It asks at most twice and waits for each answer no longer than the timeout, even for a
// summariser that does not listen to its context: that one is left alone and its answer thrown away.
// Without a summariser the extractive one is taken at once.
//
// The error is [ErrTooSmall], or that of ctx when it ended; then there is no summary, and the receipt
// says what happened so far.
func Run(ctx context.Context, s Summariser, r Request, o Options) (string, Receipt, error) {
	c := newChecker(&r)
	p := pass{checker: c, options: o}
	p.receipt = Receipt{By: ByExtract, Before: int64(c.source), SourceHash: r.Source.Hash()}
	if _, ok := s.(Extractive); !ok && s != nil && c.limit > 0 && c.source >= leastSource {
		if summary, ok := p.ask(ctx, s); ok {
			return summary, p.receipt, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", p.receipt, fmt.Errorf("summary of turns %d to %d: %w", r.Source.Range.From, r.Source.Range.To, err)
	}
	summary, v := c.extractive()
	if summary == "" || c.source < leastSource {
		return "", p.receipt, ErrTooSmall
	}
	p.take(summary, v)
	return summary, p.receipt, nil
}

// pass is one run with its receipt.
type pass struct {
	*checker
	options Options
	receipt Receipt
}

// ask asks the summariser and once more for a repair, and patches what came of it.
func (p *pass) ask(ctx context.Context, s Summariser) (string, bool) {
	r := *p.r
	r.Budget = p.limit
	var best answered
	var verdict Verdict
	var second bool
	for try := range 2 {
		p.receipt.Tries++
		answer, err := p.call(ctx, s, r)
		if err != nil {
			p.refuse(err.Error())
			break
		}
		v := p.verify(answer.text)
		if v.OK() {
			p.receipt.Repaired, p.receipt.Generations = try > 0, answer.generations
			p.accept(answer.text, v)
			return answer.text, true
		}
		for _, problem := range v.Problems {
			p.refuse(problem)
		}
		if try == 0 || len(v.Problems) < len(verdict.Problems) {
			best, verdict, second = answer, v, try > 0
		}
		r.Draft, r.Problems = answer.text, v.Problems
	}
	patched, added, ok := p.patch(best.text, verdict)
	if !ok {
		return "", false
	}
	v := p.verify(patched)
	if !v.OK() {
		for _, problem := range v.Problems {
			p.refuse("patched: " + problem)
		}
		return "", false
	}
	p.receipt.Patched = p.receipt.list(added)
	p.receipt.Repaired, p.receipt.Generations = second, best.generations
	p.accept(patched, v)
	return patched, true
}

// answered is what a summariser said, and how many generations lie before it where it is more than one.
type answered struct {
	text        string
	generations int64
}

// call waits for an answer until the timeout, whatever the summariser does.
func (p *pass) call(ctx context.Context, s Summariser, r Request) (answered, error) {
	timeout := p.options.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	r.Timeout = timeout
	if m, ok := s.(Model); ok {
		timeout *= time.Duration(m.calls())
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	type outcome struct {
		answer answered
		err    error
	}
	var generations atomic.Int64 // one that comes too late may still say it
	r.Generations = func(n int) { generations.Store(int64(n)) }
	// Room for the answer, so that a summariser that comes too late does not wait for ever.
	done := make(chan outcome, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- outcome{err: fmt.Errorf("the summariser panicked: %v", v)}
			}
		}()
		answer, err := s.Summarise(ctx, r)
		done <- outcome{answered{answer, generations.Load()}, err}
	}()
	select {
	case o := <-done:
		// An answer that comes when nobody waits any more is none, whichever is seen first.
		if err := ctx.Err(); err != nil {
			return answered{}, fmt.Errorf("no answer: %w", err)
		}
		if o.err == nil && len(o.answer.text) > maxAnswer*p.limit {
			return answered{}, fmt.Errorf("the answer is %d bytes long", len(o.answer.text))
		}
		return o.answer, o.err
	case <-ctx.Done():
		return answered{}, fmt.Errorf("no answer: %w", ctx.Err())
	}
}

func (p *pass) refuse(why string) {
	p.receipt.Refused = append(p.receipt.Refused, p.receipt.list([]string{why})...)
	if len(p.receipt.Refused) > maxListed {
		p.receipt.Refused = p.receipt.Refused[:maxListed]
		p.receipt.More++
	}
}

// accept takes what a summariser made.
func (p *pass) accept(summary string, v Verdict) {
	p.receipt.By = cmp.Or(clip(oneLine(cmp.Or(p.options.By, p.r.Model)), maxListing), defaultBy)
	p.take(summary, v)
}

// take notes what was checked of the summary that stands.
func (p *pass) take(summary string, v Verdict) {
	p.receipt.After = int64(v.Tokens)
	p.receipt.Facts = int64(len(p.must.facts))
	p.receipt.Literals = int64(len(p.must.literals))
	p.receipt.Held = int64(len(p.must.literals) - len(v.Literals))
	p.receipt.Missing = p.receipt.list(v.Literals)
	p.receipt.Omitted = p.receipt.list(p.unsaid(summary))
}

// unsaid are the facts and literals for which there was no room and that did not come in by themselves, each once: a file is a
// fact, and its name a literal.
func (p *pass) unsaid(summary string) []string {
	var unsaid []string
	text, seen := plain(summary), make(map[string]bool, len(p.must.omitted))
	for _, o := range p.must.omitted {
		if !seen[o] && !strings.Contains(text, plain(o)) {
			unsaid = append(unsaid, o)
		}
		seen[o] = true
	}
	return unsaid
}
