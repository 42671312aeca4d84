package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

// served is turnstone serve as a process.
type served struct {
	t    *testing.T
	cmd  *exec.Cmd
	errs *heard
	base string
}

// heard is what a process said so far.
type heard struct {
	mu   sync.Mutex // guards said
	said bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said.String()
}

// find waits until a pattern is found, and returns its first group.
func (h *heard) find(t *testing.T, pattern string) string {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for over := time.After(2 * time.Minute); ; {
		if found := regexp.MustCompile(pattern).FindStringSubmatch(h.String()); found != nil {
			return found[1]
		}
		select {
		case <-look.C:
		case <-over:
			t.Fatalf("no %s: %s", pattern, h)
		}
	}
}

// serveProcess starts a server on a store and waits until it says where it is.
func serveProcess(t *testing.T, place string, args ...string) *served {
	t.Helper()
	s := &served{t: t, errs: new(heard)}
	s.cmd = exec.Command("turnstone", append([]string{"--store", place, "serve", "--addr", "127.0.0.1:0"}, args...)...)
	s.cmd.Env = ownHome(t)
	s.cmd.Stderr = s.errs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			if err := s.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, s.errs)
	}
	s.base = strings.TrimSpace(line)
	return s
}

// post sends JSON to a path and returns what is answered.
func (s *served) post(path, body string) (status int, answer string) {
	s.t.Helper()
	r, err := http.Post(s.base+path, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// end interrupts the server and waits for it.
func (s *served) end(how os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(how); err != nil {
		s.t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		s.t.Errorf("%v: %s", err, s.errs)
	}
}

func TestServe(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	store := filepath.Join(t.TempDir(), "store.db")
	for i, how := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		s := serveProcess(t, store, "--url", "http://127.0.0.1:1")
		if !strings.HasPrefix(s.base, "http://127.0.0.1:") {
			t.Errorf("it is at %q", s.base)
		}
		if status, answer := s.post("/api/v1/sessions/demo/turns?create=true", `{"turns":[{"role":"user","text":"hello"}]}`); status != http.StatusCreated {
			t.Errorf("%d %s", status, answer)
		}
		s.end(how)
		if says := s.errs.String(); !strings.HasPrefix(says, "serving "+store+"; see "+s.base+"/api/v1/docs;") || !strings.HasSuffix(says, "\nending\n") {
			t.Errorf("standard error: %s", says)
		}
		for _, want := range []string{
			"for clients of Ollama " + s.base + ", of OpenAI " + s.base + "/v1, of MCP " + s.base + "/mcp; metrics at " + s.base + "/metrics\n",
			"warning: the model server at http://127.0.0.1:1 does not answer; start it, or name another with --url\n",
		} {
			if !strings.Contains(s.errs.String(), want) {
				t.Errorf("no %q: %s", want, s.errs)
			}
		}
		if lines := mustRun(t, store, "history", "--session", "demo", "--json"); strings.Count(lines, "\n") != i+1 {
			t.Errorf("history: %s", lines)
		}
	}
}

func TestServeWarnsOfAMissingKey(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	const warning = "warning: MODELS_KEY has no key for the model server; set it, or name another variable with --key-env\n"
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"data":[{"id":%q}]}`, r.Header.Get("Authorization"))
	}))
	t.Cleanup(upstream.Close)
	for key, warns := range map[string]bool{"": true, " \n": true, "secret\n": false} {
		t.Setenv("MODELS_KEY", key)
		s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--url", upstream.URL+"/v1", "--key-env", "MODELS_KEY")
		response, err := http.Get(s.base + "/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		models, err := io.ReadAll(response.Body)
		if err = errors.Join(err, response.Body.Close()); err != nil || strings.Contains(string(models), "Bearer secret\"") == warns {
			t.Errorf("with the key %q: %v %s", key, err, models)
		}
		s.end(os.Interrupt)
		if strings.Contains(s.errs.String(), warning) != warns {
			t.Errorf("with the key %q standard error has: %s", key, s.errs)
		}
	}
}

func TestServeAnswersWithAModel(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	for _, path := range []string{"", "/v1"} {
		upstream := httptest.NewServer((&talker{replies: []string{"Good day."}}).handler())
		t.Cleanup(upstream.Close)
		s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--url", upstream.URL+path, "--model", "small")
		if status, answer := s.post("/api/v1/sessions", `{"session_id":"demo"}`); status != http.StatusCreated {
			t.Errorf("%d %s", status, answer)
		}
		status, answer := s.post("/api/v1/sessions/demo/say", `{"text":"hello"}`)
		var reply struct{ Text string }
		if err := json.Unmarshal([]byte(answer), &reply); err != nil || status != http.StatusOK || reply.Text != "Good day." {
			t.Errorf("%d %s", status, answer)
		}
		s.end(os.Interrupt)
		if says := s.errs.String(); strings.Contains(says, "warning") {
			t.Errorf("standard error: %s", says)
		}
	}
}

// TestServeRecoversFirst: what is appended as soon as a server is ready stands behind a reply that was left.
func TestServeRecoversFirst(t *testing.T) {
	path := filepath.Join(t.TempDir(), "left.db")
	leaveReply(t, path)
	s := serveProcess(t, path)
	if status, answer := s.post("/api/v1/sessions/talk/turns", `{"turns":[{"role":"user","content":{"text":"Are you there?"}}]}`); status != http.StatusCreated {
		t.Fatalf("%d: %s", status, answer)
	}
	_, answer := get(t, s.base+"/api/v1/sessions/talk/turns")
	reply, after := strings.Index(answer, "One two"), strings.Index(answer, "Are you there?")
	if reply < 0 || after < reply {
		t.Errorf("the reply does not stand before what came later: %s", answer)
	}
	s.end(os.Interrupt)
}

// leaveReply leaves a store as a process does that dies in the middle of a reply.
func leaveReply(t *testing.T, path string) {
	t.Helper()
	ctx := t.Context()
	st, err := sqlite.Open(ctx, path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	eng, err := turnstone.Open(ctx, st, turnstone.Config{})
	if err != nil {
		t.Fatal(err)
	}
	chat, err := eng.Session(ctx, "talk")
	if err != nil {
		t.Fatal(err)
	}
	turns, err := chat.Append(ctx, turn.Draft{Role: turn.User, Content: turn.Text{Text: "Count."}})
	if err != nil {
		t.Fatal(err)
	}
	left := turn.OpenExchange{
		ExportID: "01ARZ3NDEKTSV4RRFFQ69G5FAW", Opened: turns[0].ID, Started: turns[0].CreatedAt, Changed: turns[0].CreatedAt,
		Reply: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Content: `{"text":"One two"}`,
	}
	key := turn.Key{Tenant: turn.DefaultTenant, Session: "talk"}
	if err := st.Update(ctx, func(tx store.Tx) error { return tx.Log().PutExchange(ctx, key, left) }); err != nil {
		t.Fatal(err)
	}
	if err := eng.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestServeEndsAtOnceWhenToldTwice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/chat" {
			if _, err := io.WriteString(w, `{"message":{"role":"assistant","content":"One "},"done":false}`+"\n"); err != nil {
				t.Error(err)
			}
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			<-r.Context().Done()
		}
	}))
	t.Cleanup(upstream.Close)
	store := filepath.Join(t.TempDir(), "store.db")
	s := serveProcess(t, store, "--url", upstream.URL, "--model", "small", "--grace", "1h")
	s.post("/api/v1/sessions", `{"session_id":"demo"}`)
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/api/v1/sessions/demo/say", strings.NewReader(`{"text":"Count."}`))
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Content-Type", "application/json")
	ask.Header.Set("Accept", "text/event-stream")
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewReader(answer.Body)
	if line, err := lines.ReadString('}'); err != nil || !strings.Contains(line, "One ") {
		t.Fatalf("%q %v", line, err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.end(os.Interrupt)
	if says := s.errs.String(); !strings.Contains(says, "\nfinishing 1 request, at most 1h0m0s; again to end now\n") {
		t.Errorf("standard error: %s", says)
	}
	if rest, err := io.ReadAll(lines); err != nil || !strings.Contains(string(rest), "event: problem\n") {
		t.Errorf("%s %v", rest, err)
	}
	if lines := mustRun(t, store, "history", "--session", "demo", "--json"); !strings.Contains(lines, `"interrupted":true`) {
		t.Errorf("history: %s", lines)
	}
}

func TestServeAsksForKeys(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	store := filepath.Join(t.TempDir(), "store.db")
	var key struct{ Secret string }
	if err := json.Unmarshal([]byte(mustRun(t, store, "key", "create", "--json")), &key); err != nil || key.Secret == "" {
		t.Fatalf("%v, secret %q", err, key.Secret)
	}
	s := serveProcess(t, store, "--keys")
	for secret, want := range map[string]int{"": http.StatusUnauthorized, key.Secret: http.StatusOK} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.base+"/api/v1/sessions", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != want {
			t.Errorf("%d, want %d", answer.StatusCode, want)
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	s.end(os.Interrupt)
}

func TestServeStandsInThePlaceOfOllama(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	upstream := httptest.NewServer((&talker{replies: []string{"Good day."}}).handler())
	t.Cleanup(upstream.Close)
	store := filepath.Join(t.TempDir(), "store.db")
	s := serveProcess(t, store, "--url", upstream.URL)
	status, answer := s.post("/api/chat", `{"model":"small","messages":[{"role":"user","content":"Hello."}]}`)
	if status != http.StatusOK || !strings.Contains(answer, "Good day.") {
		t.Errorf("%d %s", status, answer)
	}
	s.end(os.Interrupt)
	if list := mustRun(t, store, "session", "list", "--json"); strings.Count(list, "\n") != 1 {
		t.Errorf("sessions: %s", list)
	}
}

func TestServeDrains(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--drain", "1h")
	if status, answer := get(t, s.base+"/readyz"); status != http.StatusOK {
		t.Errorf("%d %s", status, answer)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	status, answer := http.StatusOK, ""
	for status == http.StatusOK {
		status, answer = get(t, s.base+"/readyz")
	}
	if status != http.StatusServiceUnavailable || answer != `{"status":"draining"}`+"\n" {
		t.Errorf("%d %s", status, answer)
	}
	for path, want := range map[string]int{"/healthz": http.StatusOK, "/api/v1/sessions": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		if status, answer := get(t, s.base+path); status != want {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	s.end(syscall.SIGTERM)
}

// TestServeTellsOnceThatTokensAreEstimated has one line of the log for a vocabulary that is not to be had.
func TestServeTellsOnceThatTokensAreEstimated(t *testing.T) {
	nothing := httptest.NewServer(http.NotFoundHandler())
	defer nothing.Close()
	s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), "--url", nothing.URL)
	s.post("/api/v1/sessions", `{"session_id":"demo"}`)
	if status, answer := s.post("/api/v1/sessions/demo/prompt", `{"model":"llama3.2"}`); status != http.StatusOK {
		t.Fatalf("%d: %s", status, answer)
	}
	if said := s.errs.String(); strings.Count(said, "estimated") != 1 || !strings.Contains(said, `"msg":"no vocabulary; tokens are estimated"`) {
		t.Errorf("said %s", said)
	}
}
