package server

import (
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/time/rate"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
)

// Guard says who calls. It is asked for every request, by many goroutines.
type Guard interface {
	// Identify returns who shows that secret, which is empty where none is shown. [access.ErrUnknownKey] where it
	// opens nothing.
	Identify(ctx context.Context, secret string) (access.Caller, error)
}

// EngineOf returns the engine of the tenant that a request is for, nil outside of a request that came through the
// server's guard.
func EngineOf(ctx context.Context) *turnstone.Engine {
	return RecordOf(ctx).engine
}

// Allowed says whether the caller of a request has a scope. The error is a *[Problem] with the status 403.
func Allowed(ctx context.Context, scope access.Scope) error {
	if caller := RecordOf(ctx).Caller; !caller.Scopes.Has(scope) {
		return refuse(http.StatusForbidden, "the key has the scopes %s; this needs %s", caller.Scopes, scope)
	}
	return nil
}

// guarded lets those in who have one of the scopes, with the engine of their tenant. The others are told no.
func (s *Server) guarded(no func(http.ResponseWriter, *http.Request, error), scope access.Scope, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		record := RecordOf(r.Context())
		caller, err := s.caller(r)
		if err == nil {
			record.Caller = caller
			err = s.limits.take(caller.Key)
		}
		if err == nil && scope != "" {
			err = Allowed(r.Context(), scope)
		}
		if err == nil {
			record.engine, err = s.engineFor(caller)
		}
		if err != nil {
			if errors.Is(err, access.ErrUnknownKey) {
				w.Header().Set("WWW-Authenticate", `Bearer realm="turnstone"`)
				err = refuse(http.StatusUnauthorized, "no key that is known was shown; send one as Authorization: Bearer, and make one with: turnstone key create")
			}
			no(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// caller is who asks. Without a guard everybody may who is on the machine.
func (s *Server) caller(r *http.Request) (access.Caller, error) {
	if s.config.Guard != nil {
		kind, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if !strings.EqualFold(kind, "bearer") {
			secret = ""
		}
		return s.identified(r, strings.TrimSpace(secret))
	}
	// The only protection is that nobody else reaches the machine. A page in its browser does: under a name of its
	// own that leads here, or by forms that it sends here.
	if !local(r.Host) {
		return access.Caller{}, refuse(http.StatusForbidden, "host %s is not this machine; ask for it by localhost or its address, or use keys", r.Host)
	}
	if err := s.crossing.Check(r); err != nil {
		return access.Caller{}, elsewhere(r.Header.Get("Origin"))
	}
	return access.Anyone(""), nil
}

// identified is who shows a secret.
func (s *Server) identified(r *http.Request, secret string) (access.Caller, error) {
	if err := s.strangers.meet(r.RemoteAddr, secret); err != nil {
		return access.Caller{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.config.Limits.Answer)
	defer cancel()
	caller, err := s.config.Guard.Identify(ctx, secret)
	if err == nil || errors.Is(err, access.ErrUnknownKey) {
		s.strangers.part(r.RemoteAddr, secret, err == nil)
	}
	return caller, err
}

func (s *Server) engineFor(caller access.Caller) (*turnstone.Engine, error) {
	if caller.Tenant == "" {
		return s.config.Engine, nil
	}
	return s.config.Engine.ForTenant(caller.Tenant)
}

// Local has a handler answer only those who ask for this machine by a name that it has for itself. A page in a browser
// may bring another name to lead here, and would be let read what nobody needs a key for.
func Local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !local(r.Host) {
			http.Error(w, "this host is not this machine; ask for it by localhost or its address", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// local reports whether a host is a name of this machine for itself. Names have no case, and may end in a dot.
func local(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return addr.IsLoopback()
	}
	return strings.HasSuffix("."+strings.TrimSuffix(strings.ToLower(host), "."), ".localhost")
}

// refuseFront tells a client of a model API no, in that API's words.
func (s *Server) refuseFront(w http.ResponseWriter, r *http.Request, err error) {
	if s.config.Refuse == nil {
		s.writeProblem(w, r, err)
		return
	}
	told := s.problem(r.Context(), r.URL.Path, err)
	told.advise(w.Header().Set)
	s.config.Refuse(w, r, told.Status, told.Detail)
}

// rates bounds how often each key may ask. There are no more of them than keys that were found good.
type rates struct {
	each  rate.Limit
	burst int
	byKey sync.Map // of string to *rate.Limiter
}

// take counts a request of a key, and refuses one too many. Who needs no key is not counted.
func (l *rates) take(key string) error {
	if key == "" || l.each == rate.Inf {
		return nil
	}
	found, ok := l.byKey.Load(key)
	if !ok {
		found, _ = l.byKey.LoadOrStore(key, rate.NewLimiter(l.each, l.burst))
	}
	limiter := found.(*rate.Limiter)
	if limiter.Allow() {
		return nil
	}
	p := refuse(http.StatusTooManyRequests, "the key may ask %g times a second; wait as Retry-After says", float64(l.each))
	p.RetryAfter = int(max(math.Ceil(1/float64(l.each)), 1))
	return p
}
