package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestModelOfOpenAIServer(t *testing.T) {
	for _, tt := range []struct {
		about, list, model string
		want, refuse       string
	}{
		{about: "its only one", list: `{"data":[{"id":"qwen3"}]}`, want: "qwen3"},
		{about: "one that was named, whatever the list says", list: `{"data":[{"id":"qwen3"},{"id":"llama3"}]}`, model: "other", want: "other"},
		{about: "one of two", list: `{"data":[{"id":"qwen3"},{"id":"llama3"}]}`, refuse: "has 2; choose one with --model: qwen3, llama3"},
		{about: "of a server that has none", list: `{"data":[{"id":""}]}`, refuse: "does not say which is meant; name one with --model"},
		{about: "of a server without a list", list: `404 page not found`, refuse: "does not say which is meant; name one with --model"},
		{about: "named to a server without a list", list: `404 page not found`, model: "other", want: "other"},
	} {
		t.Run(tt.about, func(t *testing.T) {
			var path, key string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				path, key = r.URL.Path, r.Header.Get("Authorization")
				if _, err := io.WriteString(w, tt.list); err != nil {
					panic(http.ErrAbortHandler)
				}
			}))
			defer server.Close()
			a := &app{system: system{stderr: io.Discard, getenv: func(name string) string {
				return map[string]string{"HOME": t.TempDir(), "ITS_KEY": " hunter2\n"}[name]
			}}}
			v, err := a.voice(t.Context(), chatOptions{voice: voiceFlags{url: server.URL + "/v1/", model: tt.model, keyEnv: "ITS_KEY"}}, "")
			if path != "/v1/models" || key != "Bearer hunter2" {
				t.Errorf("asked for %q with %q", path, key)
			}
			if v.name != tt.want || (err == nil) != (tt.refuse == "") || err != nil && !strings.Contains(err.Error(), tt.refuse) {
				t.Errorf("%q, %v", v.name, err)
			}
		})
	}
}

// A server that closes the connection when it is asked for its models runs: nobody is told to start it.
func TestServerThatClosesTheConnection(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer server.Close()
	a := &app{system: system{stderr: io.Discard, getenv: func(name string) string { return map[string]string{"HOME": t.TempDir()}[name] }}}
	_, err := a.voice(t.Context(), chatOptions{voice: voiceFlags{url: server.URL}}, "")
	want := "no model: the server at " + server.URL + " closed the connection before it answered; try again, and if it stays so, look into its log"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
