package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// locked lets nobody in without the key.
func locked(t *testing.T, key string, to http.Handler) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" && r.Header.Get("Authorization") != "Bearer "+key {
			http.Error(w, `{"error":"unauthorized"}`, http.StatusUnauthorized)
			return
		}
		to.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestOllamaWithAKey: a server that asks for a key is sent it by all who ask it: for models, vocabularies and replies.
func TestOllamaWithAKey(t *testing.T) {
	t.Setenv("OLLAMA_KEY", "secret\n")
	t.Run("chat", func(t *testing.T) {
		server := locked(t, "secret", (&talker{replies: []string{"Good day."}}).handler())
		cmd := exec.Command("turnstone", "--store", filepath.Join(t.TempDir(), "store.db"), "chat", "--url", server.URL, "--key-env", "OLLAMA_KEY")
		cmd.Env = ownHome(t)
		cmd.Stdin = strings.NewReader("hello")
		var says strings.Builder
		cmd.Stderr = &says
		if reply, err := cmd.Output(); err != nil || string(reply) != "Good day.\n" || strings.Contains(says.String(), "nauthorized") {
			t.Errorf("%v: %s%s", err, reply, says.String())
		}
	})
	t.Run("serve", func(t *testing.T) {
		if runtime.GOOS == "windows" {
			t.Skip("a process cannot be interrupted there")
		}
		server := locked(t, "secret", (&talker{replies: []string{"Good day."}}).handler())
		s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--url", server.URL, "--key-env", "OLLAMA_KEY", "--model", "small")
		status, answer := s.post("/api/v1/sessions/demo/say?create=true", `{"text":"hello"}`)
		var reply struct{ Text string }
		if err := json.Unmarshal([]byte(answer), &reply); err != nil || status != http.StatusOK || reply.Text != "Good day." {
			t.Errorf("%d %s", status, answer)
		}
		s.end(os.Interrupt)
		if strings.Contains(s.errs.String(), "nauthorized") {
			t.Errorf("standard error: %s", s.errs)
		}
	})
}

func TestKeysStayWithTheirServer(t *testing.T) {
	var sent []string
	note := func(w http.ResponseWriter, r *http.Request) { sent = append(sent, r.Header.Get("Authorization")) }
	other := httptest.NewServer(http.HandlerFunc(note))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(w, r)
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	a := &app{system: system{getenv: func(name string) string { return map[string]string{"KEY": "secret"}[name] }}}
	for _, variable := range []string{"KEY", "NONE", ""} {
		response, err := a.modelClient(apiOllama, server.URL, variable).Get(server.URL + "/api/tags")
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(sent, ","); got != "Bearer secret,,,,," {
		t.Errorf("sent %q", got)
	}
}

// TestServersThatAreNoOllama: what answers and is no Ollama is not told to be none that answers.
func TestServersThatAreNoOllama(t *testing.T) {
	for _, test := range []struct {
		status     int
		body, says string
	}{
		{404, "404 page not found", `is no Ollama server: 404 Not Found: "404 page not found"; if it has OpenAI's API, end its URL in /v1, otherwise name another with --url`},
		{200, "hello", `is no Ollama server: it is not JSON: 'h' at offset 0; if it has OpenAI's API, end its URL in /v1, otherwise name another with --url`},
		{401, `{"error":"unauthorized"}`, `lets nobody in without a key: 401 Unauthorized: "unauthorized"; name the environment variable that has it with --key-env`},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			fmt.Fprint(w, test.body)
		}))
		t.Cleanup(server.Close)
		code, _, says := inProcess(t.Context(), filepath.Join(t.TempDir(), "store.db"), "chat", "--url", server.URL)
		if code != 5 || !strings.HasSuffix(strings.TrimSpace(says), test.says) || !strings.Contains(says, "turnstone: no model: ") || !strings.Contains(says, server.URL) {
			t.Errorf("%d %s: exit code %d: %s", test.status, test.body, code, says)
		}
	}
}

// TestAServerThatWantsAKey: a list of models that is only shown to those with a key leads to --key-env.
func TestAServerThatWantsAKey(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"not with %s"}}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(server.Close)
	base := server.URL + "/v1"
	t.Setenv("GOOD_KEY", "hunter2")
	t.Setenv("NO_KEY", "")
	for _, test := range []struct {
		flags        []string
		chat, serves string
	}{
		{nil, "lets nobody in without a key; name the environment variable that has it with --key-env", ""},
		{[]string{"--key-env", "NO_KEY"}, "lets nobody in without a key, and NO_KEY has none; set it, or name another variable with --key-env",
			"NO_KEY has no key for the model server; set it, or name another variable with --key-env"},
		{[]string{"--key-env", "GOOD_KEY"}, "does not take the key in GOOD_KEY; correct it, or name another variable with --key-env", ""},
	} {
		flags := append([]string{"--url", base}, test.flags...)
		cmd := exec.Command("turnstone", append([]string{"--store", filepath.Join(t.TempDir(), "store.db"), "chat"}, flags...)...)
		cmd.Env = ownHome(t)
		says, err := cmd.CombinedOutput()
		if want := "turnstone: no model: the server at " + base + " " + test.chat + "\n"; cmd.ProcessState.ExitCode() != 5 || string(says) != want {
			t.Errorf("chat %v: %v: %s, want %s", flags, err, says, want)
		}
		if runtime.GOOS == "windows" {
			continue // a process cannot be interrupted there
		}
		warning := "warning: " + cmp.Or(test.serves, "the server at "+base+" "+test.chat) + "\n"
		s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), flags...)
		s.end(os.Interrupt)
		if said := s.errs.String(); strings.Count(said, "warning: ") != 1 || !strings.Contains(said, warning) || strings.Contains(said, "hunter2") {
			t.Errorf("serve %v: %s, want %s", flags, said, warning)
		}
	}
	// Whoever knows the name of a model may talk, and is told by the model's own answer what can be done on the command line.
	for _, api := range []string{base, server.URL} {
		for variable, told := range map[string]string{
			"":         "; the server lets nobody in without a key: name the environment variable that has it with --key-env",
			"GOOD_KEY": "; the server does not take the key in GOOD_KEY: correct it, or name another variable with --key-env",
		} {
			args := []string{"--store", filepath.Join(t.TempDir(), "store.db"), "chat", "--url", api, "--model", "small"}
			if variable != "" {
				args = append(args, "--key-env", variable)
			}
			cmd := exec.Command("turnstone", args...)
			cmd.Env = ownHome(t)
			cmd.Stdin = strings.NewReader("Hello")
			says, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 5 || !strings.Contains(string(says), "talking with small") || !strings.HasSuffix(string(says), told+"\n") || strings.Contains(string(says), "hunter2") {
				t.Errorf("chat with a model of %s that is named, with the key %q: %v: %s, want at its end %s", api, variable, err, says, told)
			}
		}
	}
}

// TestWhoseKeyIsNotTaken: advice names the variable whose key was sent, whether it was named or not.
func TestWhoseKeyIsNotTaken(t *testing.T) {
	for _, test := range []struct{ url, variable, key, want string }{
		{"", "", "k", "the server does not take the key in OPENAI_API_KEY: correct it, or name another variable with --key-env"},
		{"https://api.openai.com/v1", "", "k", "the server does not take the key in OPENAI_API_KEY: correct it, or name another variable with --key-env"},
		{"https://models.example/v1", "", "k", "the server lets nobody in without a key: name the environment variable that has it with --key-env"},
		{"https://models.example", "MODELS_KEY", "", "the server lets nobody in without a key, and MODELS_KEY has none: set it, or name another variable with --key-env"},
	} {
		a := &app{system: system{getenv: func(string) string { return test.key }}}
		if got := a.keyAdvice(test.url, test.variable); got != test.want {
			t.Errorf("%q with %q: %q, want %q", test.url, test.variable, got, test.want)
		}
	}
}
