package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// list is a page of a list.
type list[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next"`
}

// all reads a list page by page. An error ends it.
func all[T any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		next := url.Values{}
		for name, values := range query {
			next[name] = values
		}
		for {
			p, err := ask[list[T]](ctx, c, call{method: http.MethodGet, path: path, query: next, again: true})
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.Next == "" {
				return
			}
			next.Set("cursor", p.Next)
		}
	}
}

// asked is a query of what was asked for: values that are empty are left out.
func asked(pairs ...any) url.Values {
	q := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		name := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case string:
			if v != "" {
				q.Set(name, v)
			}
		case int:
			if v != 0 {
				q.Set(name, strconv.Itoa(v))
			}
		case int64:
			if v != 0 {
				q.Set(name, strconv.FormatInt(v, 10))
			}
		case float64:
			if v != 0 {
				q.Set(name, strconv.FormatFloat(v, 'g', -1, 64))
			}
		case bool:
			if v {
				q.Set(name, "true")
			}
		case time.Time:
			if !v.IsZero() {
				q.Set(name, v.UTC().Format(time.RFC3339Nano))
			}
		}
	}
	return q
}
