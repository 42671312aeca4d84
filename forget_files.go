package turnstone

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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
