package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/turnstone-dev/turnstone"
)

type engineKey struct{}

// EngineOf returns the engine of the tenant that a request is for, nil outside of a request that came through the
// server's guard.
func EngineOf(ctx context.Context) *turnstone.Engine {
	eng, _ := ctx.Value(engineKey{}).(*turnstone.Engine)
	return eng
}

// guarded lets those in who may come in, with the engine of their tenant. The others are told no.
func (s *Server) guarded(no func(http.ResponseWriter, *http.Request, error), next http.Handler) http.Handler {
	crossing := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without keys the only protection is that nobody else reaches the machine. A page in its browser does:
		// under a name of its own that leads here, or by forms that it sends here.
		if !local(r.Host) {
			no(w, r, refuse(http.StatusForbidden, "host %s is not this machine; ask for it by localhost or its address, or use keys", r.Host))
			return
		}
		if err := crossing.Check(r); err != nil {
			no(w, r, refuse(http.StatusForbidden, "the request comes from a page of another origin"))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), engineKey{}, s.config.Engine)))
	})
}

// local reports whether a host is a name of this machine for itself.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// refuseFront tells a client of a model API no, in that API's words.
func (s *Server) refuseFront(w http.ResponseWriter, r *http.Request, err error) {
	if s.config.Refuse == nil {
		s.writeProblem(w, r, err)
		return
	}
	told := s.problem(r.Context(), r.URL.Path, err)
	s.config.Refuse(w, r, told.Status, told.Detail)
}
