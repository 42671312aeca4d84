package front

import (
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/turnstone-dev/turnstone/chain"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
)

// speech is how an answer is told to a client where it cannot be handed on as it came.
type speech interface {
	// piece appends a piece of a stream.
	piece(dst []byte, p *piece) []byte
	// end appends the end of a stream.
	end(dst []byte, h *heard) []byte
	// whole appends an answer that is not streamed.
	whole(dst []byte, h *heard) []byte
	// failure appends what went wrong in the middle of a stream.
	failure(dst []byte, c complaint) []byte
	// contentType is that of a stream.
	contentType() string
}

// speech returns how the client of the call is answered. Reply is the hash that the answer will be found by.
func (c *call) speech(now time.Time) speech {
	if c.api == openaiChat {
		s := &openaiSpeech{id: "chatcmpl-" + rand.Text(), created: now.Unix(), model: c.model}
		var options struct {
			Usage bool `json:"include_usage"`
		}
		s.usage = c.read("stream_options", &options) == nil && options.Usage
		return s
	}
	return &ollamaSpeech{model: c.model, started: now, generate: c.api == ollamaGenerate}
}

// ollamaSpeech tells an answer as /api/chat or /api/generate does.
type ollamaSpeech struct {
	model    string
	started  time.Time
	first    time.Time // piece
	generate bool
	// reply is what the context of /api/generate stands for.
	reply chain.Hash
}

type (
	ollamaLine struct {
		Model     string         `json:"model"`
		CreatedAt string         `json:"created_at"`
		Message   *ollamaMessage `json:"message,omitempty"`
		Response  *string        `json:"response,omitempty"`
		Thinking  string         `json:"thinking,omitempty"`
		Done      bool           `json:"done"`
		*ollamaEnd
	}
	ollamaMessage struct {
		Role      string       `json:"role"`
		Content   string       `json:"content"`
		Thinking  string       `json:"thinking,omitempty"`
		ToolCalls []ollamaCall `json:"tool_calls,omitempty"`
	}
	ollamaCall struct {
		ID       string         `json:"id,omitempty"`
		Function ollamaFunction `json:"function"`
	}
	ollamaFunction struct {
		Index     int             `json:"index"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	ollamaEnd struct {
		DoneReason         string          `json:"done_reason,omitempty"`
		Context            json.RawMessage `json:"context,omitempty"`
		TotalDuration      int64           `json:"total_duration"`
		LoadDuration       int64           `json:"load_duration"`
		PromptEvalCount    int             `json:"prompt_eval_count,omitempty"`
		PromptEvalDuration int64           `json:"prompt_eval_duration"`
		EvalCount          int             `json:"eval_count,omitempty"`
		EvalDuration       int64           `json:"eval_duration"`
	}
)

func (s *ollamaSpeech) contentType() string { return "application/x-ndjson" }

func (s *ollamaSpeech) line(dst []byte, text, thinking string, calls []llm.Call, end *ollamaEnd) []byte {
	l := ollamaLine{Model: s.model, CreatedAt: time.Now().UTC().Format(time.RFC3339Nano), Done: end != nil, ollamaEnd: end}
	if s.generate {
		l.Response, l.Thinking = &text, thinking
		return append(dst, encode(l)...)
	}
	l.Message = &ollamaMessage{Role: "assistant", Content: text, Thinking: thinking}
	for i, c := range calls {
		l.Message.ToolCalls = append(l.Message.ToolCalls, ollamaCall{c.ID, ollamaFunction{i, c.Name, toolargs.Append(nil, c.Arguments)}})
	}
	return append(dst, encode(l)...)
}

func (s *ollamaSpeech) piece(dst []byte, p *piece) []byte {
	if len(p.text)+len(p.thinking)+len(p.calls) == 0 {
		return dst
	}
	if s.first.IsZero() {
		s.first = time.Now()
	}
	return append(s.line(dst, string(p.text), string(p.thinking), p.calls, nil), '\n')
}

// metrics are the server's own where it has some, and what was measured here where it has none.
func (s *ollamaSpeech) metrics(h *heard) *ollamaEnd {
	e := &ollamaEnd{DoneReason: "stop", PromptEvalCount: h.usage.Prompt, EvalCount: h.usage.Answer}
	if h.stop == llm.StopLength {
		e.DoneReason = "length"
	}
	if h.total > 0 {
		e.TotalDuration, e.LoadDuration = int64(h.total), int64(h.load)
		e.PromptEvalDuration, e.EvalDuration = int64(h.usage.PromptTime), int64(h.eval)
	} else {
		now := time.Now()
		// An answer that came at once was not seen to begin. All of its time is the answer's: programs divide its tokens by it.
		if s.first.IsZero() {
			s.first = s.started
		}
		e.TotalDuration, e.PromptEvalDuration, e.EvalDuration = int64(now.Sub(s.started)), int64(s.first.Sub(s.started)), int64(now.Sub(s.first))
	}
	if s.generate && s.reply != (chain.Hash{}) {
		e.Context = appendContext(nil, s.reply)
	}
	return e
}

// end has the calls of a server that tells them piece by piece.
func (s *ollamaSpeech) end(dst []byte, h *heard) []byte {
	if h.parted && len(h.calls) > 0 {
		dst = append(s.line(dst, "", "", h.calls, nil), '\n')
	}
	return append(s.line(dst, "", "", nil, s.metrics(h)), '\n')
}

func (s *ollamaSpeech) whole(dst []byte, h *heard) []byte {
	return s.line(dst, string(h.text), string(h.thinking), h.calls, s.metrics(h))
}

func (s *ollamaSpeech) failure(dst []byte, c complaint) []byte {
	return append(append(dst, errorBody(ollamaChat, c)...), '\n')
}

// openaiSpeech tells an answer as /v1/chat/completions does.
type openaiSpeech struct {
	id      string
	created int64
	model   string
	usage   bool // that the client wants it in a stream
	begun   bool
	calls   int
}

type (
	openaiBody struct {
		ID      string         `json:"id"`
		Object  string         `json:"object"`
		Created int64          `json:"created"`
		Model   string         `json:"model"`
		Choices []openaiChoice `json:"choices"`
		// Usage is null in the pieces of a stream that ends with it.
		Usage json.RawMessage `json:"usage,omitempty"`
	}
	openaiChoice struct {
		Index    int            `json:"index"`
		Delta    *openaiMessage `json:"delta,omitempty"`
		Message  *openaiWhole   `json:"message,omitempty"`
		Logprobs *struct{}      `json:"logprobs"`
		Reason   *string        `json:"finish_reason"`
	}
	openaiMessage struct {
		Role      string       `json:"role,omitempty"`
		Content   *string      `json:"content,omitempty"`
		Thinking  string       `json:"reasoning_content,omitempty"`
		ToolCalls []openaiCall `json:"tool_calls,omitempty"`
	}
	// openaiWhole is a message that is not streamed: it has a content, and be it null.
	openaiWhole struct {
		Role      string       `json:"role"`
		Content   *string      `json:"content"`
		Thinking  string       `json:"reasoning_content,omitempty"`
		ToolCalls []openaiCall `json:"tool_calls,omitempty"`
	}
	openaiCall struct {
		Index    *int           `json:"index,omitempty"`
		ID       string         `json:"id"`
		Type     string         `json:"type"`
		Function openaiFunction `json:"function"`
	}
	openaiFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
)

func (s *openaiSpeech) contentType() string { return "text/event-stream" }

func (s *openaiSpeech) event(dst []byte, b openaiBody) []byte {
	b.ID, b.Object, b.Created, b.Model = s.id, "chat.completion.chunk", s.created, s.model
	if s.usage && b.Usage == nil {
		b.Usage = json.RawMessage("null")
	}
	return append(append(append(dst, "data: "...), encode(b)...), "\n\n"...)
}

func (s *openaiSpeech) message(text string, calls []llm.Call, streamed bool) *openaiMessage {
	m := &openaiMessage{}
	if text != "" || len(calls) == 0 {
		m.Content = &text
	}
	for _, c := range calls {
		id := c.ID
		if id == "" {
			id = "call_" + rand.Text()
		}
		call := openaiCall{ID: id, Type: "function", Function: openaiFunction{c.Name, string(toolargs.Append(nil, c.Arguments))}}
		if streamed {
			index := s.calls
			call.Index = &index
		}
		s.calls++
		m.ToolCalls = append(m.ToolCalls, call)
	}
	return m
}

func (s *openaiSpeech) piece(dst []byte, p *piece) []byte {
	if len(p.text)+len(p.thinking)+len(p.calls) == 0 {
		return dst
	}
	m := s.message(string(p.text), p.calls, true)
	m.Thinking = string(p.thinking)
	if !s.begun {
		m.Role, s.begun = "assistant", true
	}
	return s.event(dst, openaiBody{Choices: []openaiChoice{{Delta: m}}})
}

func (s *openaiSpeech) end(dst []byte, h *heard) []byte {
	reason := finish(h)
	last := openaiMessage{}
	if !s.begun {
		last.Role = "assistant"
	}
	dst = s.event(dst, openaiBody{Choices: []openaiChoice{{Delta: &last, Reason: &reason}}})
	if s.usage {
		dst = s.event(dst, openaiBody{Choices: []openaiChoice{}, Usage: encode(usageOf(h))})
	}
	return append(dst, "data: [DONE]\n\n"...)
}

func (s *openaiSpeech) whole(dst []byte, h *heard) []byte {
	reason := finish(h)
	m := s.message(string(h.text), h.calls, false)
	m.Role, m.Thinking = "assistant", string(h.thinking)
	return append(dst, encode(openaiBody{
		ID: s.id, Object: "chat.completion", Created: s.created, Model: s.model,
		Choices: []openaiChoice{{Message: (*openaiWhole)(m), Reason: &reason}}, Usage: encode(usageOf(h)),
	})...)
}

func (s *openaiSpeech) failure(dst []byte, c complaint) []byte {
	return append(append(append(dst, "data: "...), errorBody(openaiChat, c)...), "\n\n"...)
}

func finish(h *heard) string {
	switch h.stop {
	case llm.StopLength:
		return "length"
	case llm.StopCalls:
		return "tool_calls"
	}
	return "stop"
}

func usageOf(h *heard) *usage {
	return &usage{Prompt: h.usage.Prompt, Answer: h.usage.Answer, Total: h.usage.Prompt + h.usage.Answer}
}
