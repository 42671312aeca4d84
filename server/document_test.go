package server_test

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// document is the OpenAPI document as far as traffic is held against it.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	ID         string `json:"operationId"`
	Summary    string `json:"summary"`
	Parameters []struct {
		Name     string  `json:"name"`
		In       string  `json:"in"`
		Required bool    `json:"required"`
		Schema   *schema `json:"schema"`
	} `json:"parameters"`
	RequestBody *struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]response `json:"responses"`
	Security  []map[string][]string
}

type response struct {
	Content map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

// schema is the part of JSON Schema that the document uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a string or a list of them
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional any                `json:"additionalProperties"` // false, or a schema
	Items      *schema            `json:"items"`
	Enum       []any              `json:"enum"`
	AnyOf      []*schema          `json:"anyOf"`
	Format     string             `json:"format"`
}

// find returns the operation that a request is for. Parts of a path in braces stand for anything; what has fewer of
// them is meant first.
func (d *document) find(method, path string) (operation, bool) {
	var found operation
	best := -1
	for template, methods := range d.Paths {
		op, ok := methods[strings.ToLower(method)]
		if plain := plainParts(template, path); ok && plain > best {
			found, best = op, plain
		}
	}
	return found, best >= 0
}

// plainParts is how many parts of a path a template names, -1 where it is not its template.
func plainParts(template, path string) int {
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return -1
	}
	plain := 0
	for i := range want {
		switch {
		case strings.HasPrefix(want[i], "{"):
		case want[i] == got[i]:
			plain++
		default:
			return -1
		}
	}
	return plain
}

// check holds an answer against the document.
func (d *document) check(method, path string, answer reply) error {
	path, _, _ = strings.Cut(path, "?")
	op, ok := d.find(method, path)
	if !ok {
		return nil // there is no such route, and the answer says so
	}
	described, ok := op.Responses[strconv.Itoa(answer.status)]
	if !ok {
		if described, ok = op.Responses["default"]; !ok || answer.status < 300 {
			return fmt.Errorf("%s: the document has no answer with %d", op.ID, answer.status)
		}
	}
	if answer.status == http.StatusNoContent || answer.status == http.StatusNotModified {
		if answer.body != "" {
			return fmt.Errorf("%s: %d with a body", op.ID, answer.status)
		}
		return nil
	}
	media, _, err := mime.ParseMediaType(answer.header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("%s: %w", op.ID, err)
	}
	content, ok := described.Content[media]
	if !ok {
		return fmt.Errorf("%s: the document has no answer of type %s with %d", op.ID, media, answer.status)
	}
	if !strings.HasSuffix(media, "json") || media == "application/x-ndjson" {
		return nil
	}
	var value any
	if err := json.Unmarshal([]byte(answer.body), &value); err != nil {
		return fmt.Errorf("%s: %w", op.ID, err)
	}
	if err := d.validate(content.Schema, value, "body"); err != nil {
		return fmt.Errorf("%s: %w in %s", op.ID, err, answer.body)
	}
	return nil
}

func (d *document) validate(s *schema, v any, at string) error {
	if s == nil {
		return fmt.Errorf("%s has no schema", at)
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.validate(d.Components.Schemas[name], v, at)
	}
	if len(s.AnyOf) > 0 && !slices.ContainsFunc(s.AnyOf, func(one *schema) bool { return d.validate(one, v, at) == nil }) {
		return fmt.Errorf("%s is nothing of what it may be", at)
	}
	if !s.takes(typeName(v)) {
		return fmt.Errorf("%s is %s, not %v", at, typeName(v), s.Type)
	}
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, v) {
		return fmt.Errorf("%s is %v, none of %v", at, v, s.Enum)
	}
	switch v := v.(type) {
	case string:
		if s.Format == "date-time" {
			if _, err := time.Parse(time.RFC3339Nano, v); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
		}
	case []any:
		for i, item := range v {
			if s.Items == nil {
				break
			}
			if err := d.validate(s.Items, item, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		return d.validateObject(s, v, at)
	}
	return nil
}

func (d *document) validateObject(s *schema, v map[string]any, at string) error {
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			return fmt.Errorf("%s.%s is missing", at, name)
		}
	}
	for name, member := range v {
		property, known := s.Properties[name]
		switch {
		case known:
			if err := d.validate(property, member, at+"."+name); err != nil {
				return err
			}
		case s.Additional == false:
			return fmt.Errorf("%s.%s is not described", at, name)
		}
	}
	return nil
}

func (s *schema) takes(name string) bool {
	fits := func(t any) bool { return t == name || t == "number" && name == "integer" }
	switch t := s.Type.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(t, fits)
	default:
		return fits(t)
	}
}

func typeName(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	}
	return "object"
}
