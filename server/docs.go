package server

import (
	_ "embed"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

const (
	docsPath     = prefix + "/docs"
	documentPath = prefix + "/openapi.json"
)

//go:embed docs.html
var docsPage []byte

// finishDocument serves the document and its page, once all routes are registered.
func (s *Server) finishDocument(mux *http.ServeMux) {
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	// Huma registers its own errors, which nobody is told.
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for _, schema := range schemas {
		neverNull(schema)
	}
	document, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	if err != nil {
		panic(err) // it is made of what is compiled in
	}
	mux.HandleFunc("GET "+documentPath, static("application/json", document))
	mux.HandleFunc("GET "+docsPath, static("text/html; charset=utf-8", docsPage))
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

func static(media string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		if _, err := w.Write(body); err != nil {
			RecordOf(r.Context()).Err = err
		}
	}
}
