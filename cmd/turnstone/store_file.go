package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/turnstone-dev/turnstone/internal/pause"
)

// noStore is the error for a file that is something else.
func (p place) noStore(what string) error {
	return usage("give another file with --store", "%s is not a Turnstone store (%s)", p.path, what)
}

const (
	// makingWait is how long a file that is empty is looked at: its first bytes come when it is made, or soon after.
	makingWait = 2 * time.Second
	// makingEvery is how often.
	makingEvery = 10 * time.Millisecond
)

// awaitMaking waits for somebody else who is just making the file, which is empty at first. One that has been empty for long is
// nobody's.
func (p place) awaitMaking(ctx context.Context) error {
	for until := time.Now().Add(makingWait); time.Now().Before(until); {
		info, err := os.Stat(p.path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 0 || time.Since(info.ModTime()) > makingWait {
			return nil // what it is then is for others to judge
		}
		if !pause.For(ctx, makingEvery) {
			return ctx.Err()
		}
	}
	return nil
}

// prepare makes the folder of a store that is to be made, as the default one always is, and keeps a mistyped path from
// becoming a store otherwise.
func (p place) prepare(ctx context.Context, why purpose) error {
	if why != toMake {
		if err := p.awaitMaking(ctx); err != nil {
			return err
		}
	}
	if err := p.checkHeader(); err != nil {
		return err
	}
	if !p.given || why == toMake {
		if err := p.makeFolder(); err != nil {
			return err
		}
	}
	if !p.given {
		return nil
	}
	info, err := os.Stat(p.path)
	if err == nil && info.IsDir() {
		return usage("name a file in it", "store %s: is a folder", p.path)
	}
	if errors.Is(err, fs.ErrNotExist) && why == toMake {
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("store %s: %w", p.path, fs.ErrNotExist)
	}
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if info.Size() == 0 && why != toMake {
		return emptyFile(p.path)
	}
	return nil
}

// makeFolder makes the folder of a store, for its owner alone.
func (p place) makeFolder() error {
	err := checkFolder(p.path)
	if err == nil || as[*usageError](err) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return &advised{err: fmt.Errorf("folder of the store: %w", err), next: "say where the store is with --store or " + envStore}
	}
	return nil
}

// emptyFile is an fs.ErrNotExist for a store: the file is there, but nothing was ever stored in it.
type emptyFile string

func (f emptyFile) Error() string {
	return "store " + string(f) + ": the file is empty and no store yet"
}
func (f emptyFile) Is(target error) bool { return target == fs.ErrNotExist }

// checkHeader refuses a file that is no database. One that is not there, empty or not to be read is
// for others to judge.
func (p place) checkHeader() error {
	const header = "SQLite format 3\x00"
	if !isFile(p.path) {
		return nil // a pipe would have to be waited for
	}
	f, err := os.Open(p.path)
	if err != nil {
		return nil
	}
	start := make([]byte, len(header))
	n, err := io.ReadFull(f, start)
	if closed := f.Close(); closed != nil {
		return fmt.Errorf("store: %w", closed)
	}
	if n > 0 && (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && string(start) != header {
		return p.noStore("not a database")
	}
	return nil
}
