package openai

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm"
)

// fault is an error as servers describe it: members of an object, in as many ways as there are servers.
type fault struct {
	Message string
	Type    string
	Code    any // a word, or the status as a number or in digits
	Detail  json.RawMessage
	Prompt  int `json:"n_prompt_tokens"`
	Context int `json:"n_ctx"`
}

// refused reads the body of an answer that is not 200.
func refused(e *httpstream.StatusError) llm.Refusal {
	var body struct{ Error json.RawMessage }
	raw := json.RawMessage(e.Body)
	if json.Unmarshal(e.Body, &body) == nil && len(body.Error) > 0 && string(body.Error) != "null" {
		raw = body.Error
	}
	r := complaint(e.Status, raw)
	r.RetryAfter = e.RetryAfter
	return r
}

// complaint reads an error: an object, a text that may hold one, or whatever it is.
func complaint(status int, raw json.RawMessage) llm.Refusal {
	r := llm.Refusal{Status: status, Said: string(raw)}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		r.Said, raw = text, json.RawMessage(text)
	}
	var f fault
	if json.Unmarshal(raw, &f) != nil {
		return r
	}
	switch {
	case f.Message != "":
		r.Said = f.Message
	case len(f.Detail) > 0:
		r.Said = string(f.Detail)
	}
	r.Code, r.Prompt, r.Context = f.Type, f.Prompt, f.Context
	if f.Code != nil {
		code := fmt.Sprint(f.Code)
		r.Code += " " + code
		// In the middle of a stream the status is said in the error.
		if n, err := strconv.Atoi(code); err == nil && status == 0 {
			r.Status = n
		}
	}
	return r
}
