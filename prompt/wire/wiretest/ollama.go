package wiretest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
)

type ollamaBody struct {
	Model    string          `json:"model"`
	Truncate *bool           `json:"truncate"`
	Shift    *bool           `json:"shift"`
	Options  ollamaOptions   `json:"options"`
	Tools    []functionTool  `json:"tools"`
	Messages []ollamaMessage `json:"messages"`
}

type ollamaOptions struct {
	NumCtx     int  `json:"num_ctx"`
	NumPredict *int `json:"num_predict"`
}

type ollamaMessage struct {
	Role      string       `json:"role"`
	Content   string       `json:"content"`
	Images    []string     `json:"images"`
	ToolCalls []ollamaCall `json:"tool_calls"`
	ToolName  *string      `json:"tool_name"`
}

type ollamaCall struct {
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// pictureTag is what Ollama puts a picture in place of. One that names no picture is an error of the model's runner.
var pictureTag = regexp.MustCompile(`\[img-\d+\]`)

func checkOllama(data []byte) error {
	var body ollamaBody
	if err := decode(data, &body); err != nil {
		return err
	}
	no := func(b *bool) bool { return b != nil && !*b }
	switch {
	case body.Model == "":
		return errors.New("no model")
	case body.Options.NumCtx < 1:
		return errors.New("no num_ctx: the server takes its own")
	case body.Options.NumPredict != nil && *body.Options.NumPredict < 1:
		return errors.New("num_predict is not positive: the reply has no end")
	case !no(body.Truncate):
		return errors.New("truncate is not false: a long prompt is cut silently")
	case !no(body.Shift):
		return errors.New("shift is not false: a long reply forgets the prompt silently")
	case !slices.ContainsFunc(body.Messages, func(m ollamaMessage) bool { return m.Role != "system" }):
		return errors.New("nothing to answer")
	}
	if err := checkFunctions(body.Tools); err != nil {
		return err
	}
	var waiting []string
	for i, m := range body.Messages {
		var err error
		if waiting, err = m.check(waiting); err != nil {
			return at(i, err)
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("no result of %q", waiting[0])
	}
	return nil
}

// check returns the names of the tools whose results must follow. Results are told apart by their order alone.
func (m *ollamaMessage) check(waiting []string) ([]string, error) {
	if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
		return nil, fmt.Errorf("role %q", m.Role)
	}
	if (m.Role == "tool") != (m.ToolName != nil) {
		return nil, fmt.Errorf("tool_name in the role %q: %v", m.Role, m.ToolName != nil)
	}
	if m.Role == "tool" {
		if len(waiting) == 0 || waiting[0] != *m.ToolName {
			return nil, fmt.Errorf("a result of %q, but %q are called", *m.ToolName, waiting)
		}
		waiting = waiting[1:]
	} else if len(waiting) > 0 {
		return nil, fmt.Errorf("no result of %q", waiting[0])
	}
	if m.Images != nil && (m.Role != "user" || len(m.Images) == 0) {
		return nil, fmt.Errorf("%d pictures in the role %q", len(m.Images), m.Role)
	}
	for _, image := range m.Images {
		if err := checkBase64(image); err != nil {
			return nil, err
		}
	}
	if pictureTag.MatchString(m.Content) {
		return nil, errors.New("content has a picture's tag")
	}
	if blank(m.Content) && m.Images == nil && m.ToolCalls == nil {
		return nil, errors.New("nothing is said")
	}
	if m.ToolCalls != nil && (m.Role != "assistant" || len(m.ToolCalls) == 0) {
		return nil, fmt.Errorf("%d tool_calls in the role %q", len(m.ToolCalls), m.Role)
	}
	for _, call := range m.ToolCalls {
		if !plainName.MatchString(call.Function.Name) {
			return nil, fmt.Errorf("a call of %q", call.Function.Name)
		}
		if _, err := object(call.Function.Arguments); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
		if pictureTag.Match(call.Function.Arguments) {
			return nil, errors.New("arguments have a picture's tag")
		}
		waiting = append(waiting, call.Function.Name)
	}
	return waiting, nil
}
