package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/replay"
)

func (a *app) bundleCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "bundle",
		Short: "Export, verify and import whole sessions as files",
		Long: `A bundle is one file that holds a whole session: every turn, the images and recordings, every
revision of the dialogue state, the bookmarks, goals and actions with their history, memory, notes, traces,
pins and what its prompts are made again from, with a sum that proves it whole. It is JSON Lines, packed
with zstd unless --no-compress says otherwise.`,
		Example: `  turnstone bundle export --session tidewatch tidewatch.bundle
  turnstone bundle verify tidewatch.bundle
  turnstone bundle import tidewatch.bundle --as copy`,
	}, a.bundleExportCommand(), a.bundleVerifyCommand(), a.bundleImportCommand())
}

// bundleJSON is a bundle on the command line.
type bundleJSON struct {
	File      string      `json:"file,omitempty"`
	Records   int64       `json:"records"`
	SHA256    string      `json:"sha256"`
	CreatedAt string      `json:"created_at"`
	Session   sessionJSON `json:"session"`
}

func newBundleJSON(file string, b replay.Bundle) bundleJSON {
	return bundleJSON{
		File: file, Records: b.Records, SHA256: b.SHA256, CreatedAt: timeJSON(b.CreatedAt), Session: newSessionJSON(b.Session),
	}
}

// tracked draws a bar while work reports how far it is.
func (a *app) tracked(label string, work func(report func(done, total int64)) error) error {
	bar := a.bar(progress.Config{Label: label, Unit: "turns"})
	defer bar.Clear()
	return work(bar.Report)
}

// stdio stands for standard input or output in place of a file.
const stdio = "-"

// withBundle runs fn on a bundle that can be opened more than once. Standard input is kept in a
// temporary file for that.
func (a *app) withBundle(ctx context.Context, path string, fn func(open func() (io.ReadCloser, error)) error) (err error) {
	if path == stdio {
		if path, err = a.spool(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.Remove(path)) }()
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usage("name a file in it", "file %s: is a folder", path)
	}
	return fn(func() (io.ReadCloser, error) { return os.Open(path) })
}

// spool copies standard input to a temporary file.
func (a *app) spool(ctx context.Context) (path string, err error) {
	f, err := os.CreateTemp("", "turnstone-*.bundle")
	if err != nil {
		return "", fmt.Errorf("temporary file: %w", err)
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	// Buffered, so that the copy can end after nobody waits for it any more.
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(f, a.stdin)
		copied <- err
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case err := <-copied:
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return "", fmt.Errorf("standard input: %w", err)
		}
		return f.Name(), nil
	}
}
