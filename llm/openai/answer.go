package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
)

// errStopped says that the caller wants no more.
var errStopped = errors.New("the caller stopped")

// event is what one line of a streamed answer holds.
type event struct {
	Choices []struct {
		Index int
		Delta struct {
			Content content
			Refusal *string
			// Both names are in use for what a model thinks.
			Reasoning        *string
			ReasoningContent *string `json:"reasoning_content"`
			Calls            []struct {
				Index    *int
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
		Reason *string `json:"finish_reason"`
	}
	Usage *struct {
		Prompt  int `json:"prompt_tokens"`
		Answer  int `json:"completion_tokens"`
		Details *struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
	// Timings are llama.cpp's.
	Timings *struct {
		Cached   int     `json:"cache_n"`
		PromptMS float64 `json:"prompt_ms"`
	}
	Error json.RawMessage
}

// content is what a model says: a text, nothing, or as Mistral has it a list of parts, of which some are thoughts.
type content struct{ text, thinking string }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(raw []byte) error {
	if raw[0] != '[' {
		return json.Unmarshal(raw, &c.text)
	}
	type part struct{ Text string }
	var parts []struct {
		part
		Thinking []part
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		for _, thought := range p.Thinking {
			c.thinking += thought.Text
		}
	}
	return nil
}

// answer reads a streamed answer.
type answer struct {
	yield  func(llm.Chunk, error) bool
	spoken bool
	calls  llm.Assembly
	usage  llm.Usage
	stop   llm.Stop // once the server said that it stops
	over   bool     // nothing more may be yielded
}

var done = []byte("[DONE]")

// line reads one line of server-sent events. Every server puts an event's data into one line.
func (a *answer) line(text []byte) error {
	text = bytes.TrimSpace(text)
	name, data, _ := bytes.Cut(text, []byte(":"))
	switch string(name) {
	case "", "event", "id", "retry": // a comment or nothing, and what does not matter
		return nil
	case "data":
		text = bytes.TrimSpace(data)
	case "error": // llama.cpp has had errors in a field of their own
		return complaint(0, bytes.TrimSpace(data)).Judge("")
	}
	if len(text) == 0 {
		return nil
	}
	if bytes.Equal(text, done) {
		return a.end()
	}
	var e event
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&e); err != nil {
		return garbled(text, err)
	}
	if len(e.Error) > 0 && string(e.Error) != "null" {
		return complaint(0, e.Error).Judge("")
	}
	if string(name) != "data" {
		return garbled(text, errNoStream)
	}
	a.count(&e)
	return a.say(&e)
}

var errNoStream = errors.New("it is no stream of events")

// say yields what an event adds to the answer.
func (a *answer) say(e *event) error {
	for i := range e.Choices {
		choice := &e.Choices[i]
		if choice.Index != 0 {
			continue
		}
		d := &choice.Delta
		chunk := llm.Chunk{Text: d.Content.text + word(d.Refusal), Thinking: d.Content.thinking + word(d.ReasoningContent)}
		if chunk.Thinking == "" {
			chunk.Thinking = word(d.Reasoning)
		}
		for _, c := range d.Calls {
			a.calls.Add(llm.CallPiece{Index: c.Index, ID: c.ID, Name: c.Function.Name, Arguments: toolargs.Text(c.Function.Arguments)})
		}
		if reason := word(choice.Reason); reason != "" {
			a.stop = stop(reason)
		}
		// A piece of a call is handed on as an empty chunk: whoever waits sees that more is coming.
		if chunk.Text == "" && chunk.Thinking == "" && len(d.Calls) == 0 {
			continue
		}
		a.spoken = true
		if !a.yield(chunk, nil) {
			a.over = true
			return errStopped
		}
	}
	return nil
}

// end yields the last chunk.
func (a *answer) end() error {
	calls := a.calls.Calls()
	switch {
	case a.stop == "error":
		return &llm.Error{Kind: llm.ErrInterrupted, Problem: "the server gave up", Fix: "ask again"}
	case a.stop == "" && !a.spoken:
		return httpstream.ErrCut
	case a.stop == "":
		a.stop = llm.StopEnd
	}
	if a.stop == llm.StopEnd && len(calls) > 0 {
		a.stop = llm.StopCalls
	}
	// Whether the caller wants more does not matter: there is no more, and the connection can be used again.
	a.over = true
	a.yield(llm.Chunk{Calls: calls, Usage: a.usage, Stop: a.stop}, nil)
	return httpstream.ErrDone
}

// count keeps what the server counted last: some count with every event.
func (a *answer) count(e *event) {
	if u := e.Usage; u != nil && u.Prompt+u.Answer > 0 {
		a.usage.Prompt, a.usage.Answer = max(u.Prompt, 0), max(u.Answer, 0)
		if u.Details != nil {
			a.usage.Cached = max(u.Details.Cached, 0)
		}
	}
	if t := e.Timings; t != nil {
		if a.usage.Cached == 0 {
			a.usage.Cached = max(t.Cached, 0)
		}
		a.usage.PromptTime = time.Duration(max(t.PromptMS, 0) * float64(time.Millisecond))
	}
}

// stop is the reason in our words; one that we have no word for stays as it is.
func stop(reason string) llm.Stop {
	switch reason {
	case "stop", "eos", "end_turn":
		return llm.StopEnd
	case "length", "max_tokens":
		return llm.StopLength
	case "tool_calls", "function_call":
		return llm.StopCalls
	case "content_filter":
		return llm.StopFilter
	}
	return llm.Stop(reason)
}

func word(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// garbled is the error of a line that is not what it should be: one that was cut, or of somebody else.
func garbled(text []byte, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", httpstream.ErrCut, err)
	}
	return &llm.Error{
		Kind: llm.ErrFailed, Problem: fmt.Sprintf("its answer is not one of Chat Completions: %.80q", text),
		Fix: "check the address; most end in /v1", Err: err,
	}
}
