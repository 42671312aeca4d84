package server

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/danielgtaylor/huma/v2"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// checkQuery refuses a query that net/http would read only in part, since it leaves out what it cannot read: a list would have
// more in it than was asked for. A parameter is given once, unless it may be repeated.
func checkQuery(op *huma.Operation, raw string) error {
	if raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return refuse(http.StatusBadRequest, "query: %s; write what is no letter or digit as %% and two digits", err)
	}
	for _, p := range op.Parameters {
		if p.In == "query" && (p.Explode == nil || !*p.Explode) && len(query[p.Name]) > 1 {
			return invalid.New(p.Name, "is given twice", "give it once")
		}
	}
	return nil
}

// checkNothing refuses what is sent to an operation that takes nothing. Nobody would look at it, and its sender would not know.
// An empty object is nothing.
func checkNothing(op *huma.Operation, r *http.Request) error {
	if r.ContentLength == 0 || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, op.MaxBodyBytes))
	switch {
	case noRoom(r.Context()):
		return crowded()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "the body takes too long to arrive; send none")
	case err != nil:
		return refuse(http.StatusBadRequest, "the body broke off; send none")
	case int64(len(text)) == op.MaxBodyBytes:
		return tooLarge(op)
	case len(text) == 0:
		return nil
	}
	var unknown error
	err = strictjson.Object(string(text), func(name string, _ strictjson.Raw) error {
		unknown = invalid.New(name, "unexpected property", "send no body")
		return unknown
	})
	if err != nil && unknown == nil {
		return invalid.New("body", err.Error(), "send none")
	}
	return err
}
