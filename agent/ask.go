package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// errSilent is the cause by which a model that says nothing is stopped.
var errSilent = errors.New("the model is silent")

// ask compiles the prompt and receives the whole answer to it. Until it is in the log, r.partial holds it. Raw are the
// arguments of its calls as the model wrote them.
func (r *run) ask(ctx context.Context) (answer llm.Answer, raw []string, err error) {
	r.enter(ctx, Working)
	offer, problems, err := r.loop.Offer(ctx)
	if err != nil {
		return answer, nil, err
	}
	for _, p := range problems {
		r.warn(ctx, p.Error())
	}
	for err = errAgain; err == errAgain; {
		err = r.request(ctx, offer)
	}
	if err != nil {
		return answer, nil, err
	}
	if !r.partial.worth() {
		advice := "ask again, or another model"
		if r.partial.stop == llm.StopLength {
			advice = "allow it more tokens, or a larger window"
		}
		return answer, nil, fmt.Errorf("%w: it stopped for the reason %q; %s", ErrNoAnswer, r.partial.stop, advice)
	}
	answer, raw = r.partial.answer(r.known(), r.loop.config.MaxAnswer)
	return answer, raw, nil
}

// request compiles the prompt and asks the model. errAgain if that must be done once more.
func (r *run) request(ctx context.Context, offer Offer) error {
	request, err := r.conversation.Compile(ctx, offer)
	if err != nil {
		return because(ctx, "prompt", err)
	}
	if most := r.loop.config.MaxTokens; most > 0 && (request.MaxTokens == 0 || request.MaxTokens > most) {
		request.MaxTokens = most
	}
	r.asked, r.partial = request, received{started: time.Now()}
	r.enter(ctx, Requesting)
	return r.receive(ctx)
}

// receive streams the answer into r.partial.
func (r *run) receive(ctx context.Context) error {
	config := &r.loop.config
	stream, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := r.silence()
	silence := time.AfterFunc(config.First, func() { cancel(errSilent) })
	defer silence.Stop()
	limit := config.answerLimit(r.asked.MaxTokens)
	return r.loop.stream(stream, r.worker.Model, r.asked, func(chunk llm.Chunk, err error) (more bool, _ error) {
		silence.Stop()
		if err := r.awaitBegun(ctx); err != nil {
			return false, err
		}
		if err != nil {
			return false, r.failure(ctx, stream, err)
		}
		r.enter(ctx, Receiving)
		clean(&chunk)
		// Of a call that is not complete a piece has a byte at least.
		if r.partial.size+r.partial.empty+sizeOf(&chunk) > limit.bytes {
			return false, &LimitError{Limit: limit.name, Most: limit.most}
		}
		r.partial.add(chunk, config.MaxCalls)
		if err := r.pass(ctx, chunk); err != nil {
			return false, err
		}
		silence.Reset(idle)
		return r.partial.stop == "", nil
	})
}

// silence is how long nothing may come in the middle of the answer.
func (r *run) silence() time.Duration {
	config := &r.loop.config
	return llm.Limits{First: config.First, Idle: config.Idle}.Silence(len(r.asked.Tools) > 0)
}

// pass hands a piece on to the log and to who is watching.
func (r *run) pass(ctx context.Context, piece llm.Chunk) error {
	if err := llm.Ended(ctx); err != nil && piece.Stop == "" {
		return err
	}
	if piece.Text == "" && piece.Thinking == "" {
		return nil
	}
	if err := r.conversation.Receive(ctx, llm.Chunk{Text: piece.Text, Thinking: piece.Thinking}); err != nil {
		return because(ctx, "piece of the reply", err)
	}
	if r.observe == nil {
		return nil // before anything is allocated for it
	}
	if piece.Thinking != "" {
		r.observe(ctx, ThinkingPiece{piece.Thinking})
	}
	if piece.Text != "" {
		r.observe(ctx, TextPiece{piece.Text})
	}
	return nil
}

// failure is why a stream ended: cancelled, silent, or as the model says.
func (r *run) failure(ctx, stream context.Context, err error) error {
	if ended := llm.Ended(ctx); ended != nil {
		return ended
	}
	if context.Cause(stream) != errSilent {
		return err
	}
	silent := &llm.Error{Kind: llm.ErrInterrupted, Problem: fmt.Sprintf("nothing came for %s", r.silence()), Fix: "ask again, or allow more time between pieces", Err: errSilent}
	if !r.partial.begun {
		silent.Kind = llm.ErrUnreachable
		silent.Problem = fmt.Sprintf("nothing came for %s", r.loop.config.First)
		silent.Fix = "see whether the model server works, or allow more time before the first piece"
	}
	return silent
}

// answer makes the answer durable and puts it into the container. Of one that the log refuses the text is kept alone.
func (r *run) answer(ctx context.Context, a llm.Answer) error {
	writing, cancel := closing(ctx)
	defer cancel()
	r.broken = true // should it panic
	err := r.conversation.Answer(writing, a)
	if err != nil {
		err = fmt.Errorf("answer: %w", err)
		// Where nobody knows whether the answer is in the log, another would say its text twice.
		if len(a.Calls) == 0 || strings.TrimSpace(a.Text) == "" || errors.Is(err, store.ErrUnknown) {
			return err
		}
		a.Calls, a.Stop = nil, ""
		if further := r.conversation.Answer(writing, a); further != nil {
			return errors.Join(err, fmt.Errorf("its text alone: %w", further))
		}
		err = fmt.Errorf("%w; its text was kept, and none of its calls", err)
	}
	r.broken = false
	return errors.Join(err, r.said(a))
}

// said puts an answer that is in the log into the container.
func (r *run) said(a llm.Answer) error {
	meta := turn.Meta{Tokens: int64(a.Usage.Answer), Latency: time.Since(r.partial.started), Interrupted: a.Stop == ""}
	r.partial = received{}
	r.cut = a.Stop == ""
	r.calls += len(a.Calls)
	r.usage = sum(r.usage, a.Usage)
	if len(a.Calls) == 0 || r.cut {
		r.reply.Text, r.reply.Thinking, r.reply.Stop = a.Text, a.Thinking, a.Stop
	}
	r.open, r.results = a.Calls, cutOff(a.Calls)
	if err := r.worker.Container.PushAssistant(message(a), meta); err != nil {
		return err
	}
	r.answered = true
	return nil
}

// message is the answer as the container keeps it.
func message(a llm.Answer) AgentMessage {
	if len(a.Calls) == 0 {
		return Response{Text: a.Text, Thinking: a.Thinking}
	}
	calls := make([]turn.ToolCall, len(a.Calls))
	for i, c := range a.Calls {
		calls[i] = turn.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments}
	}
	return ToolUse{Text: a.Text, Thinking: a.Thinking, Calls: calls}
}

func sum(a, b llm.Usage) llm.Usage {
	a.Prompt += b.Prompt
	a.Cached += b.Cached
	a.Answer += b.Answer
	a.PromptTime += b.PromptTime
	return a
}
