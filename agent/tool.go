package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
	"github.com/turnstone-dev/turnstone/internal/toolargs"
	"github.com/turnstone-dev/turnstone/llm"
)

// Confirm decides whether a call may be run: nil lets it, an error does not, and its text is told to the model as
// the reason. It may ask a person and take its time; ctx ends when the job is cancelled. The calls of one answer are
// confirmed one after the other, before any of them is run.
type Confirm func(ctx context.Context, c llm.Call) error

// Tool is a function that a model may call. Make it with [NewTool] or [NewRawTool], set the exported fields, and
// hand it to a [Loop]; after that it is not changed.
type Tool struct {
	// Timeout is how long a call may run. Defaults to the loop's.
	Timeout time.Duration
	// Confirm is asked before every call. Defaults to the loop's.
	Confirm Confirm

	definition llm.Tool
	// bind checks the arguments of a call and returns what runs it. Its errors are written for the model.
	bind func(arguments string) (action, error)
}

// action is a call that is ready to be run. It returns one JSON value.
type action func(context.Context) (string, error)

// NewTool makes a tool of a function. A is a struct: its exported fields, named by their json tags and explained by
// their doc tags, are the arguments. Fields that are pointers or have omitempty or omitzero may be left out; what else
// a model leaves out, adds or mistypes is refused before the function is called, and the model is told. R is
// written as JSON. The function is called by several goroutines at once. It should end when its context does; an
// error it returns is told to the model, and so is a panic.
//
// The name is of 1 to 64 letters, digits, underscores and hyphens. A *[FieldError] says what is wrong with it or
// with A.
func NewTool[A, R any](name, description string, run func(context.Context, A) (R, error)) (Tool, error) {
	if run == nil {
		return Tool{}, invalid.New("run", "is nil", "give the function that the tool runs")
	}
	arguments := reflect.TypeFor[A]()
	if arguments.Kind() != reflect.Struct {
		return Tool{}, invalid.New("arguments", fmt.Sprintf("%s is not a struct", arguments), "use a struct with a field for each argument")
	}
	s, err := shapeOf(arguments)
	if err != nil {
		return Tool{}, record.Within("arguments", err)
	}
	if !s.object {
		return Tool{}, invalid.New("arguments", fmt.Sprintf("%s reads itself, and nobody can tell a model how", arguments), "embed no type that does, or use NewRawTool")
	}
	return newTool(llm.Tool{Name: name, Description: description, Schema: string(s.append(nil, ""))}, func(raw string) (action, error) {
		var a A
		if err := s.decode(raw, &a); err != nil {
			return nil, err
		}
		return func(ctx context.Context) (string, error) {
			result, err := run(ctx, a)
			if err != nil {
				return "", err
			}
			return encodeResult(result)
		}, nil
	})
}

// NewRawTool makes a tool of a definition from elsewhere and a function that takes the arguments as the model wrote
// them: a JSON object that nobody has held against the schema. A schema that says no type or no properties gets
// them. The rest is as with [NewTool].
func NewRawTool(definition llm.Tool, run func(context.Context, json.RawMessage) (json.RawMessage, error)) (Tool, error) {
	if run == nil {
		return Tool{}, invalid.New("run", "is nil", "give the function that the tool runs")
	}
	return newTool(definition, func(raw string) (action, error) {
		return func(ctx context.Context) (string, error) {
			result, err := run(ctx, json.RawMessage(raw))
			if err != nil {
				return "", err
			}
			return string(bytes.TrimSpace(result)), nil
		}, nil
	})
}

func newTool(definition llm.Tool, bind func(string) (action, error)) (Tool, error) {
	schema, err := toolargs.AppendSchema(nil, definition.Schema)
	if err != nil {
		return Tool{}, record.Within("tool.schema", err)
	}
	definition.Schema = string(schema)
	// A request is how the rules of names are asked for.
	r := llm.Request{Messages: []llm.Message{{Role: llm.User}}, Tools: []llm.Tool{definition}}
	if err := r.Check(); err != nil {
		return Tool{}, err
	}
	return Tool{definition: definition, bind: bind}, nil
}

// Definition is what a model is told about the tool.
func (t Tool) Definition() llm.Tool { return t.definition }

// encodeResult writes a result as one JSON value, on one line.
func encodeResult(v any) (string, error) {
	text, err := strictjson.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("result as JSON: %w", err)
	}
	return string(text), nil
}

// checkResult says why a result cannot be kept; written for the model.
func checkResult(result string, most int) error {
	if len(result) > most {
		return fmt.Errorf("the result has %d bytes, more than the %d that fit; ask for less", len(result), most)
	}
	if result == "" {
		return nil
	}
	if err := strictjson.Check(result); err != nil {
		return fmt.Errorf("the result is not JSON: %w", err)
	}
	return nil
}
