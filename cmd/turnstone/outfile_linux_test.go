package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWriteWholeFollowsLinks has a link stay what it is, and the file that it leads to keep its mode.
func TestWriteWholeFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.MkdirAll(in("a/b"), 0o700), os.MkdirAll(in("c"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for link, leads := range map[string]string{
		"link": "c/real", "chain": "link", "up": "far/../c2", "far": "a/b",
		"dangling": "c/new", "nowhere": "none/new", "circle": "circle", "absolute": in("c/real"),
	} {
		if err := os.Symlink(leads, in(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(in("c/real"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(in("c/real"), 0o644); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	if err := writeWhole(in("link"), false, text("new")); !errors.Is(err, fs.ErrExist) || content(t, in("c/real")) != "old" {
		t.Errorf("a link to a file without --force: %v", err)
	}
	for link, target := range map[string]string{"link": "c/real", "chain": "c/real", "absolute": "c/real", "dangling": "c/new", "up": "a/c2"} {
		force := target == "c/real"
		if err := writeWhole(in(link), force, text("through "+link)); err != nil {
			t.Errorf("%s: %v", link, err)
			continue
		}
		if got := content(t, in(target)); got != "through "+link {
			t.Errorf("%s: the file holds %q", link, got)
		}
		if info, err := os.Lstat(in(link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v %v", link, info, err)
		}
	}
	if info, err := os.Stat(in("c/real")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("the replaced file: %v %v, want mode 644", info, err)
	}
	if err := writeWhole(in("nowhere"), true, text("x")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none does not exist") {
		t.Errorf("a link into a folder that is not there: %v", err)
	}
	if err := writeWhole(in("circle"), true, text("x")); err == nil {
		t.Error("a link to itself was written to")
	}
}

// TestWriteWholeIntoPipesAndDevices has what is no file written into and never replaced, with and without --force.
func TestWriteWholeIntoPipesAndDevices(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	null := filepath.Join(dir, "null")
	if err := os.Symlink(os.DevNull, null); err != nil {
		t.Fatal(err)
	}
	device := filepath.Join(dir, "device")
	if err := unix.Mknod(device, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3))); err != nil {
		t.Logf("no device of its own: %v", err)
		device = null
	}
	for _, force := range []bool{false, true} {
		read := make(chan string)
		go func() {
			data, err := os.ReadFile(pipe)
			if err != nil {
				t.Error(err)
			}
			read <- string(data)
		}()
		if err := writeWhole(pipe, force, text("through a pipe")); err != nil {
			t.Fatal(err)
		}
		if got := <-read; got != "through a pipe" {
			t.Errorf("the pipe's reader got %q", got)
		}
		for _, path := range []string{null, device} {
			if err := writeWhole(path, force, text("gone")); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	for path, want := range map[string]fs.FileMode{pipe: fs.ModeNamedPipe, null: fs.ModeDevice, device: fs.ModeDevice} {
		if info, err := os.Stat(path); err != nil || info.Mode()&want == 0 {
			t.Errorf("%s was replaced: %v %v", path, info, err)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 3 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestWriteWholeRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir) // the name of a socket must be short
	socket, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	unwanted := func(io.Writer) error { t.Error("it was written to"); return nil }
	for path, want := range map[string]string{
		dir: "is a folder; name a file in it", "socket": "is not a regular file; give another path", "socket/x": "socket is no folder; give another path",
	} {
		for _, force := range []bool{false, true} {
			if err := writeWhole(path, force, unwanted); err == nil || err.Error() != "file "+path+": "+want {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if info, err := os.Lstat("socket"); err != nil || info.Mode()&fs.ModeSocket == 0 {
		t.Errorf("the socket: %v %v", info, err)
	}
}
