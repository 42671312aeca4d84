package ollama

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
)

// errStopped says that the caller wants no more.
var errStopped = errors.New("the caller stopped")

// piece is one line of a streamed answer. Metrics that are zero are not in it.
type piece struct {
	Message struct {
		Content  string
		Thinking string
		Calls    []struct {
			ID       string
			Function struct {
				Name      string
				Arguments json.RawMessage
			}
		} `json:"tool_calls"`
	}
	Done       bool
	Reason     string        `json:"done_reason"`
	Prompt     int           `json:"prompt_eval_count"`
	PromptTime time.Duration `json:"prompt_eval_duration"`
	Answer     int           `json:"eval_count"`
	Error      any
}

// answer reads a streamed answer.
type answer struct {
	yield   func(llm.Chunk, error) bool
	limited bool // to one token, by the request
	spoken  bool
	over    bool // nothing more may be yielded
	ids     map[string]bool
}

// line reads one line of it.
func (a *answer) line(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	var p piece
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&p); err != nil {
		return garbled(text, err)
	}
	if p.Error != nil {
		return complaint(0, p.Error).Judge("")
	}
	chunk := llm.Chunk{Text: p.Message.Content, Thinking: p.Message.Thinking, Calls: a.calls(&p)}
	a.spoken = a.spoken || chunk.Text != "" || chunk.Thinking != "" || len(chunk.Calls) > 0
	if !p.Done {
		if chunk.Text == "" && chunk.Thinking == "" && chunk.Calls == nil {
			return nil
		}
		if !a.yield(chunk, nil) {
			a.over = true
			return errStopped
		}
		return nil
	}
	chunk.Usage = llm.Usage{Prompt: max(p.Prompt, 0), Answer: max(p.Answer, 0), PromptTime: max(p.PromptTime, 0)}
	return a.end(&p, chunk)
}

// end judges how an answer ended.
func (a *answer) end(p *piece, chunk llm.Chunk) error {
	switch p.Reason {
	case "load", "unload":
		return &llm.Error{Kind: llm.ErrFailed, Problem: "the server did no more than " + p.Reason + " the model", Fix: "ask again"}
	case "length":
		chunk.Stop = llm.StopLength
		// With a prompt that fills the window some servers answer 200 and nothing, or one token. Where there were more and
		// none of them shows, they began a call.
		if !a.limited && (p.Answer == 1 || p.Answer <= 0 && !a.spoken) {
			return &llm.Error{
				Kind: llm.ErrContextExceeded, Prompt: chunk.Usage.Prompt,
				Problem: "the prompt leaves no room for an answer",
			}
		}
	case "stop", "":
		chunk.Stop = llm.StopEnd
		if a.ids != nil {
			chunk.Stop = llm.StopCalls
		}
	default:
		chunk.Stop = llm.Stop(p.Reason)
	}
	// Whether the caller wants more does not matter: there is no more, and the connection can be used again.
	a.over = true
	a.yield(chunk, nil)
	return httpstream.ErrDone
}

// calls are the calls of a line, each with an id of its own: older versions of Ollama give none.
func (a *answer) calls(p *piece) []llm.Call {
	var calls []llm.Call
	for _, c := range p.Message.Calls {
		if a.ids == nil {
			a.ids = map[string]bool{}
		}
		if c.ID == "" || a.ids[c.ID] {
			c.ID = "call_" + rand.Text()
		}
		a.ids[c.ID] = true
		calls = append(calls, llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: toolargs.Text(c.Function.Arguments)})
	}
	return calls
}

// garbled is the error of a line that is not what it should be: one that was cut, or of somebody else.
func garbled(text []byte, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", httpstream.ErrCut, err)
	}
	return &llm.Error{
		Kind: llm.ErrFailed, Problem: fmt.Sprintf("its answer is not Ollama's: %.80q", text),
		Fix: "check that an Ollama server listens at this address", Err: err,
	}
}

// refused reads the body of an answer that is not 200.
func refused(e *httpstream.StatusError) llm.Refusal {
	var body struct{ Error any }
	if json.Unmarshal(e.Body, &body) != nil || body.Error == nil {
		body.Error = string(e.Body)
	}
	r := complaint(e.Status, body.Error)
	r.RetryAfter = e.RetryAfter
	return r
}

// complaint reads an error: a text, an object, or a text that holds an object which has it, as newer versions
// hand on what their engine said.
func complaint(status int, said any) llm.Refusal {
	text, is := said.(string)
	if !is {
		object, err := json.Marshal(said)
		if err != nil {
			object = []byte(fmt.Sprint(said))
		}
		text = string(object)
	}
	r := llm.Refusal{Status: status, Said: text}
	type inner struct {
		Type, Message string
		Prompt        int `json:"n_prompt_tokens"`
		Context       int `json:"n_ctx"`
	}
	var outer struct {
		inner
		Error inner
	}
	at := strings.IndexByte(text, '{')
	if at < 0 || json.NewDecoder(strings.NewReader(text[at:])).Decode(&outer) != nil {
		return r
	}
	found := outer.Error
	if found == (inner{}) {
		found = outer.inner
	}
	if found.Message != "" {
		r.Said = found.Message
	}
	r.Code, r.Prompt, r.Context = found.Type, found.Prompt, found.Context
	return r
}
