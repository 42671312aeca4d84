package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

const securityScheme = "key"

// newAPI is huma without what it brings of its own: its links, its documentation page and its errors.
func (s *Server) newAPI(mux *http.ServeMux) huma.API {
	return humago.NewWithPrefix(mux, prefix, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Turnstone", Version: s.config.Version,
				Description: "The context engine for conversational agents: every turn kept exactly.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
				SecuritySchemes: map[string]*huma.SecurityScheme{securityScheme: {
					Type: "http", Scheme: "bearer",
					Description: "A key of the form ts_…, made with turnstone key create. On loopback none is needed unless the server was told so.",
				}},
			},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{s.tell},
	})
}

// schemaName is what the document calls a type. Those that only describe what encodes itself end in Doc.
func schemaName(t reflect.Type, hint string) string {
	return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Doc")
}

// jsonFormat writes what has an encoder of its own with that, which keeps every byte, and reads the same way.
var jsonFormat = huma.Format{
	Marshal: func(w io.Writer, v any) error {
		if own, ok := v.(encoder); ok {
			_, err := w.Write(own.line())
			return err
		}
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(v)
	},
	Unmarshal: func(data []byte, v any) error {
		if own, ok := v.(decoder); ok {
			own.decodeJSON(data)
			return nil
		}
		if err := json.Unmarshal(data, v); err != nil {
			return err
		}
		return unambiguous(strictjson.Raw(bytes.TrimSpace(data)), namesBelow)
	},
}

// namesBelow is how deep a body is looked into for names that are given twice. What is deeper is kept as it came.
const namesBelow = 4

// unambiguous refuses an object that gives a name twice: which of both counts, readers of JSON do not agree on.
func unambiguous(v strictjson.Raw, below int) error {
	if below == 0 {
		return nil
	}
	switch v.Kind() {
	case strictjson.KindObject:
		return v.Object(func(_ string, v strictjson.Raw) error { return unambiguous(v, below-1) })
	case strictjson.KindArray:
		return v.Array(func(v strictjson.Raw) error { return unambiguous(v, below-1) })
	default:
		return nil
	}
}

// encoder is a body that is JSON already, of which line is the only use: it may be made in place.
type encoder interface{ line() []byte }

// decoder is a body that reads itself. It keeps its error for the operation, which returns it: huma would put it into
// words of its own.
type decoder interface{ decodeJSON(data []byte) }

// tell puts what huma finds wrong into our words.
func (s *Server) tell(ctx huma.Context, _ string, v any) (any, error) {
	var found error
	switch v := v.(type) {
	case *huma.ErrorModel:
		if found = translated(s.api.OpenAPI().Components.Schemas, ctx.Operation(), v); noRoom(ctx.Context()) {
			found = crowded()
		}
	case *failure:
		found = v.error
	case *Problem:
		found = v
	default:
		return v, nil
	}
	url := ctx.URL()
	told := s.problem(ctx.Context(), url.Path, found)
	told.advise(ctx.SetHeader)
	for {
		if c, ok := ctx.(*call); ok {
			c.told = told
			break
		}
		outer, ok := ctx.(interface{ Unwrap() huma.Context })
		if !ok {
			break
		}
		ctx = outer.Unwrap()
	}
	return told, nil
}

// refused answers a request with an error that huma need not see.
func (s *Server) refused(ctx huma.Context, why error) {
	told, err := s.tell(ctx, "", &failure{why})
	if err != nil {
		panic(err) // tell returns none
	}
	ctx.SetHeader("Content-Type", problemType)
	ctx.SetStatus(told.(*Problem).Status)
	if err := jsonFormat.Marshal(ctx.BodyWriter(), told); err != nil {
		record := RecordOf(ctx.Context())
		record.Err = errors.Join(record.Err, err)
	}
}

func isUnsupported(err error) bool { return errors.Is(err, http.ErrNotSupported) }
