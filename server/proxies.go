package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are networks whose word is taken for whom a request comes from.
type proxies []netip.Prefix

func (p proxies) has(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(addr.Unmap()) })
}

// client is the address that a request comes from. Where one of the proxies hands it on, it is the last address of
// X-Forwarded-For that is none of theirs: what stands before it anybody may have written.
func (p proxies) client(r *http.Request) string {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if len(p) == 0 || err != nil || !p.has(from.Addr()) {
		return r.RemoteAddr
	}
	client := r.RemoteAddr
	told := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(told) {
		addr, err := addressIn(strings.TrimSpace(text))
		if err != nil {
			break
		}
		if client = netip.AddrPortFrom(addr, 0).String(); !p.has(addr) {
			break
		}
	}
	return client
}

// addressIn reads an address, which some proxies write with its port.
func addressIn(text string) (netip.Addr, error) {
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr(), nil
	}
	return netip.ParseAddr(strings.Trim(text, "[]"))
}
