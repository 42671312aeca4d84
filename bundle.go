package turnstone

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
)

// WriteBundle writes the session as it is now to w; see package replay for the format.
func (s *Session) WriteBundle(ctx context.Context, w io.Writer, o replay.WriteOptions) (b replay.Bundle, err error) {
	err = s.engine.store.View(ctx, func(tx store.Tx) (err error) {
		b, err = replay.Write(ctx, tx, s.key, w, o)
		return err
	})
	return b, err
}

// ImportBundle makes a session of a bundle. It belongs to the engine's tenant, whatever the bundle's was, and has the bundle's id or
// the one that the options give. The engine's limits hold for it.
//
// All of the bundle is read and checked first. Then it is written in pieces that appear at once at their end. After an error nothing
// of it is there. Open is called once for each reading, and its answer is closed.
//
// Errors are those of [replay.Import]: [turn.ErrExists] if the session is there already, [replay.ErrDamaged] for what is no
// whole bundle.
func (e *Engine) ImportBundle(ctx context.Context, open func() (io.ReadCloser, error), o replay.ImportOptions) (*Session, error) {
	o.Tenant, o.Limits = e.config.Tenant, e.config.Limits
	info, err := replay.Import(ctx, e.store, open, o)
	if err != nil {
		return nil, err
	}
	return e.Find(ctx, info.Session)
}

// keepBundle writes the bundle into the configured folder, whole or not at all, and returns where,
// and at which turn the session stood.
func (s *Session) keepBundle(ctx context.Context) (path string, head int64, err error) {
	if s.engine.config.BundleDir == "" {
		info, err := s.Info(ctx)
		return "", info.Head, err
	}
	head, err = s.writeBundle(ctx, s.BundlePath())
	return s.BundlePath(), head, err
}

// writeBundle puts the session's bundle at path and returns at which turn the session stood.
func (s *Session) writeBundle(ctx context.Context, path string) (head int64, err error) {
	err = s.keepFile(ctx, path, func(f *os.File) error {
		b, err := s.WriteBundle(ctx, f, replay.WriteOptions{Compress: true})
		head = b.Session.Head
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("bundle of %s: %w", s.key.Session, err)
	}
	return head, nil
}

// keepFile puts what write writes of the session at path, whole or not at all. It makes the folder. The session is not
// forgotten meanwhile: what was read before would come back with the file.
func (s *Session) keepFile(ctx context.Context, path string, write func(*os.File) error) error {
	_, leave, err := s.engine.shared.files.take(ctx, s.key)
	if err != nil {
		return err
	}
	defer leave()
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// One that cannot be removed, such as one that is open on Windows, is none of this session's.
	_ = removeAbandoned(dir)
	f, err := os.CreateTemp(dir, unfinished(path)+"*")
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncFolder(dir)
}

// unfinished is what the name of a file begins with that is to be put at path; digits follow.
func unfinished(path string) string { return "." + filepath.Base(path) + "-" }

// syncFolder makes a rename durable. Windows has no such thing and needs none.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// fileName turns a name into one that every file system takes as it is, and that no other name
// turns into: small letters, digits, - and _ stay, a dot stays behind them, all else becomes %XX.
func fileName(name string) string {
	const most = 200
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	if b.Len() <= most {
		return b.String()
	}
	return fmt.Sprintf("%.*s%%%x", most-40, b.String(), sha256.Sum256([]byte(name)))
}
