package observe

import (
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/turnstone-dev/turnstone/server"
)

// noRoute is the label of requests that nothing answers: their paths are the callers' own and without number.
const noRoute = "none"

// Middleware counts, times, logs and traces what the handler answers. It is for server.Config.Observe. A trace that the
// client has begun, by a traceparent header, goes on in it.
func (o *Observer) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := o.clock()
		o.metrics.inFlight.Inc()
		defer o.metrics.inFlight.Dec()
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := o.tracer.Start(ctx, methodOf(r), oteltrace.WithSpanKind(oteltrace.SpanKindServer), oteltrace.WithAttributes(asked(r)...))
		seen := &seen{ResponseWriter: w}
		whole := false
		defer func() {
			// A handler that panics has answered nothing yet, or has broken its answer off: the server goes on from there.
			if !whole && seen.status == 0 {
				seen.status = http.StatusInternalServerError
			}
			o.answered(seen, r, span, begin)
		}()
		next.ServeHTTP(seen, r.WithContext(ctx))
		whole = true
	})
}

// asked is what is known of a request before it is answered.
func asked(r *http.Request) []attribute.KeyValue {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return []attribute.KeyValue{attribute.String(httpMethod, methodOf(r)), attribute.String(urlPath, cut(r.URL.Path)), attribute.String(urlScheme, scheme)}
}

// methodOf is the method, if it is one that is known: clients may make up others.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return r.Method
	}
	return otherValue
}

func (o *Observer) answered(w *seen, r *http.Request, span oteltrace.Span, begin time.Time) {
	record := server.RecordOf(r.Context())
	route, status := record.Route, w.status
	if route == "" {
		route = noRoute
	}
	if status == 0 {
		status = http.StatusOK
	}
	seconds := o.since(begin)
	o.metrics.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	o.metrics.duration.WithLabelValues(route).Observe(seconds)

	remote, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		remote = r.RemoteAddr
	}
	span.SetAttributes(attribute.Int(httpStatus, status), attribute.String(requestID, record.ID), attribute.String(tenantName, record.Caller.Tenant), attribute.String(clientAddress, remote))
	if record.Route != "" {
		// A pattern may begin with the method.
		_, path, withMethod := strings.Cut(route, " ")
		if !withMethod {
			path = route
		}
		span.SetName(methodOf(r) + " " + path)
		span.SetAttributes(attribute.String(httpRoute, path))
	}
	if status >= http.StatusInternalServerError {
		span.SetAttributes(attribute.String(errorType, strconv.Itoa(status)))
		span.SetStatus(codes.Error, http.StatusText(status))
	}
	span.End()

	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	// Neither the query nor a header nor an error's text: each may hold what is nobody's business.
	o.access.LogAttrs(r.Context(), level, "request",
		slog.String("request_id", record.ID), slog.String("method", r.Method), slog.String("route", route), slog.String("path", cut(r.URL.Path)),
		slog.Int("status", status), slog.Int64("bytes", w.bytes), slog.Float64("seconds", seconds), slog.String("remote", remote),
		slog.String("tenant", record.Caller.Tenant), slog.String("key_id", record.Caller.Key))
}

// cut bounds what a client can write into the log, and makes text of it: an exporter takes no span that has anything else,
// and none of those that it would send with it.
func cut(path string) string {
	path = strings.ToValidUTF8(path, "\ufffd")
	most := 256
	if len(path) <= most {
		return path
	}
	for !utf8.RuneStart(path[most]) {
		most--
	}
	return path[:most] + "…"
}

// seen is a response of which the status and the size are known afterwards.
type seen struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap is for [http.ResponseController].
func (s *seen) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *seen) WriteHeader(status int) {
	if s.status == 0 || s.status < http.StatusOK {
		s.status = status
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *seen) Write(b []byte) (int, error) {
	if s.status == 0 {
		s.status = http.StatusOK
	}
	n, err := s.ResponseWriter.Write(b)
	s.bytes += int64(n)
	return n, err
}

// Flush is for those who look for an [http.Flusher].
func (s *seen) Flush() {
	if f, ok := s.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
