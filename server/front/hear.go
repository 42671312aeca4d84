package front

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/turnstone-dev/turnstone/llm"
)

// heard is an answer of the upstream server as far as it has come.
type heard struct {
	text, thinking []byte
	calls          []llm.Call
	usage          llm.Usage
	stop           llm.Stop // empty until it ended
	// total, load and eval are how long Ollama says that it took.
	total, load, eval time.Duration
	// done says that nothing follows.
	done bool

	pieces llm.Assembly // calls of a server that tells them piece by piece
	parted bool         // that there are some
	last   last
}

// texts are those of answers: making room for a long one anew, twice as much each time it is full, would have the
// collector work for it.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// maxText is how large a text may be whose memory is used again.
const maxText = 1 << 20

// begin gives the answer room for its text, until it is released.
func (h *heard) begin() (release func()) {
	kept := texts.Get().(*[]byte)
	h.text = (*kept)[:0]
	return func() {
		if *kept = h.text; cap(h.text) <= maxText {
			texts.Put(kept)
		}
	}
}

// piece is what one line of an answer says.
type piece struct {
	text, thinking []byte     // of what was heard
	calls          []llm.Call // complete
}

// hear reads one line of a stream, or an answer as a whole, from a server of that kind. The piece is good until the next one.
func (h *heard) hear(kind Kind, line []byte) (p piece, err error) {
	text, thinking, calls := len(h.text), len(h.thinking), len(h.calls)
	_, err = h.read(kind, line)
	p.text, p.thinking = h.text[text:], h.thinking[thinking:]
	if !h.parted {
		p.calls = h.calls[calls:]
	}
	return p, err
}

// read is hear for who hands the line on as it is. Counted says that it has nothing but usage.
func (h *heard) read(kind Kind, line []byte) (counted bool, err error) {
	switch {
	case h.quick(kind, line):
		return false, nil
	case kind == Ollama:
		return false, h.ollama(line)
	default:
		return h.openai(line)
	}
}

func (h *heard) say(text, thinking string) {
	h.text, h.thinking = append(h.text, plain(text)...), append(h.thinking, plain(thinking)...)
}

// garbled is the error of an answer that is none.
func garbled(line []byte, err error) error {
	return &llm.Error{Kind: llm.ErrFailed, Problem: fmt.Sprintf("its answer makes no sense: %.80q", line), Fix: "check that its kind is what the configuration says", Err: err}
}

// complained is an error that came in place of an answer, or in the middle of one.
func complained(raw json.RawMessage) error {
	return &refusal{status: 500, body: append(append([]byte(`{"error":`), raw...), '}')}
}

func (h *heard) ollama(line []byte) error {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	var l struct {
		Message struct {
			Content   string     `json:"content"`
			Thinking  string     `json:"thinking"`
			ToolCalls []sentCall `json:"tool_calls"`
		} `json:"message"`
		// Response and Thinking are of /api/generate.
		Response           string          `json:"response"`
		Thinking           string          `json:"thinking"`
		Done               bool            `json:"done"`
		DoneReason         string          `json:"done_reason"`
		TotalDuration      time.Duration   `json:"total_duration"`
		LoadDuration       time.Duration   `json:"load_duration"`
		PromptEvalCount    int             `json:"prompt_eval_count"`
		PromptEvalDuration time.Duration   `json:"prompt_eval_duration"`
		EvalCount          int             `json:"eval_count"`
		EvalDuration       time.Duration   `json:"eval_duration"`
		Error              json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return garbled(line, err)
	}
	if len(l.Error) > 0 && string(l.Error) != "null" {
		return complained(l.Error)
	}
	h.say(l.Message.Content+l.Response, l.Message.Thinking+l.Thinking)
	for _, c := range l.Message.ToolCalls {
		h.calls = append(h.calls, c.call())
	}
	if l.Done {
		h.done, h.stop = true, llm.StopEnd
		switch {
		case l.DoneReason == "length":
			h.stop = llm.StopLength
		case len(h.calls) > 0:
			h.stop = llm.StopCalls
		}
		h.usage = llm.Usage{Prompt: max(l.PromptEvalCount, 0), Answer: max(l.EvalCount, 0), PromptTime: max(l.PromptEvalDuration, 0)}
		h.total, h.load, h.eval = l.TotalDuration, l.LoadDuration, l.EvalDuration
	}
	return nil
}

// chunk is an answer of OpenAI's: a piece of one, with deltas, or a whole one, with messages.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index   int    `json:"index"`
	Delta   *delta `json:"delta"`
	Message *delta `json:"message"`
	Reason  string `json:"finish_reason"`
}

type delta struct {
	Content   string `json:"content"`
	Refusal   string `json:"refusal"`
	Reasoning string `json:"reasoning"`
	// Thinking is what most servers but OpenAI's own call it.
	Thinking string      `json:"reasoning_content"`
	Calls    []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index *int `json:"index"`
	sentCall
}

type usage struct {
	Prompt  int `json:"prompt_tokens"`
	Answer  int `json:"completion_tokens"`
	Total   int `json:"total_tokens"`
	Details *struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details,omitempty"`
}

var (
	dataField = []byte("data:")
	doneEvent = []byte("[DONE]")
)

// openai reports whether the line has nothing but usage.
func (h *heard) openai(line []byte) (counted bool, err error) {
	data, ok := bytes.CutPrefix(line, dataField)
	if data = bytes.TrimSpace(data); !ok && (len(data) == 0 || data[0] != '{') || len(data) == 0 {
		return false, nil // an empty line, a comment, or the name of an event
	}
	if bytes.Equal(data, doneEvent) {
		h.done = true
		if h.stop == "" && (len(h.text) > 0 || h.parted) {
			h.ended("stop") // some servers give no reason
		}
		return false, nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return false, garbled(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return false, complained(c.Error)
	}
	if c.Usage != nil {
		h.usage = llm.Usage{Prompt: max(c.Usage.Prompt, 0), Answer: max(c.Usage.Answer, 0)}
		if c.Usage.Details != nil {
			h.usage.Cached = c.Usage.Details.Cached
		}
		counted = len(c.Choices) == 0
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 { // others are the client's alone
			h.choice(&c.Choices[i])
		}
	}
	return counted, nil
}

func (h *heard) choice(c *choice) {
	if d := c.Delta; d != nil {
		h.delta(d)
		for _, piece := range d.Calls {
			call := piece.call()
			h.pieces.Add(llm.CallPiece{Index: piece.Index, ID: call.ID, Name: call.Name, Arguments: call.Arguments})
			h.parted = true
		}
	}
	if m := c.Message; m != nil {
		h.delta(m)
		for _, whole := range m.Calls {
			h.calls = append(h.calls, whole.call())
		}
	}
	if c.Reason != "" {
		h.ended(c.Reason)
	}
}

func (h *heard) delta(d *delta) {
	thinking := d.Thinking
	if thinking == "" {
		thinking = d.Reasoning
	}
	h.say(d.Content+d.Refusal, thinking)
}

func (h *heard) ended(reason string) {
	switch reason {
	case "length":
		h.stop = llm.StopLength
	case "tool_calls", "function_call":
		h.stop = llm.StopCalls
	case "content_filter":
		h.stop = llm.StopFilter
	default:
		h.stop = llm.StopEnd
	}
	if h.parted {
		h.calls = h.pieces.Calls()
	}
	if h.stop == llm.StopEnd && len(h.calls) > 0 {
		h.stop = llm.StopCalls
	}
}
