package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// What cannot be written is told by its own name, not by that of the file which would have become it.
func TestWriteWholeNamesTheFile(t *testing.T) {
	// Not even root can make a file there.
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip(err)
	}
	err := writeWhole("/proc/self/out", false, text("text"))
	if err == nil || !strings.HasPrefix(err.Error(), "file /proc/self/out: ") || strings.Contains(err.Error(), ".turnstone") {
		t.Errorf("got %v", err)
	}
}

func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := writeWhole(path, false, text("first")); err != nil {
		t.Fatal(err)
	}
	if err := writeWhole(path, false, text("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a file that is there: got %v", err)
	}
	if got := content(t, path); got != "first" {
		t.Errorf("the file holds %q", got)
	}
	if err := writeWhole(path, true, text("third")); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "third" {
		t.Errorf("the file holds %q", got)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); os.PathSeparator == '/' && got != 0o600 {
		t.Errorf("the file's mode is %o, want 600", got)
	}
	broken := errors.New("broken")
	err = writeWhole(filepath.Join(dir, "half"), false, func(w io.Writer) error {
		return errors.Join(text("half of it")(w), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	// A file that comes to be while ours is written is left alone too.
	racing := filepath.Join(dir, "racing")
	err = writeWhole(racing, false, func(w io.Writer) error {
		return errors.Join(text("ours")(w), os.WriteFile(racing, []byte("theirs"), 0o600))
	})
	if !errors.Is(err, fs.ErrExist) || content(t, racing) != "theirs" {
		t.Errorf("a race: got %v and %q", err, content(t, racing))
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
}

func TestWriteWholeOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	full := func(w io.Writer) error {
		return &fs.PathError{Op: "write", Path: w.(*os.File).Name(), Err: syscall.ENOSPC}
	}
	path := filepath.Join(dir, "out")
	err := writeWhole(path, false, full)
	want := "write " + path + ": no space left on device; make room there, or give another path"
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
