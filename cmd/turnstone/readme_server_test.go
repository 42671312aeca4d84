package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// needsCurl skips a test of what people type into bash where that cannot be done, and fails it where CI=true.
func needsCurl(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts many processes, which are slow under the race detector and have nothing to race")
	}
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted there")
	}
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil && os.Getenv("CI") == "true" {
			t.Fatal(err)
		} else if err != nil {
			t.Skip(err)
		}
	}
}

// TestReadmeServer starts the server as the README says and runs its tour, as it stands there, in bash.
func TestReadmeServer(t *testing.T) {
	needsCurl(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, start, _ := strings.Cut(string(readme), "```\ngo install ./cmd/turnstone\nturnstone serve ")
	start, rest, _ := strings.Cut(start, "\n```\n")
	_, tour, _ := strings.Cut(rest, "```bash\n")
	tour, rest, found := strings.Cut(tour, "```\n")
	if !found || strings.Contains(rest, "```bash\n") {
		t.Fatal("the README has no tour of the server, or more than one")
	}
	// Who reads from top to bottom has the sessions of the commands in the store already.
	for _, name := range regexp.MustCompile(`"session_id": "(\w+)"`).FindAllStringSubmatch(tour, -1) {
		if strings.Contains(string(readme), "--session "+name[1]) {
			t.Errorf("the tour makes a session %s, and so did the commands before it", name[1])
		}
	}

	model := httptest.NewServer((&talker{replies: []string{"On Sunday.", "At\nnine.", "Good day to you.", "The south one."}}).handler())
	t.Cleanup(model.Close)
	s := serveProcess(t, filepath.Join(t.TempDir(), "store.db"), append(strings.Fields(start), "--url", model.URL)...)
	defer s.end(os.Interrupt)
	cmd := exec.Command("bash", "-euo", "pipefail", "-c", tour)
	cmd.Env = append(os.Environ(), "AT="+s.base)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	said := string(out)
	for _, shown := range []string{
		`"session_id":"garden",.*"turns":0`,
		`"seq":1,.*"idempotency_key":"m1"`,
		`"account":\{"context":`,
		`"role":"system","content":"You plan gardens`,
		`"status":"complete",`,
		`"text":"We decided to plant a pear tree."`,
		`"text":"Likes pears of their own"`,
		`"text":"On Sunday."`,
		`(?s)event: text\ndata: \{"text":"At.*event: reply\ndata: .*"turn_id":`,
		`"name":"before","auto":false,`,
		`"turns_left_behind":1`,
		`"undone":"restore"`,
		`"kind":"snapshot-created"`,
		`(?s)id: \S+\nevent: snapshot-restored\ndata: `,
		`"what":"turns","sessions":\["garden"\],"turns":1`,
		`"message":\{.*"content":"Good day to you\.`,
		`data: .*"content":"The south one\.`,
		`"jsonrpc":"2.0","id":1,"result":.*south wall`,
	} {
		if !regexp.MustCompile(shown).MatchString(said) {
			t.Errorf("the tour does not show %s", shown)
		}
	}
	if n := strings.Count(said, `"idempotency_key":"m1"`); n != 2 {
		t.Errorf("what is appended twice under one key is shown %d times", n)
	}
	if t.Failed() {
		t.Log(said)
	}
}
