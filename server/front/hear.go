package front

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/turnstone-dev/turnstone/llm"
)

// heard is an answer of the upstream server as far as it has come.
type heard struct {
	text, thinking []byte
	calls          []llm.Call
	usage          llm.Usage
	stop           llm.Stop // empty until it ended
	// reason is why it ended, in the server's word.
	reason string
	// total, load and eval are how long Ollama says that it took.
	total, load, eval time.Duration
	// done says that nothing follows.
	done bool

	at map[int]int // the call that has an index now
}

// piece is what one line of an answer says.
type piece struct {
	text, thinking string
	calls          []llm.Call // complete
	// usage says that the line has nothing but usage.
	usage bool
}

// hear reads one line of a stream, or an answer as a whole, from a server of that kind.
func (h *heard) hear(kind Kind, line []byte) (piece, error) {
	if kind == Ollama {
		return h.ollama(line)
	}
	return h.openai(line)
}

func (h *heard) add(p piece) {
	h.text, h.thinking = append(h.text, p.text...), append(h.thinking, p.thinking...)
	h.calls = append(h.calls, p.calls...)
}

// garbled is the error of an answer that is none.
func garbled(line []byte, err error) error {
	return &llm.Error{Kind: llm.ErrFailed, Problem: fmt.Sprintf("its answer makes no sense: %.80q", line), Fix: "check that its kind is what the configuration says", Err: err}
}

// complained is an error that came in place of an answer, or in the middle of one.
func complained(raw json.RawMessage) error {
	return &refusal{status: 500, body: append(append([]byte(`{"error":`), raw...), '}')}
}

func (h *heard) ollama(line []byte) (p piece, err error) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return p, nil
	}
	if text, ok := quick(line); ok {
		p.text = text
		h.add(p)
		return p, nil
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
		return p, garbled(line, err)
	}
	if len(l.Error) > 0 {
		return p, complained(l.Error)
	}
	p.text, p.thinking = plain(l.Message.Content+l.Response), plain(l.Message.Thinking+l.Thinking)
	for _, c := range l.Message.ToolCalls {
		p.calls = append(p.calls, llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: argumentsOf(c.Function.Arguments)})
	}
	h.add(p)
	if l.Done {
		h.done, h.reason, h.stop = true, l.DoneReason, llm.StopEnd
		switch {
		case l.DoneReason == "length":
			h.stop = llm.StopLength
		case len(h.calls) > 0:
			h.stop = llm.StopCalls
		}
		h.usage = llm.Usage{Prompt: max(l.PromptEvalCount, 0), Answer: max(l.EvalCount, 0), PromptTime: max(l.PromptEvalDuration, 0)}
		h.total, h.load, h.eval = l.TotalDuration, l.LoadDuration, l.EvalDuration
	}
	return p, nil
}

var (
	wordBegins = []byte(`"message":{"role":"assistant","content":"`)
	wordEnds   = []byte(`"},"done":false}`)
)

// quick reads what nearly all lines are: a word of the answer, and nothing else. Quotes inside a text are escaped, so that
// what is looked for cannot stand in one.
func quick(line []byte) (text string, ok bool) {
	begin := bytes.Index(line, wordBegins)
	if begin < 0 || line[0] != '{' || !bytes.HasSuffix(line, wordEnds) {
		return "", false
	}
	begin += len(wordBegins)
	word := line[begin:max(begin, len(line)-len(wordEnds))]
	if bytes.IndexByte(word, '"') >= 0 || bytes.IndexByte(word, '\\') >= 0 || !utf8.Valid(word) {
		return "", false
	}
	for _, c := range word {
		if c < ' ' {
			return "", false // no JSON
		}
	}
	return string(word), true
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

func (h *heard) openai(line []byte) (p piece, err error) {
	data, ok := bytes.CutPrefix(line, dataField)
	if data = bytes.TrimSpace(data); !ok && (len(data) == 0 || data[0] != '{') || len(data) == 0 {
		return p, nil // an empty line, a comment, or the name of an event
	}
	if bytes.Equal(data, doneEvent) {
		h.done = true
		return p, nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return p, garbled(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return p, complained(c.Error)
	}
	if c.Usage != nil {
		h.usage = llm.Usage{Prompt: max(c.Usage.Prompt, 0), Answer: max(c.Usage.Answer, 0)}
		if c.Usage.Details != nil {
			h.usage.Cached = c.Usage.Details.Cached
		}
		p.usage = len(c.Choices) == 0
	}
	for i := range c.Choices {
		if c.Choices[i].Index == 0 { // others are the client's alone
			h.choice(&p, &c.Choices[i])
		}
	}
	h.add(p)
	return p, nil
}

func (h *heard) choice(p *piece, c *choice) {
	for _, d := range []*delta{c.Delta, c.Message} {
		if d == nil {
			continue
		}
		p.text += plain(d.Content + d.Refusal)
		if d.Thinking != "" {
			p.thinking += plain(d.Thinking)
		} else {
			p.thinking += plain(d.Reasoning)
		}
		for j := range d.Calls {
			h.assemble(&d.Calls[j], d == c.Message)
		}
	}
	if c.Reason == "" {
		return
	}
	h.reason = c.Reason
	switch c.Reason {
	case "length":
		h.stop = llm.StopLength
	case "tool_calls", "function_call":
		h.stop = llm.StopCalls
	case "content_filter":
		h.stop = llm.StopFilter
	default:
		h.stop = llm.StopEnd
	}
	for i := range h.calls {
		if h.calls[i].ID == "" {
			h.calls[i].ID = "call_" + rand.Text()
		}
	}
}

// assemble puts calls together. Pieces belong to the call of their index; where servers give none, or every call the same,
// an id that is new begins a new call.
func (h *heard) assemble(d *callDelta, whole bool) {
	if h.at == nil {
		h.at = map[int]int{}
	}
	index := 0
	if d.Index != nil {
		index = *d.Index
	}
	at, known := h.at[index]
	if whole || !known || d.ID != "" && h.calls[at].ID != "" && h.calls[at].ID != d.ID {
		at = len(h.calls)
		h.calls = append(h.calls, llm.Call{})
		h.at[index] = at
	}
	c := &h.calls[at]
	if c.ID == "" {
		c.ID = d.ID
	}
	if c.Name == "" {
		c.Name = d.Function.Name
	}
	c.Arguments += argumentsOf(d.Function.Arguments)
}
