package server_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/access"
	"github.com/turnstone-dev/turnstone/server"
)

// origin asks as a browser does for a page of another origin.
func origin(t *testing.T, base, method, path, from string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(`{"session_id":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	headers = append(headers, "Origin", from, "Sec-Fetch-Site", "cross-site", "Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestPagesOfOtherOrigins(t *testing.T) {
	const ours, others = "https://chat.example:8443", "https://evil.example"
	answers := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	eng := opened(t, turnstone.Config{})
	secret, _, err := eng.CreateKey(t.Context(), "page", access.Everything())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		about         string
		origins       []string
		guard         server.Guard
		allow, denied string // what pages of ours and of others are told
	}{
		{"nobody by default", nil, nil, "", ""},
		{"one", []string{"http://localhost:3000", "HTTPS://chat.example:8443"}, nil, ours, ""},
		{"one with keys", []string{ours}, eng, ours, ""},
		{"all with keys", []string{"*"}, eng, "*", "*"},
	} {
		t.Run(tt.about, func(t *testing.T) {
			s, err := server.New(server.Config{
				Engine: eng, Guard: tt.guard, Origins: tt.origins, Front: answers, MCP: answers, Open: map[string]http.Handler{"GET /healthz": answers},
			})
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewServer(s.Handler())
			defer srv.Close()
			for _, path := range []string{"/api/v1/sessions", "/api/v1/docs", "/api/chat", "/v1/chat/completions", "/mcp", "/healthz", "/"} {
				for from, want := range map[string]string{ours: tt.allow, others: tt.denied} {
					got := origin(t, srv.URL, http.MethodOptions, path, from, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,turnstone-session")
					told := got.Header.Get("Access-Control-Allow-Origin") + "|" + got.Header.Get("Access-Control-Allow-Headers")
					if may := got.StatusCode == http.StatusNoContent; may != (want != "") || may && told != want+"|authorization,turnstone-session" || !may && told != "|" {
						t.Errorf("preflight of %s for %s: %d %v", path, from, got.StatusCode, got.Header)
					}
				}
			}
			for from, want := range map[string]string{ours: tt.allow, others: tt.denied} {
				for _, path := range []string{"/api/v1/sessions?x", "/api/v1/sessions", "/api/chat", "/mcp"} {
					got := origin(t, srv.URL, http.MethodPost, path, from, "Authorization", "Bearer "+secret)
					refused := want == "" && tt.guard == nil // a key is no page's own: who shows it may
					if (got.StatusCode == http.StatusForbidden) != refused || got.Header.Get("Access-Control-Allow-Origin") != want || got.StatusCode == http.StatusUnauthorized {
						t.Errorf("%s for %s: %d %v", path, from, got.StatusCode, got.Header)
					}
					if len(tt.origins) > 0 && got.Header.Get("Vary") != "Origin" {
						t.Errorf("%s varies by %q", path, got.Header.Get("Vary"))
					}
				}
			}
			if got := origin(t, srv.URL, http.MethodGet, "/api/v1/sessions", ours); tt.guard != nil && (got.StatusCode != http.StatusUnauthorized || got.Header.Get("Access-Control-Allow-Origin") != tt.allow) {
				t.Errorf("without a key: %d %v", got.StatusCode, got.Header)
			}
		})
	}
	// What nobody shows a key for is not for every page, but for those that are named.
	s, err := server.New(server.Config{Engine: eng, Guard: eng, Origins: []string{"*", ours}, Open: map[string]http.Handler{"GET /metrics": answers}})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s.Handler())
	defer srv.Close()
	for from, want := range map[string]string{ours: "*", others: ""} {
		if got := origin(t, srv.URL, http.MethodGet, "/metrics", from); got.StatusCode != http.StatusAccepted || got.Header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("metrics for %s: %d %v", from, got.StatusCode, got.Header)
		}
	}
	const form = "give a scheme, a host and a port if it has one, such as https://chat.example:8443"
	for bad, want := range map[string]string{
		"*":                        "* lets every page in the browser do everything where nobody needs a key; name the origins, or ask for keys with --keys",
		"null":                     `"null" is no origin; ` + form,
		"":                         `"" is no origin; ` + form,
		"chat.example":             `"chat.example" is no origin; ` + form,
		"https://":                 `"https://" is no origin; ` + form,
		"https://ann@chat.example": `"https://ann@chat.example" is no origin; ` + form,
		"https://*.example":        `"https://*.example" is no origin; ` + form,
		"https://chat.example/":    `"https://chat.example/" ends with a slash, which no origin does; give https://chat.example`,
		"https://chat.example/x":   `"https://chat.example/x" is no origin; ` + form,
		"http://[::1]:65536":       `"http://[::1]:65536" has a port that is none; give one of 1 to 65535, or leave it out`,
		"http://chat.example:":     `"http://chat.example:" has a port that is none; give one of 1 to 65535, or leave it out`,
		"https://bücher.example":   `"https://bücher.example" has a host that is not ASCII, which browsers name in another way; give it as xn--…`,
	} {
		if _, err := server.New(server.Config{Engine: eng, Origins: []string{bad}}); err == nil || err.Error() != "Origins: "+want {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, good := range []string{"app://obsidian.md", "chrome-extension://abcdef", "http://[::1]:65535", "http://[::1]", "https://xn--bcher-kva.example", "http://localhost:80"} {
		if _, err := server.New(server.Config{Engine: eng, Origins: []string{good}}); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}
