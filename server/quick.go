package server

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// texts are the bodies of requests and answers that are written quickly.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// maxText is how large a body may be that is read quickly. Memory of up to twice as much is used again.
const maxText = 1 << 20

// appendQuickly is the operation appendTurns for a request that has nothing which huma would have to look at: a body of a
// known length, and of the query no more than whether to create the session.
func (s *Server) appendQuickly(c *call) bool {
	r, w := humago.Unwrap(c)
	in := appendTurnsInput{InSession: InSession{r.PathValue("session")}, IdempotencyKey: r.Header.Get("Idempotency-Key")}
	switch r.URL.RawQuery {
	case "", "create=false":
	case "create=true":
		in.Create = true
	default:
		return false
	}
	switch r.Header.Get("Accept") {
	case "", "*/*", "application/json":
	default:
		return false
	}
	if in.Session == "" || len(in.Session) > 128 || len(in.IdempotencyKey) > 200 ||
		r.ContentLength <= 0 || r.ContentLength > min(maxText, s.config.Limits.Turns) {
		return false
	}
	text := texts.Get().(*[]byte)
	defer texts.Put(text)
	if !in.Body.readQuickly(r, text) {
		return false
	}
	err := awaited(r.Context())
	if err == nil {
		ctx, answered := s.paced(r.Context(), 0, false)
		done, failed := in.append(ctx, EngineOf(ctx))
		if err = answered(failed); err == nil {
			*text = append(appendAppended((*text)[:0], done), '\n')
		}
	}
	if err != nil {
		s.refused(c, err)
		return true
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(*text)))
	w.WriteHeader(http.StatusCreated)
	if _, err := w.Write(*text); err != nil {
		RecordOf(r.Context()).Err = err
	}
	if cap(*text) > 2*maxText {
		*text = nil
	}
	return true
}

// readQuickly reads the body of a request by its length. Where it does not come so, the body is put together again.
func (b *read[D]) readQuickly(r *http.Request, text *[]byte) bool {
	n := int(r.ContentLength)
	if cap(*text) < n {
		*text = make([]byte, n)
	}
	for got := 0; got < n; {
		more, err := r.Body.Read((*text)[got:n])
		if got += more; err != nil && got < n {
			r.Body = &rejoined{io.MultiReader(bytes.NewReader(bytes.Clone((*text)[:got])), failing{err}), r.Body}
			return false
		}
	}
	b.decodeJSON((*text)[:n])
	return true
}

// rejoined is a body of which some was read already.
type rejoined struct {
	io.Reader
	io.Closer
}

// failing is the rest of a body that cannot be read.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
