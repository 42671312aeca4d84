package main

import (
	"net/netip"
	"slices"
	"testing"
)

// An IPv4 address that is written as an IPv6 one is the IPv4 address: so are the peers that it is compared with.
func TestNetworks(t *testing.T) {
	got, err := networks([]string{"10.1.2.3/8", "::1", "::ffff:192.0.2.7"})
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.0.2.7/32")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "lb.example", "10.0.0.0/33", "::ffff:10.0.0.0/104"} {
		if got, err := networks([]string{text}); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}
