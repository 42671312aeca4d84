package main

import "net/netip"

// networks reads those of --trusted-proxy. An address is a network of its own.
func networks(given []string) (all []netip.Prefix, err error) {
	for _, text := range given {
		network, err := netip.ParsePrefix(text)
		if addr, ferr := netip.ParseAddr(text); ferr == nil {
			addr = addr.Unmap()
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || network.Addr().Is4In6() {
			return nil, usage("give one such as 10.0.0.0/8, or an address", "--trusted-proxy: %q is no network", text)
		}
		all = append(all, network.Masked())
	}
	return all, nil
}
