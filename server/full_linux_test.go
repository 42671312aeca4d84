package server_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/llm"
	"github.com/turnstone-dev/turnstone/llm/llmtest"
	"github.com/turnstone-dev/turnstone/server"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// smallDisk is a folder with room for 6 MiB, which only root may make.
func smallDisk(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("no small file system can be made here (%v); TestNowhereToPutABundle and observe.TestAStoreIsReady stand for it", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// A bundle that the disk has no room for is refused as that, and leaves nothing there.
func TestABundleOnAFullDisk(t *testing.T) {
	folder := smallDisk(t)
	c := start(t, turnstone.Config{}, server.Config{})
	t.Setenv("TMPDIR", folder)
	got := c.want(http.StatusServiceUnavailable, nil, "POST", "/bundles", strings.Repeat("x", 8<<20), "Content-Type", octets)
	if !strings.Contains(got.body, "#unavailable") || !strings.Contains(got.body, "make room on the disk that TMPDIR names") || strings.Contains(got.body, folder) {
		t.Error(got.body)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// A disk that is full refuses what is new and serves what there is. When there is room again, the server goes on.
func TestAFullDisk(t *testing.T) {
	folder := smallDisk(t)
	filler := filepath.Join(folder, "filler")
	if err := os.WriteFile(filler, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	eng := openedOn(t, newStore(t, folder, sqlite.Config{}), turnstone.Config{Model: llmtest.Respond(func(llm.Request) llmtest.Reply { return llmtest.Reply{Text: "Yes."} })})
	c, _ := exposed(t, eng, server.Limits{})
	c.want(http.StatusCreated, nil, "POST", "/sessions", `{"session_id":"talk"}`)
	acknowledged := 0
	turn := fmt.Sprintf(`{"turns":[{"role":"user","text":%q}]}`, strings.Repeat("x", 20_000))
	got := reply{status: http.StatusCreated}
	for got.status == http.StatusCreated {
		if got = c.do("POST", "/sessions/s/turns?create=true", turn); got.status == http.StatusCreated {
			acknowledged++
		}
	}
	for range 3 {
		if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "#unavailable") || strings.Contains(got.body, folder) ||
			!strings.Contains(got.body, `"detail":"no space left for the store; make room on its disk"`) || strings.Contains(got.body, "retry_after") {
			t.Errorf("%d %s", got.status, got.body)
		}
		got = c.do("POST", "/sessions/s/turns", turn)
	}
	var shown turnsShown
	c.want(http.StatusOK, &shown, "GET", "/sessions/s/turns?limit=1000", nil)
	if len(shown.Items) != acknowledged || acknowledged < 10 {
		t.Errorf("%d turns, %d acknowledged", len(shown.Items), acknowledged)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	c.want(http.StatusCreated, nil, "POST", "/sessions/s/turns", turn)
	var said replied
	c.want(http.StatusOK, &said, "POST", "/sessions/talk/say", `{"text":"Is there room?"}`)
	if said.Status != "complete" {
		t.Errorf("%+v", said)
	}
}
