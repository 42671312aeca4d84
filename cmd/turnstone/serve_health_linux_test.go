package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountSmall mounts a file system of 6 MiB there, which only root may. Others test with a store that refuses to write.
func mountSmall(t *testing.T, folder string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("no small file system can be made here (%v); observe.TestAStoreIsReady stands for it", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}

// TestServeOnAReadOnlyStore has a server begin on a disk that is mounted for reading.
func TestServeOnAReadOnlyStore(t *testing.T) {
	folder := t.TempDir()
	mountSmall(t, folder)
	path := filepath.Join(folder, "store.db")
	mustRun(t, path, "append", "--session", "s", "--role", "user", "--text", "before")
	if err := syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	s := serveProcess(t, path, "--url", "http://127.0.0.1:1")
	const says = "store is read-only; allow writing to it"
	s.ready(http.StatusServiceUnavailable, says)
	s.refuses(says, false)
	if status, answer := get(t, s.base+"/api/v1/sessions/s/turns"); status != http.StatusOK || !strings.Contains(answer, "before") {
		t.Errorf("%d %s", status, answer)
	}
}

// TestServeOnAFullDisk has everything that a server writes meet a full disk: it says so, and nothing that it acknowledged is
// lost. When there is room again it goes on.
func TestServeOnAFullDisk(t *testing.T) {
	folder := t.TempDir()
	mountSmall(t, folder)
	path, filler := filepath.Join(folder, "store.db"), filepath.Join(folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serveProcess(t, path, "--url", "http://127.0.0.1:1")
	const says = "no space left for the store; make room on its disk"
	s.ready(http.StatusOK, "ok")
	acknowledged := 0
	for status := http.StatusCreated; status == http.StatusCreated; acknowledged++ {
		status, _ = s.append(strings.Repeat("x", 20_000))
	}
	acknowledged--
	why := strings.Repeat("y", 50_000)
	for range 3 {
		status, answer := s.append(why)
		if status != http.StatusServiceUnavailable || !strings.Contains(answer, says) || strings.Contains(answer, "try again") {
			t.Errorf("%d %.200s", status, answer)
		}
	}
	s.ready(http.StatusServiceUnavailable, says)
	for path, body := range map[string]string{
		"/api/v1/sessions/s/commit": fmt.Sprintf(`{"turns":[{"role":"user","text":%q},{"role":"agent","text":"Yes."}]}`, why),
		"/api/v1/sessions/s/turns": fmt.Sprintf(`{"turns":[{"role":"user","form":"image","content":{"media_type":"image/png","data":%q}}]}`,
			base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"+strings.Repeat("z", 300_000)))),
	} {
		if status, answer := s.post(path, body); status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %.300s", path, status, answer)
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	s.ready(http.StatusOK, "ok")
	if status, answer := s.append("room again"); status != http.StatusCreated {
		t.Errorf("%d %s", status, answer)
	}
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.cmd.Wait() // it was killed
	if lines := mustRun(t, path, "history", "--session", "s", "--all", "--json"); strings.Count(lines, "\n") != acknowledged+1 {
		t.Errorf("%d turns were acknowledged, there are %d", acknowledged+1, strings.Count(lines, "\n"))
	}
	mustRun(t, path, "doctor")
}
