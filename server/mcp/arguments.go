package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// checked refuses calls whose arguments are not of the type of their tool's input, in the words that tools have for what they
// refuse themselves. The library behind it would do so in words of its own, which say neither which field alone nor what
// to do.
func (s *Server) checked(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		call, ok := r.(*mcp.CallToolRequest)
		if !ok || call.Params == nil || s.inputs[call.Params.Name] == nil {
			return next(ctx, method, r)
		}
		if err := fits(s.inputs[call.Params.Name], call.Params.Arguments); err != nil {
			var refused mcp.CallToolResult
			refused.SetError(err)
			return &refused, nil
		}
		return next(ctx, method, r)
	}
}

// fits holds arguments against the type of an input.
func fits(input reflect.Type, arguments json.RawMessage) error {
	var given any
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return invalid.New("arguments", "are no JSON", "give an object")
		}
	}
	if given == nil {
		given = map[string]any{}
	}
	return fit(input, "", given)
}

// fit holds what is given under a name against the type that it is read into.
func fit(t reflect.Type, name string, given any) error {
	if given == nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch given := given.(type) {
	case string:
		if t.Kind() == reflect.String {
			return nil
		}
	case bool:
		if t.Kind() == reflect.Bool {
			return nil
		}
	case float64:
		if whole := given == math.Trunc(given) && math.Abs(given) < 1<<53; t.Kind() == reflect.Float64 || whole && isInt(t) {
			return nil
		}
	case []any:
		if t.Kind() == reflect.Slice {
			for i, item := range given {
				if err := fit(t.Elem(), fmt.Sprintf("%s[%d]", name, i), item); err != nil {
					return err
				}
			}
			return nil
		}
	case map[string]any:
		if t.Kind() == reflect.Struct {
			return fitFields(t, name, given)
		}
	}
	if name == "" {
		name = "arguments"
	}
	return invalid.New(name, "is "+kindOf(given), "give "+kindFor(t))
}

// fitFields holds an object against the fields of a struct.
func fitFields(t reflect.Type, name string, given map[string]any) error {
	if name != "" {
		name += "."
	}
	left := maps.Clone(given)
	var known []string
	for field := range t.Fields() {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known = append(known, key)
		delete(left, key)
	}
	if len(left) > 0 { // it may stand in the place of one that is missing
		return invalid.New(name+slices.Min(slices.Collect(maps.Keys(left))), "unexpected property", "use "+strings.Join(slices.Sorted(slices.Values(known)), ", "))
	}
	for field := range t.Fields() {
		key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		value, ok := given[key]
		switch {
		case ok:
			if err := fit(field.Type, name+key, value); err != nil {
				return err
			}
		case options != "omitempty":
			return invalid.New(name+key, "is required", "give "+kindFor(field.Type))
		}
	}
	return nil
}

func isInt(t reflect.Type) bool { return t.Kind() == reflect.Int || t.Kind() == reflect.Int64 }

// kindOf is what a value of JSON is.
func kindOf(given any) string {
	switch given := given.(type) {
	case string:
		return "a string"
	case bool:
		return fmt.Sprint(given)
	case float64:
		return fmt.Sprintf("the number %v", given)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	default:
		return "null"
	}
}

// kindFor is what JSON has for a type.
func kindFor(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.String:
		return "a string"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case isInt(t):
		return "a whole number"
	case t.Kind() == reflect.Float64:
		return "a number"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Pointer:
		return kindFor(t.Elem())
	default:
		return "an object"
	}
}
