package client_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/client"
	"github.com/turnstone-dev/turnstone/server"
)

// moved is a place that sends everybody on to another one.
func moved(t *testing.T, status int, to string) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to+r.URL.RequestURI(), status)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestRedirectsKeepTheMethod has a proxy send requests on. A POST that became a GET would be answered with the turns that
// there are, as if they had been appended.
func TestRedirectsKeepTheMethod(t *testing.T) {
	w := start(t, turnstone.Config{}, server.Config{})
	s := w.session(t, "s")
	if _, err := s.Append(t.Context(), client.Draft{Role: "user", Text: "first"}); err != nil {
		t.Fatal(err)
	}
	for status, follows := range map[int]bool{301: false, 302: false, 303: false, 307: true, 308: true} {
		c, err := client.New(moved(t, status, w.srv.URL).URL, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		there, err := c.Find(t.Context(), "s")
		if err != nil {
			t.Fatalf("%d: a GET: %v", status, err)
		}
		turns, err := there.Append(t.Context(), client.Draft{Role: "user", Text: "second"})
		var p *client.Problem
		switch {
		case follows && (err != nil || len(turns) != 1 || turns[0].Text() != "second"):
			t.Errorf("%d: %v, %v", status, turns, err)
		case !follows && (!errors.As(err, &p) || p.Status != status):
			t.Errorf("%d: %d turns, %v", status, len(turns), err)
		}
	}
}

// TestKeyStaysBehindTLS has a server send the client on to where everybody can read along.
func TestKeyStaysBehindTLS(t *testing.T) {
	shown := ""
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown = r.Header.Get("Authorization")
	}))
	defer plain.Close()
	safe := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, plain.URL, http.StatusTemporaryRedirect)
	}))
	defer safe.Close()
	c, err := client.New(safe.URL, client.Options{HTTP: safe.Client(), Key: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	var p *client.Problem
	if err := c.Do(t.Context(), "GET", "/sessions", nil, nil); !errors.As(err, &p) || p.Status != 307 || shown != "" {
		t.Errorf("%v, and %q was shown", err, shown)
	}
}

// TestRedirectsOfTheCallers asks the caller's own client too.
func TestRedirectsOfTheCallers(t *testing.T) {
	own := errors.New("nowhere else")
	h := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return own }}
	c, err := client.New(moved(t, 307, "http://server.example").URL, client.Options{HTTP: h, Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), "GET", "/sessions", nil, nil); !errors.Is(err, own) {
		t.Errorf("%v", err)
	}
}

// TestRedirectsInCircles ends.
func TestRedirectsInCircles(t *testing.T) {
	asked := 0
	circle := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, r.URL.RequestURI(), http.StatusFound)
	}))
	defer circle.Close()
	c, err := client.New(circle.URL, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Do(t.Context(), "GET", "/sessions", nil, nil); err == nil || asked != 10 {
		t.Errorf("%v after %d", err, asked)
	}
}
