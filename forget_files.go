package turnstone

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keptFile is a file that the engine wrote of a session when it ended.
type keptFile struct {
	kind  string // as receipts name it
	again func(context.Context) error
}

// removeFiles deletes the files of all sessions that are reached, and returns them, to be written again.
func (f *forgetting) removeFiles() (removed []keptFile, err error) {
	for i := range f.sessions {
		s := f.sessions[i].handle
		for _, file := range []struct {
			keptFile
			path string
		}{
			{keptFile{"bundle", func(ctx context.Context) error {
				_, _, err := s.keepBundle(ctx)
				return err
			}}, s.BundlePath()},
			{keptFile{"document", s.keepHistory}, s.DocumentPath()},
		} {
			if err := removeUnfinished(file.path); err != nil {
				return removed, err
			}
			for _, path := range existing(file.path) {
				if err := os.Remove(path); err != nil {
					return removed, err
				}
				if err := syncFolder(filepath.Dir(path)); err != nil {
					return removed, err
				}
				removed = append(removed, file.keptFile)
			}
		}
	}
	return removed, nil
}

// removeUnfinished deletes what a crash left of a file that was to be put at path.
func removeUnfinished(path string) error {
	if path == "" {
		return nil
	}
	folder, err := os.Open(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	names, err := folder.Readdirnames(0)
	for _, name := range names {
		// The name of another session may begin like this one's.
		if number, is := strings.CutPrefix(name, unfinished(path)); is && strings.Trim(number, "0123456789") == "" {
			err = errors.Join(err, os.Remove(filepath.Join(folder.Name(), name)), syncFolder(folder.Name()))
		}
	}
	return errors.Join(err, folder.Close())
}

// existing returns the path if there is a file.
func existing(path string) []string {
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []string{path}
}
