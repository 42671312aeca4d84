//go:build unix

package sqlite_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// publicFolder is a folder that another user can get into.
func publicFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "turnstone-public-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	return folder
}

// nobody makes a child that file permissions hold for: root may write anywhere.
func nobody(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	c := child(t.Context(), t, role, path)
	if os.Getuid() == 0 {
		// The test program itself lies where only root may read.
		copied := publicFolder(t) + "/child"
		program, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied, program, 0o755); err != nil {
			t.Fatal(err)
		}
		c.Path = copied
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return c
}

func asNobody(t *testing.T, role, path string) {
	t.Helper()
	if out, err := nobody(t, role, path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func refusedAsNobody(t *testing.T, role, path, says string) {
	t.Helper()
	out, err := nobody(t, role, path).CombinedOutput()
	if err == nil || !strings.Contains(string(out), says) {
		t.Errorf("got %v: %s, want one that says %q", err, out, says)
	}
}
