package server

import (
	"net/http"
	"net/netip"
	"sync"

	"golang.org/x/time/rate"

	"github.com/turnstone-dev/turnstone/access"
)

// maxStrangers bounds how many addresses are kept in mind, and how many keys.
const maxStrangers = 10_000

// strangers bounds how often an address may show keys that nobody knows: each of them is looked for in the store. Who
// shows a key that was good before is let through, however many others come from its address, which may be that of a
// load balancer. It is safe for concurrent use.
type strangers struct {
	each  rate.Limit
	burst int

	mu     sync.Mutex // guards what follows
	by     map[netip.Prefix]*rate.Limiter
	friend map[string]bool // ids of keys that were good
}

// meet refuses to look at a secret from an address that has shown too many that nobody knows.
func (s *strangers) meet(address, secret string) error {
	shown, err := access.Parse(secret)
	if err != nil {
		return nil // nothing is looked for
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if limiter := s.by[placeOn(address)]; limiter == nil || limiter.Tokens() >= 1 || s.friend[shown.ID] {
		return nil
	}
	p := refuse(http.StatusTooManyRequests, "too many keys that nobody knows came from this address; wait as Retry-After says")
	p.RetryAfter = max(1, int(1/float64(s.each)))
	return p
}

// part notes what was found of a secret.
func (s *strangers) part(address, secret string, known bool) {
	shown, err := access.Parse(secret)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known {
		if len(s.friend) >= maxStrangers {
			s.friend = nil
		}
		if s.friend == nil {
			s.friend = make(map[string]bool)
		}
		s.friend[shown.ID] = true
		return
	}
	place := placeOn(address)
	limiter := s.by[place]
	if limiter == nil {
		if s.by == nil || len(s.by) >= maxStrangers {
			s.by = make(map[netip.Prefix]*rate.Limiter)
		}
		limiter = rate.NewLimiter(s.each, s.burst)
		s.by[place] = limiter
	}
	limiter.Allow()
}

// placeOn is the network that an address belongs to as far as one client may have it: all of it for IPv4, and the first
// half for IPv6.
func placeOn(address string) netip.Prefix {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Prefix{}
	}
	bits := 64
	if at.Addr().Unmap().Is4() {
		bits = 32
	}
	place, err := at.Addr().Unmap().Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return place
}
