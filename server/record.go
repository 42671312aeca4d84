package server

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"runtime/debug"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

// Record is what is known of a request. It is filled while the request is answered, by the goroutine that does, and
// whole when the server's handler returns.
type Record struct {
	// ID is the client's own X-Request-Id, or one that was made. It stands in the answer and in every problem.
	ID string
	// Route is the pattern that answered, such as "GET /api/v1/sessions", empty where there is none.
	Route string
	// Caller is who asked, once the guard let it in.
	Caller access.Caller
	// Err is what went wrong, nil where nothing did.
	Err error

	engine  *turnstone.Engine // of the caller's tenant
	control *http.ResponseController
	body    *arrival // nil where there is none
}

type recordKey struct{}

// RecordOf returns the record of the request whose context it is, and an empty one that nobody reads for any other.
func RecordOf(ctx context.Context) *Record {
	if r, ok := ctx.Value(recordKey{}).(*Record); ok {
		return r
	}
	return &Record{}
}

const requestID = "X-Request-Id"

var ownID = regexp.MustCompile(`^[\w.:-]{1,128}$`)

// recorded gives each request its record and its id.
func (s *Server) recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record := &Record{ID: r.Header.Get(requestID)}
		if record.ID == "" || !ownID.MatchString(record.ID) {
			record.ID = s.ids.Next(s.now())
		}
		w.Header().Set(requestID, record.ID)
		patient := newPatient(w, s.config.Limits.Write)
		record.control = patient.control
		defer patient.finish()
		from := proxies(s.config.TrustedProxies).client(r)
		r = r.WithContext(context.WithValue(r.Context(), recordKey{}, record))
		r.RemoteAddr = from
		defer s.arriving(patient, r)()
		defer s.caught(patient, r)
		next.ServeHTTP(patient, r)
	})
}

// caught tells a panic as an internal error where nothing was answered yet, and breaks the answer off where something
// was.
func (s *Server) caught(w *patient, r *http.Request) {
	what := recover()
	if what == nil {
		return
	}
	if w.begun || what == http.ErrAbortHandler {
		panic(what)
	}
	s.writeProblem(w, r, fmt.Errorf("panic: %v\n%s", what, debug.Stack()))
}
