//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// TestServeTellsWhatIsWrongWithItsStore takes the store of a server away in every way. Nothing is acknowledged then, whoever
// asks is told why and not to try again, /readyz says it, and what was acknowledged is there for the next server.
func TestServeTellsWhatIsWrongWithItsStore(t *testing.T) {
	const gone = "a file of the store was removed or replaced while it was in use; put the files back or restore a backup, then restart the program"
	for name, test := range map[string]struct {
		harm  func(path string) error
		says  string
		there bool // what was acknowledged before is at the path
	}{
		"the log is removed":    {func(path string) error { return os.Remove(path + "-wal") }, gone, true},
		"the index is removed":  {func(path string) error { return os.Remove(path + "-shm") }, gone, true},
		"the file is moved":     {func(path string) error { return os.Rename(path, path+".moved") }, gone, false},
		"a backup is put there": {func(path string) error { return os.Rename(path+".backup", path) }, gone, false},
		"the folder is removed": {func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, gone, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "talks", "store.db")
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			s := serveProcess(t, path, "--url", "http://127.0.0.1:1")
			acknowledged := 0
			for range 20 {
				if status, answer := s.append("before"); status != http.StatusCreated {
					t.Fatalf("%d %s", status, answer)
				}
				acknowledged++
			}
			s.ready(http.StatusOK, "ok")
			mustRun(t, path, "backup", path+".backup")
			if err := test.harm(path); err != nil {
				t.Fatal(err)
			}
			s.refuses(test.says, false)
			s.ready(http.StatusServiceUnavailable, test.says)
			s.refuses(test.says, false)
			if status, answer := s.post("/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"hello"}]}`); status < 500 || strings.Contains(answer, "try again in a moment") {
				t.Errorf("a client of OpenAI is told %d %s", status, answer)
			}
			if !test.there {
				return
			}
			time.Sleep(500 * time.Millisecond) // the writer looks around ten times a second
			if err := s.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			s.cmd.Wait() // it was killed
			if lines := mustRun(t, path, "history", "--session", "s", "--all", "--json"); strings.Count(lines, "\n") < acknowledged {
				t.Errorf("%d turns were acknowledged, and there are:\n%s", acknowledged, lines)
			}
			mustRun(t, path, "doctor")
		})
	}
}

func (s *served) append(text string) (status int, answer string) {
	s.t.Helper()
	return s.post("/api/v1/sessions/s/turns?create=true", fmt.Sprintf(`{"turns":[{"role":"user","text":%q}]}`, text))
}

// mayBeKept is said beside it where the update was written when it was noticed.
const mayBeKept = "; this update may have been kept: send it again under the same idempotency key"

// refuses has the server refuse a turn for a reason that it tells, with the advice to come again only where that is of use.
func (s *served) refuses(why string, again bool) {
	s.t.Helper()
	status, answer := s.append("after")
	var told struct {
		Detail     string
		RetryAfter int `json:"retry_after"`
	}
	if err := json.Unmarshal([]byte(answer), &told); err != nil || status != http.StatusServiceUnavailable || strings.TrimSuffix(told.Detail, mayBeKept) != why || told.RetryAfter > 0 != again {
		s.t.Errorf("%d %s %v, want %q", status, answer, err, why)
	}
}

// ready waits until /readyz answers so, which may be some seconds old.
func (s *served) ready(want int, says string) {
	s.t.Helper()
	status, answer := 0, ""
	for over := time.Now().Add(8 * time.Second); time.Now().Before(over); time.Sleep(100 * time.Millisecond) {
		if status, answer = get(s.t, s.base+"/readyz"); status == want && strings.Contains(answer, `"store":"`+says+`"`) {
			return
		}
	}
	s.t.Errorf("/readyz: %d %s, want %d %s", status, answer, want, says)
}

// TestServeOnALockedStore has another process write for longer than anybody waits.
func TestServeOnALockedStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := serveProcess(t, path, "--url", "http://127.0.0.1:1")
	s.append("before")
	other, err := sqlite.Open(t.Context(), path, sqlite.Config{})
	if err != nil {
		t.Fatal(err)
	}
	const says = "store is locked by another process; try again in a moment, or end that process"
	held := other.Update(t.Context(), func(store.Tx) error {
		s.ready(http.StatusServiceUnavailable, says)
		s.refuses(says, true)
		return nil
	})
	if err := errors.Join(held, other.Close()); err != nil {
		t.Fatal(err)
	}
	s.ready(http.StatusOK, "ok")
	if status, answer := s.append("after"); status != http.StatusCreated {
		t.Errorf("%d %s", status, answer)
	}
}
