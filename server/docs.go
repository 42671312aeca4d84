package server

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

const (
	docsPath     = prefix + "/docs"
	documentPath = prefix + "/openapi.json"
)

//go:embed docs.html
var docsPage string

// finishDocument serves the document and its page, once all routes are registered.
func (s *Server) finishDocument(mux *http.ServeMux) {
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	// Huma registers its own errors, which nobody is told.
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for name, schema := range schemas {
		neverNull(schema)
		describe(name, schema)
	}
	for _, path := range s.api.OpenAPI().Paths {
		for _, op := range []*huma.Operation{path.Post, path.Put, path.Patch} {
			exemplify(op)
		}
	}
	// Most servers are never asked for it, and it takes longer than all else that a start does.
	document := sync.OnceValue(func() []byte {
		text, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
		if err != nil {
			panic(err) // it is made of what is compiled in
		}
		return text
	})
	mux.HandleFunc("GET "+documentPath, static("application/json", document))
	page := []byte(strings.Replace(docsPage, "<!-- problems -->", problemRows(), 1))
	mux.HandleFunc("GET "+docsPath, static("text/html; charset=utf-8", func() []byte { return page }))
	for _, path := range []string{prefix, prefix + "/{$}"} {
		mux.Handle("GET "+path, http.RedirectHandler(docsPath, http.StatusFound))
	}
}

// problemRows are the kinds of problems as rows of a table, each with the anchor that its type leads to.
func problemRows() string {
	listed := slices.Clone(kinds)
	for status, k := range others {
		k.status = status
		listed = append(listed, k)
	}
	slices.SortFunc(listed, func(a, b kind) int { return cmp.Or(a.status-b.status, strings.Compare(a.name, b.name)) })
	var rows strings.Builder
	for _, k := range listed {
		fmt.Fprintf(&rows, "<tr id=\"%s\"><td>%d</td><td><code>%s</code></td><td>%s</td></tr>\n", k.name, k.status, typeOf(k), html.EscapeString(k.title))
	}
	return rows.String()
}

// neverNull has a list that is empty be an empty list.
func neverNull(schema *huma.Schema) {
	if schema == nil {
		return
	}
	if schema.Type == huma.TypeArray {
		schema.Nullable = false
	}
	neverNull(schema.Items)
	for _, property := range schema.Properties {
		neverNull(property)
	}
}

func static(media string, body func() []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		if _, err := w.Write(body()); err != nil {
			RecordOf(r.Context()).Err = err
		}
	}
}
