package server

import (
	"context"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

// route is one operation of the API.
type route struct {
	method string
	path   string // below /api/v1
	id     string // of the operation in the document: listSessions
	tag    string // under which the document lists it
	// summary is one line, about what is left to say of it.
	summary string
	about   string
	// scope is what the caller needs. Defaults to read for GET and to write for everything else.
	scope access.Scope
	// status is that of an answer. Defaults to 200, or 204 where there is no body.
	status int
	// body bounds the request. Defaults to Limits.Body.
	body int64
	// accepts are the types that the request's body may have, the first of which is asked for. Defaults to JSON.
	accepts []string
	// upload is set where the operation reads the body itself, as it comes, and bounds it.
	upload bool
	// pace is how long it may take to be answered.
	pace pace
	// decoded is set where the body is a [decoder], which checks what it reads itself.
	decoded bool
	// quick answers requests that are written as nearly all are, and reports whether it did: huma takes as long for them as
	// the engine does. What it does not answer is as it was.
	quick func(*call) bool
	// answers are more types of answers, by their media type.
	answers map[string]*huma.MediaType
}

// handle registers a route. The function is given the engine of the caller's tenant; its error is translated by the
// one table.
func handle[I, O any](s *Server, api huma.API, rt route, do func(context.Context, *turnstone.Engine, *I) (*O, error)) {
	op := s.operation(api, rt)
	_, streams := any((*O)(nil)).(*streamed)
	huma.Register(api, op, func(ctx context.Context, in *I) (*O, error) {
		if !rt.upload {
			if err := awaited(ctx); err != nil {
				return nil, &failure{err}
			}
		}
		ctx, answered := s.paced(ctx, rt.pace, streams)
		out, err := do(ctx, EngineOf(ctx), in)
		if err = answered(err); err != nil {
			return nil, &failure{err}
		}
		return out, nil
	})
}

// handleSession registers a route of one session, which is there: a session that the tenant does not have is not found.
func handleSession[I, O any, P interface {
	*I
	sessionID() string
}](s *Server, api huma.API, rt route, do func(context.Context, *turnstone.Session, *I) (*O, error)) {
	handle(s, api, rt, func(ctx context.Context, eng *turnstone.Engine, in *I) (*O, error) {
		session, err := eng.Find(ctx, P(in).sessionID())
		if err != nil {
			return nil, err
		}
		return do(ctx, session, in)
	})
}

// failure carries an error through huma, which hands it on to be told.
type failure struct{ error }

func (f *failure) GetStatus() int            { return kindOf(f.error).status }
func (f *failure) ContentType(string) string { return problemType }

// InSession is the part of a request that names its session. It is exported for huma, which reads it.
type InSession struct {
	Session string `path:"session" minLength:"1" maxLength:"128" doc:"the session's id"`
}

func (in *InSession) sessionID() string { return in.Session }

// answer is a body and nothing else.
type answer[T any] struct{ Body T }

func answered[T any](body T) *answer[T] { return &answer[T]{Body: body} }

// valueOf is a body that may be left out.
func valueOf[T any](body *T) (value T) {
	if body != nil {
		value = *body
	}
	return value
}

// limitFlag is under which an operation knows the flag that bounds its body.
const limitFlag = "limit"

// nothing is an answer, or a request, without anything.
type nothing struct{}

func (s *Server) operation(api huma.API, rt route) huma.Operation {
	switch {
	case rt.scope != "":
	case rt.method == http.MethodGet:
		rt.scope = access.Read
	default:
		rt.scope = access.Write
	}
	limit, flag := rt.body, "--max-append"
	if limit == 0 {
		limit, flag = s.config.Limits.Body, "--max-body"
	}
	op := huma.Operation{
		OperationID: rt.id, Method: rt.method, Path: rt.path, Summary: rt.summary, Description: rt.about,
		Tags: []string{rt.tag}, DefaultStatus: rt.status, SkipValidateBody: rt.decoded,
		// Huma takes a body of exactly the limit for one that is too large.
		MaxBodyBytes:                 limit + 1,
		RejectUnknownQueryParameters: true,
		Metadata:                     map[string]any{limitFlag: flag},
		Security:                     []map[string][]string{{securityScheme: {string(rt.scope)}}},
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem, see RFC 9457. Its detail says what is wrong and what to do",
			Content: map[string]*huma.MediaType{
				problemType: {Schema: api.OpenAPI().Components.Schemas.Schema(typeFor[Problem](), true, "")},
			},
		}},
	}
	accepts := rt.accepts
	if len(accepts) == 0 {
		accepts = []string{"application/json"}
	}
	op.Middlewares = huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) {
		s.intake(ctx, rt, accepts, next)
	}}
	if rt.upload {
		op.RequestBody = &huma.RequestBody{Required: true, Content: make(map[string]*huma.MediaType)}
		for _, media := range accepts {
			op.RequestBody.Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
		}
	}
	if len(rt.answers) > 0 {
		op.Responses["200"] = &huma.Response{Description: "OK", Content: rt.answers}
	}
	return op
}

// intake looks at a request before huma reads it.
func (s *Server) intake(ctx huma.Context, rt route, accepts []string, next func(huma.Context)) {
	c := &call{humaContext: ctx}
	if err := Allowed(ctx.Context(), rt.scope); err != nil {
		s.refused(c, err)
		return
	}
	r, _ := humago.Unwrap(ctx)
	if rt.upload {
		if body := RecordOf(ctx.Context()).body; body != nil {
			body.aside = true
		}
	} else if err := s.fits(r); err != nil {
		s.refused(c, err)
		return
	}
	if body := ctx.Operation().RequestBody; body != nil {
		if packed := ctx.Header("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
			s.refused(c, refuse(http.StatusUnsupportedMediaType, "content-encoding: %q is not known here; send the body as it is", packed))
			return
		}
		if given := ctx.Header("Content-Type"); given != accepts[0] && (given != "" || body.Required) {
			media, _, err := mime.ParseMediaType(given)
			if err != nil || !slices.Contains(accepts, media) { // it is in lower case
				s.refused(c, refuse(http.StatusUnsupportedMediaType, "content-type: %q is not known here; send %s", given, accepts[0]))
				return
			}
		}
	}
	if rt.quick != nil && rt.quick(c) {
		return
	}
	err := checkQuery(ctx.Operation(), r.URL.RawQuery)
	if err == nil && ctx.Operation().RequestBody == nil {
		err = checkNothing(ctx.Operation(), r)
	}
	if err != nil {
		s.refused(c, err)
		return
	}
	next(c)
}

// call is a request on its way through huma. The problem that is told decides the status, whatever huma would say.
type call struct {
	humaContext
	told *Problem
}

// humaContext is huma's, under a name that is not that of one of its methods.
type humaContext = huma.Context

// SetReadDeadline is huma's. Arriving has set the deadline before anybody read.
func (c *call) SetReadDeadline(time.Time) error { return nil }

// Unwrap is for huma's adapter.
func (c *call) Unwrap() huma.Context { return c.humaContext }

// SetStatus is huma's.
func (c *call) SetStatus(code int) {
	if c.told != nil {
		code = c.told.Status
	}
	c.humaContext.SetStatus(code)
}
