package server_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/server"
)

// Unknown keys are counted for the client that a trusted proxy names, and for whoever sends them where none is trusted.
func TestStrangersBehindAProxy(t *testing.T) {
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.0/8")}
	for name, test := range map[string]struct {
		trusted []netip.Prefix
		// first sends a key too many, and then is asked from next.
		first, next string
		status      int
	}{
		"nobody is trusted":           {nil, "192.0.2.1", "192.0.2.2", http.StatusTooManyRequests},
		"another is trusted":          {loopback[2:], "192.0.2.1", "192.0.2.2", http.StatusTooManyRequests},
		"another client":              {loopback, "192.0.2.1", "192.0.2.2", http.StatusUnauthorized},
		"the same client":             {loopback, "192.0.2.1", "192.0.2.1", http.StatusTooManyRequests},
		"with ports":                  {loopback, "192.0.2.1:4711", "192.0.2.1:4712", http.StatusTooManyRequests},
		"in brackets":                 {loopback, "[2001:db8::1]:4711", "2001:db8::2", http.StatusTooManyRequests},
		"another network":             {loopback, "2001:db8::1", "2001:db8:1::1", http.StatusUnauthorized},
		"through two proxies":         {loopback, "192.0.2.1, 10.0.0.1", "192.0.2.2, 10.0.0.1", http.StatusUnauthorized},
		"what the client made up":     {loopback, "192.0.2.7, 192.0.2.1", "192.0.2.8, 192.0.2.1", http.StatusTooManyRequests},
		"what is no address":          {loopback, "unknown", "garbage", http.StatusTooManyRequests},
		"no address behind a proxy's": {loopback, "unknown, 10.0.0.1", "unknown, 10.0.0.2", http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, turnstone.Config{}, server.Config{Guard: doorman{}, TrustedProxies: test.trusted, Limits: server.Limits{Strangers: 0.001}})
			for i, from := range []string{test.first, test.next} {
				secret, _, err := access.New(fmt.Sprintf("01JAAAAAAAAAAAAAAAAAAAAA%02d", i), "one", "", access.Everything(), time.Now())
				if err != nil {
					t.Fatal(err)
				}
				want := http.StatusUnauthorized
				if i == 1 {
					want = test.status
				}
				if got := c.do("GET", "/sessions", nil, "Authorization", "Bearer "+secret, "X-Forwarded-For", from); got.status != want {
					t.Errorf("from %s: %d, want %d", from, got.status, want)
				}
			}
		})
	}
}

// What a status relies on is told as what it is, not as the level of a checkpoint.
func TestMeaningOfReliability(t *testing.T) {
	s, err := server.New(server.Config{Engine: opened(t, turnstone.Config{})})
	if err != nil {
		t.Fatal(err)
	}
	got := s.Document().Components.Schemas.Map()["Reliability"].Properties["level"].Description
	if got != "how far the prompt can be relied on" {
		t.Errorf("it is %q", got)
	}
}
