package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnstone-dev/turnstone/store"
)

// Backup writes a copy of the store to a new file: one consistent state, made while others read and
// write, for its owner alone to read and write. An error leaves no file behind; a file that is there already is an fs.ErrExist and stays.
func (s *Store) Backup(ctx context.Context, path string) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	// An empty file is all that SQLite writes a copy over.
	file, err := createPrivate(path)
	if err != nil {
		return fmt.Errorf("backup to %s: %w", path, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("backup to %s: %w", path, errors.Join(err, removeCopy(path)))
	}
	err = s.view(ctx, func(t *tx) error { return t.vacuumInto(path) })
	if err == nil {
		err = syncFile(path)
	}
	if err != nil {
		return fmt.Errorf("backup to %s: %w", path, errors.Join(err, removeCopy(path)))
	}
	return nil
}

// vacuumInto makes the copy on a reader's connection, whose transaction it must not be in.
func (t *tx) vacuumInto(path string) error {
	if err := t.c.Exec(`COMMIT; PRAGMA query_only = off`); err != nil {
		return t.fail(err)
	}
	err := t.c.Prepare(`VACUUM INTO ?`).Text(path).Run()
	failed := t.fail(errors.Join(err, t.c.Exec(`PRAGMA query_only = on`)))
	if errors.Is(failed, store.ErrFull) { // it is the copy that has no room
		return fmt.Errorf("%w: make room on the device of %s: %w", store.ErrFull, path, err)
	}
	return failed
}

// syncFile makes a new file and its name durable.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, fs.ErrPermission) {
		// Not every system can sync a folder; those that cannot do it by themselves.
		err = nil
	}
	return errors.Join(err, folder.Close())
}

func removeCopy(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
