package server

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// exact is a body that what it shows has encoded itself, so that raw values in it are kept byte for byte. D describes it
// in the document.
type exact[D any] struct{ json []byte }

func (e exact[D]) line() []byte { return append(e.json, '\n') }

// Schema is for huma.
func (exact[D]) Schema(r huma.Registry) *huma.Schema { return r.Schema(typeFor[D](), true, "") }

// exactly is an answer of that body.
func exactly[D any](json []byte) *answer[exact[D]] { return answered(exact[D]{json}) }

// read is a body that is read by a function of the concept it belongs to, which names the field that is wrong. D
// describes it in the document. A route that has one is decoded.
type read[D any] struct{ text string }

func (b *read[D]) decodeJSON(data []byte) { b.text = string(data) }

// Schema is for huma.
func (read[D]) Schema(r huma.Registry) *huma.Schema { return r.Schema(typeFor[D](), true, "") }

// list is a JSON list of things that encode themselves.
func list[T any](dst []byte, items []T, appendJSON func(dst []byte, item T) []byte) []byte {
	dst = append(dst, '[')
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(dst, item)
	}
	return append(dst, ']')
}

// typeFor is a type for huma's registry.
func typeFor[T any]() reflect.Type { return reflect.TypeFor[T]() }

// object is what anything may be that is kept as it was sent.
type object map[string]any

// listOf is a copy of a list that is never nil, for JSON.
func listOf[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return slices.Clip(items)
}
