package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// fullDisk is what to do where a file has no room.
const fullDisk = "make room there, or give another path"

// writeWhole writes a file whole or not at all. A new file is readable by its owner alone, one that is replaced keeps its
// mode, and a symbolic link stays: the file that it leads to is written. Without overwrite a file that is there already is
// left as it is, and the error is fs.ErrExist. Devices and named pipes are written into, as nothing is lost by that.
func writeWhole(path string, overwrite bool, write func(io.Writer) error) error {
	old, err := checkOutput(path, overwrite)
	switch {
	case err != nil:
		return err
	case old != nil && !old.Mode().IsRegular():
		return writeInto(path, write)
	}
	return replaceFile(followLinks(path), old, overwrite, write)
}

// checkOutput refuses what writeWhole cannot write to, and returns what is there already.
func checkOutput(path string, overwrite bool) (old fs.FileInfo, err error) {
	if err := checkFolder(followLinks(path)); err != nil {
		return nil, err
	}
	old, err = os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("file: %w", err)
	case old.IsDir():
		return nil, usage("name a file in it", "file %s: is a folder", path)
	case old.Mode().IsRegular() && !overwrite:
		return nil, &advised{existing(path), "choose another name, or give --force"}
	case old.Mode()&(fs.ModeSocket|fs.ModeIrregular) != 0:
		return nil, usage("give another path", "file %s: is not a regular file", path)
	}
	return old, nil
}

// writeInto writes to a device or a named pipe, which waits for a reader.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("file: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

// replaceFile writes a temporary file and gives it the path. What is there already is old.
func replaceFile(path string, old fs.FileInfo, overwrite bool, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".turnstone-*")
	if err != nil {
		var temporary *fs.PathError
		if errors.As(err, &temporary) {
			err = temporary.Err // nobody asked for a file of that name
		}
		return fmt.Errorf("file %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(advise(underName(err, f.Name(), path), syscall.ENOSPC, fullDisk), remove(f.Name()))
		}
	}()
	if err := write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if old != nil {
		err = f.Chmod(old.Mode().Perm())
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	if overwrite {
		return os.Rename(f.Name(), path)
	}
	return put(f.Name(), path)
}

// maxLinks is how many symbolic links Linux follows. More are taken for a circle.
const maxLinks = 40

// followLinks is where a path leads that may be a symbolic link. Nothing needs to be there.
func followLinks(path string) string {
	for range maxLinks {
		link, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(link) {
			// Not joined: that would take a folder's link together with the ".." behind it.
			link = filepath.Dir(path) + string(filepath.Separator) + link
		}
		path = link
	}
	return path
}

// outputPath is stdio for every name of standard output: what is said beside a file goes there too.
func outputPath(path string) string {
	if path == "/dev/stdout" {
		return stdio
	}
	return path
}

// checkFolder refuses a path in a folder that is not there.
func checkFolder(path string) error {
	folder := filepath.Dir(path)
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &advised{err: missingFolder(folder), next: "make it first"}
	case err != nil:
		return fmt.Errorf("folder: %w", err)
	case !info.IsDir():
		return usage("give another path", "file %s: %s is no folder", path, folder)
	}
	return nil
}

// missingFolder is an fs.ErrNotExist in fewer words.
type missingFolder string

func (f missingFolder) Error() string        { return "the folder " + string(f) + " does not exist" }
func (f missingFolder) Is(target error) bool { return target == fs.ErrNotExist }

// refuseExisting refuses a path where anything is, a link that leads nowhere too.
func refuseExisting(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return existing(path)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("file: %w", err)
	}
	return nil
}

func existing(path string) error { return fmt.Errorf("file %s: %w", path, fs.ErrExist) }

// put gives a finished file a name that is not taken. A link fails where it is, a rename does not; not every file system
// has links.
func put(temporary, path string) error {
	err := os.Link(temporary, path)
	if err == nil {
		return os.Remove(temporary)
	}
	if err := refuseExisting(path); err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("file: %w", err)
	}
	return nil
}

// underName is an error about a temporary file under the name that it was to get: nobody knows the other.
func underName(err error, temporary, path string) error {
	return &reworded{err: err, text: strings.ReplaceAll(err.Error(), filepath.Base(temporary), filepath.Base(path))}
}

// remove deletes a file if it is there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
