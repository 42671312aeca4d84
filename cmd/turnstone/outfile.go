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

// writeWhole writes a file that is there whole or not at all, readable by its owner alone. Without
// overwrite a file that is there already is left as it is, and the error is fs.ErrExist.
func writeWhole(path string, overwrite bool, write func(io.Writer) error) (err error) {
	if err := refuseExisting(path, overwrite); err != nil {
		return err
	}
	if err := checkFolder(path); err != nil {
		return err
	}
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
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	return put(f.Name(), path, overwrite)
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

func refuseExisting(path string, overwrite bool) error {
	if overwrite {
		return nil
	}
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return fmt.Errorf("file %s: %w", path, fs.ErrExist)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("file: %w", err)
	}
	return nil
}

// put gives a finished file its name. A link fails where the name is taken, a rename does not; not
// every file system has links.
func put(temporary, path string, overwrite bool) error {
	if overwrite {
		return os.Rename(temporary, path)
	}
	err := os.Link(temporary, path)
	if err == nil {
		return os.Remove(temporary)
	}
	if err := refuseExisting(path, false); err != nil {
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
