package client_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// document is the OpenAPI document of a server, as far as the client is held against it.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Parameters []struct {
		Name string `json:"name"`
		In   string `json:"in"`
	} `json:"parameters"`
	RequestBody struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

// takes reports whether a request may have a parameter.
func (o *operation) takes(in, name string) bool {
	for _, p := range o.Parameters {
		if p.In == in && strings.EqualFold(p.Name, name) {
			return true
		}
	}
	return false
}

// schema is the part of JSON Schema that names fields.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"` // a string or a list of them
	Properties map[string]*schema `json:"properties"`
	Additional any                `json:"additionalProperties"` // false, true, or a schema
	Items      *schema            `json:"items"`
	AnyOf      []*schema          `json:"anyOf"`
	Required   []string           `json:"required"`
}

// whole is a schema with what it refers to.
func (d *document) whole(s *schema) *schema {
	for s != nil {
		name, isRef := strings.CutPrefix(s.Ref, "#/components/schemas/")
		switch {
		case isRef:
			s = d.Components.Schemas[name]
		case len(s.AnyOf) > 0:
			s = s.AnyOf[0]
		default:
			return s
		}
	}
	return &schema{Additional: false, Type: "nothing"}
}

func (s *schema) is(name string) bool {
	switch t := s.Type.(type) {
	case nil:
		return true
	case string:
		return t == name || t == "number" && name == "integer"
	case []any:
		return slices.ContainsFunc(t, func(one any) bool { return one == name || one == "number" && name == "integer" })
	}
	return false
}

// open reports whether anything may stand in an object.
func (s *schema) open() bool { return len(s.Properties) == 0 && s.Additional != false }

// sent holds what was sent against a schema: every field of it is described, with its type.
func (d *document) sent(s *schema, v any, at string) error {
	s = d.whole(s)
	switch v := v.(type) {
	case map[string]any:
		if !s.is("object") {
			return fmt.Errorf("%s is an object, not %v", at, s.Type)
		}
		for name, member := range v {
			property, known := s.Properties[name]
			if !known && s.open() {
				continue
			}
			if !known {
				return fmt.Errorf("%s.%s is not described", at, name)
			}
			if err := d.sent(property, member, at+"."+name); err != nil {
				return err
			}
		}
		for _, name := range s.Required {
			if _, ok := v[name]; !ok {
				return fmt.Errorf("%s.%s is missing", at, name)
			}
		}
	case []any:
		if !s.is("array") {
			return fmt.Errorf("%s is a list, not %v", at, s.Type)
		}
		for _, item := range v {
			if err := d.sent(s.Items, item, at+"[]"); err != nil {
				return err
			}
		}
	default:
		if name := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number"}[reflect.ValueOf(v).Kind()]; !s.is(name) && !s.is("integer") {
			return fmt.Errorf("%s is a %s, not %v", at, name, s.Type)
		}
	}
	return nil
}

// read holds a type that an answer is read into against a schema: every field of it is described, with its type.
func (d *document) read(s *schema, t reflect.Type, at string) error {
	s = d.whole(s)
	kinds := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Float64: "number", reflect.Int: "integer", reflect.Int64: "integer",
		reflect.Struct: "object", reflect.Slice: "array",
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return nil // whatever it is
	case t == reflect.TypeFor[time.Time]():
		if !s.is("string") {
			return fmt.Errorf("%s is a time, not %v", at, s.Type)
		}
		return nil
	case !s.is(kinds[t.Kind()]):
		return fmt.Errorf("%s is a %s, not %v", at, t, s.Type)
	case t.Kind() == reflect.Slice:
		return d.read(s.Items, t.Elem(), at+"[]")
	case t.Kind() != reflect.Struct:
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue
		}
		property, known := s.Properties[name]
		if !known {
			return fmt.Errorf("%s.%s is not described", at, name)
		}
		if err := d.read(property, f.Type, at+"."+name); err != nil {
			return err
		}
	}
	return nil
}
