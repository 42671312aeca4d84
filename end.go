package turnstone

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// End closes calls left open, writes the session's bundle if a folder for bundles is configured,
// and marks the session as ended. It returns the bundle's path, empty where none is made. Appending
// to an ended session reopens it. A *[turn.LeaseHeldError] says that somebody is at work on it.
func (s *Session) End(ctx context.Context) (bundle string, err error) {
	lease, err := s.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer func() {
		// A lease that was lost on the way is somebody else's to release.
		if rerr := lease.Release(context.WithoutCancel(ctx)); rerr != nil && !errors.Is(rerr, turn.ErrLeaseLost) {
			err = errors.Join(err, rerr)
		}
	}()
	for {
		// The bundle comes first: a crash in between leaves a session that will be ended again,
		// never one that ended without its bundle.
		var info turn.SessionInfo
		if bundle, info, err = s.keepBundle(ctx); err != nil {
			return "", err
		}
		ended, err := lease.end(ctx, info.Head)
		if ended || err != nil {
			return bundle, err
		}
		if err := lease.Renew(ctx); err != nil {
			return "", err
		}
	}
}

// EndIdle ends every session of the tenant that has rested for the configured time, and returns
// their ids. Sessions that somebody holds are left alone.
func (e *Engine) EndIdle(ctx context.Context) ([]string, error) {
	var idle []turn.SessionInfo
	err := e.store.View(ctx, func(tx store.Tx) error {
		f := turn.SessionFilter{
			Tenant: e.config.Tenant, Status: turn.Active, IdleSince: tx.Now().Add(-e.config.IdleAfter), Limit: 1000,
		}
		for {
			page, err := tx.Log().Sessions(ctx, f)
			idle = append(idle, page...)
			if err != nil || len(page) < f.Limit {
				return err
			}
			f.Before = page[len(page)-1].Segment
		}
	})
	if err != nil {
		return nil, fmt.Errorf("idle sessions: %w", err)
	}
	var ended []string
	for _, info := range idle {
		s := &Session{engine: e, key: info.Key}
		_, err := s.End(ctx)
		var held *turn.LeaseHeldError
		if errors.As(err, &held) {
			continue
		}
		if err != nil {
			return ended, err
		}
		ended = append(ended, info.Session)
	}
	return ended, nil
}

// WriteBundle writes the session as it is now to w; see package replay for the format.
func (s *Session) WriteBundle(ctx context.Context, w io.Writer, o replay.WriteOptions) (sum replay.Bundle, err error) {
	err = s.engine.store.View(ctx, func(tx store.Tx) (err error) {
		sum, err = replay.Write(ctx, tx, s.key, w, o)
		return err
	})
	return sum, err
}

// keepBundle writes the bundle into the configured folder, whole or not at all.
func (s *Session) keepBundle(ctx context.Context) (path string, info turn.SessionInfo, err error) {
	dir := s.engine.config.BundleDir
	if dir == "" {
		info, err = s.Info(ctx)
		return "", info, err
	}
	// Ids may hold a colon, which not every file system takes.
	dir = filepath.Join(dir, url.QueryEscape(s.key.Tenant))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", info, fmt.Errorf("folder for bundles: %w", err)
	}
	path = filepath.Join(dir, url.QueryEscape(s.key.Session)+".bundle")
	f, err := os.CreateTemp(dir, ".bundle-*")
	if err != nil {
		return "", info, fmt.Errorf("bundle of %s: %w", s.key.Session, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	sum, err := s.WriteBundle(ctx, f, replay.WriteOptions{Compress: true})
	if err != nil {
		return "", info, err
	}
	if err = f.Sync(); err != nil {
		return "", info, fmt.Errorf("bundle of %s: %w", s.key.Session, err)
	}
	if err = f.Close(); err != nil {
		return "", info, fmt.Errorf("bundle of %s: %w", s.key.Session, err)
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return "", info, fmt.Errorf("bundle of %s: %w", s.key.Session, err)
	}
	return path, sum.Session, nil
}
