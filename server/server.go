package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/time/rate"

	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// prefix is where everything of ours is.
const prefix = "/api/v1"

// Server serves an engine. It is safe for concurrent use.
type Server struct {
	config  Config
	log     *slog.Logger
	ids     *ids.Source
	now     func() time.Time
	handler http.Handler
	api     huma.API

	crossing *http.CrossOriginProtection
	origins  origins
	limits   rates
	room     room

	strangers strangers
	hub       *hub
	importing chan struct{} // has room for those who read a history

	closing chan struct{} // closed when Serve is to end
	close   sync.Once
	hurry   chan struct{} // closed when what is under way is to be interrupted
	hurried sync.Once
	under   sync.WaitGroup // requests under way
	count   atomic.Int64   // of them
}

// New makes a server. The error is a field of the Config that cannot be used.
func New(config Config) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Server{
		config: config, log: slog.New(config.Log), ids: ids.New(nil), now: time.Now, closing: make(chan struct{}), hurry: make(chan struct{}),
		importing: make(chan struct{}, maxImports),
		crossing:  http.NewCrossOriginProtection(),
		limits:    rates{each: rate.Limit(config.Limits.Rate), burst: config.Limits.Burst},
		room:      room{most: config.Limits.Bodies},
		strangers: strangers{each: rate.Limit(config.Limits.Strangers), burst: max(1, int(10*config.Limits.Strangers))},
	}
	if s.origins, err = originsOf(config.Origins, config.Guard != nil); err != nil {
		return nil, err
	}
	for _, origin := range s.origins {
		if origin == AnyOrigin {
			continue // only where keys are asked for, which no page has by itself
		}
		if err := s.crossing.AddTrustedOrigin(origin); err != nil {
			return nil, invalid.New("Origins", err.Error(), "give a scheme, a host and a port if it has one")
		}
	}
	if config.Limits.Rate == 0 {
		s.limits.each = rate.Inf
	}
	s.hub = newHub(config.Log)
	routes := http.NewServeMux()
	s.api = s.newAPI(routes)
	// Every noun registers its routes here.
	for _, register := range []func(huma.API){
		s.registerSessions, s.registerTurns, s.registerFlows, s.registerLight, s.registerSay, s.registerCommits,
		s.registerPrompts, s.registerCompression, s.registerSnapshots,
		s.registerMemory, s.registerGoals, s.registerActions, s.registerIntentions, s.registerScratch, s.registerRecall,
		s.registerExports, s.registerDaemons, s.registerForget, s.registerBundles, s.registerHistories, s.registerBlobs, s.registerEvents, s.registerKeys, s.registerModels,
	} {
		register(s.api)
	}
	s.finishDocument(routes)
	s.handler = s.assemble(routes)
	return s, nil
}

// assemble puts the doors beside each other and what is common to all of them around.
func (s *Server) assemble(routes *http.ServeMux) http.Handler {
	doors := http.NewServeMux()
	doors.Handle(prefix+"/", s.guarded(s.writeProblem, "", s.keyGiven(s.routed(routes)))) // each operation asks for its scope
	// There is nothing of anybody in the documentation.
	for _, path := range []string{docsPath, documentPath, prefix, prefix + "/{$}"} {
		doors.Handle(path, s.routed(routes))
	}
	if s.config.MCP != nil {
		mcp := s.guarded(s.writeProblem, access.Read, s.roomy(s.writeProblem, s.config.MCP))
		doors.Handle("/mcp", mcp)
		doors.Handle("/mcp/", mcp)
	}
	if s.config.Front != nil {
		front := s.guarded(s.refuseFront, access.Write, s.roomy(s.refuseFront, s.config.Front))
		doors.Handle("/api/", front)
		doors.Handle("/v1/", front)
		doors.Handle("/{$}", front)
	} else {
		doors.Handle("GET /{$}", http.RedirectHandler(docsPath, http.StatusFound))
	}
	for pattern, handler := range s.config.Open {
		if s.config.Guard == nil {
			handler = Local(handler)
		}
		doors.Handle(pattern, s.keyless(handler))
	}
	all := s.crossed(s.routed(doors))
	if s.config.Observe != nil {
		all = s.config.Observe(all)
	}
	return s.recorded(all)
}

// keyGiven refuses a key that is given and empty, as it is where a client's variable is not set: what is sent again under it
// would be done again.
func (s *Server) keyGiven(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if keys, given := r.Header["Idempotency-Key"]; given && strings.TrimSpace(keys[0]) == "" {
			s.writeProblem(w, r, invalid.New("Idempotency-Key", "is empty", "give a key, or leave the header out"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// routed has a mux answer, and says as a problem what the mux would say in plain text.
func (s *Server) routed(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern == "" {
			refused := &statusOnly{header: http.Header{}}
			h.ServeHTTP(refused, r)
			if allow := refused.header.Get("Allow"); allow != "" {
				w.Header().Set("Allow", allow)
				s.writeProblem(w, r, refuse(http.StatusMethodNotAllowed, "%s does not know %s; use %s", r.URL.Path, r.Method, allow+instead(r)))
				return
			}
			s.writeProblem(w, r, refuse(http.StatusNotFound, "there is no %s; see %s", r.URL.Path, docsPath))
			return
		}
		RecordOf(r.Context()).Route = pattern
		if strings.Contains(pattern, "{") {
			h = mux // which fills in what stands in the path, and looks once more for it
		}
		h.ServeHTTP(w, r)
	})
}

// instead says what to do in place of deleting a session.
func instead(r *http.Request) string {
	id, isSession := strings.CutPrefix(r.URL.Path, prefix+"/sessions/")
	if r.Method != http.MethodDelete || !isSession || strings.Contains(id, "/") {
		return ""
	}
	return "; POST …/end ends it, and POST …/forget takes what was said out of it"
}

// statusOnly is a response of which only the header is of interest.
type statusOnly struct{ header http.Header }

func (w *statusOnly) Header() http.Header         { return w.header }
func (w *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (w *statusOnly) WriteHeader(int)             {}

// Handler returns everything the server serves, for a server of the caller's own. Such a server must set no
// WriteTimeout, which would end streams.
func (s *Server) Handler() http.Handler { return s.handler }

// Document returns the OpenAPI document that the server is described by. It must not be changed.
func (s *Server) Document() *huma.OpenAPI { return s.api.OpenAPI() }

// Serve answers on a listener until ctx ends and Limits.Drain has passed, and closes it; meanwhile sessions that rest are
// ended now and then. Then nothing new is taken, requests under way are
// finished, and streams of events end; what takes longer than Limits.Grace, or is under way when [Server.Interrupt] is
// called, is interrupted: an exchange is committed as that, and its client is told. It returns nil when it was told to
// end, and returns when every handler did.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	base, interrupt := context.WithCancelCause(context.WithoutCancel(ctx))
	defer interrupt(nil)
	srv := &http.Server{
		Handler:           s.tracked(s.handler),
		ReadHeaderTimeout: s.config.Limits.Read,
		IdleTimeout:       s.config.Limits.Idle,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return base },
		ErrorLog:          slog.NewLogLogger(s.config.Log, slog.LevelWarn),
	}
	defer s.endIdle(ctx)()
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-failed:
		return err
	case <-time.After(s.config.Limits.Drain):
	case <-s.hurry:
	}
	s.close.Do(func() { close(s.closing) })
	s.hub.close()
	if s.config.Ending != nil {
		s.config.Ending(int(s.count.Load()))
	}
	err := s.finish(context.WithoutCancel(ctx), srv, s.config.Limits.Grace, s.hurry)
	if errors.Is(err, errEnding) {
		interrupt(errEnding)
		if err = s.finish(context.WithoutCancel(ctx), srv, lastWords, nil); errors.Is(err, errEnding) {
			err = srv.Close()
		}
	}
	s.under.Wait()
	if served := <-failed; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// errEnding is why a request ends that the server does not wait for any longer.
var errEnding = errors.New("the server is ending")

// lastWords is how long what was interrupted may take to be committed and told.
const lastWords = 5 * time.Second

// finish takes nothing new and waits for what is under way, for a time or until it is to hurry: then it is errEnding.
func (s *Server) finish(ctx context.Context, srv *http.Server, wait time.Duration, hurry <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	over := make(chan error, 1)
	go func() { over <- srv.Shutdown(ctx) }()
	var err error
	select {
	case err = <-over:
	case <-hurry:
		cancel()
		err = <-over
	}
	if err != nil && ctx.Err() != nil {
		return errEnding
	}
	return err
}

// Interrupt has [Server.Serve], once its context ended, wait no longer for requests under way. It may be called at any
// time, and more than once.
func (s *Server) Interrupt() { s.hurried.Do(func() { close(s.hurry) }) }

// Closing is closed when the server is to end: whoever streams for ever ends then.
func (s *Server) Closing() <-chan struct{} { return s.closing }

func (s *Server) tracked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.under.Add(1)
		s.count.Add(1)
		defer func() {
			s.count.Add(-1)
			s.under.Done()
		}()
		next.ServeHTTP(w, r)
	})
}
