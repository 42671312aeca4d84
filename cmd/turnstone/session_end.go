package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
)

const envSessions = "TURNSTONE_SESSIONS"

type endOptions struct {
	idle      bool
	idleAfter time.Duration
	dir       string
	sessions  string
	noBundle  bool
}

func (a *app) sessionEndCommand() *cobra.Command {
	var o endOptions
	cmd := &cobra.Command{
		Use:   "end SESSION...",
		Short: "End sessions and keep their bundles",
		Long: `End sessions: tool calls left open are closed as cancelled, and the session's bundle is
written. Appending to an ended session goes on with it.

Bundles go to --bundle-dir, by default a folder beside the store's file: turnstone.db-bundles.
For a store in PostgreSQL there is no such folder, and without --bundle-dir no bundle is made. The store keeps where they
were written, so that turnstone forget reaches them there.

With --sessions-dir, or TURNSTONE_SESSIONS in the environment, the whole history is also written there as
TENANT/SESSION.json, the document of turnstone export --format session; the answer says where.`,
		Example: "  turnstone session end tidewatch\n  turnstone session end --idle --idle-after 60m",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := exclusive(cmd, "bundle-dir", "no-bundle"); err != nil {
				return err
			}
			config, err := a.endConfig(o)
			if err != nil {
				return err
			}
			return a.withEngine(cmd.Context(), toFind, config, func(eng *turnstone.Engine) error {
				if o.idle {
					return a.endIdle(cmd.Context(), eng)
				}
				return a.endEach(cmd.Context(), eng, args)
			})
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if o.idle {
				return arguments()(cmd, args)
			}
			return arguments("SESSION...")(cmd, args)
		},
		ValidArgsFunction: a.completeSessions,
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.idle, "idle", false, "end all sessions that rest and that nobody holds")
	flags.DurationVar(&o.idleAfter, "idle-after", time.Hour, "how long a session must have rested")
	flags.StringVar(&o.dir, "bundle-dir", "", "`folder` for the bundles")
	flags.StringVar(&o.sessions, "sessions-dir", "", "`folder` for session documents (default none is written)")
	flags.BoolVar(&o.noBundle, "no-bundle", false, "make no bundle")
	return cmd
}

func (a *app) endConfig(o endOptions) (turnstone.Config, error) {
	config := turnstone.Config{IdleAfter: o.idleAfter, BundleDir: o.dir, SessionsDir: o.sessions}
	sessions := "--sessions-dir"
	if config.SessionsDir == "" {
		config.SessionsDir, sessions = a.getenv(envSessions), envSessions
	}
	if err := errors.Join(canHold("--bundle-dir", o.dir), canHold(sessions, config.SessionsDir)); err != nil {
		return config, err
	}
	if o.idleAfter <= 0 {
		return config, usage("give a time such as 60m", "idle-after: %s is no time to rest", o.idleAfter)
	}
	if o.noBundle || o.dir != "" {
		return config, nil
	}
	p, err := a.storePlace()
	if err != nil {
		return config, err
	}
	if p.path != "" {
		// Beside the file, as SQLite does with its own: two stores never share bundles.
		config.BundleDir = p.path + "-bundles"
		return config, nil
	}
	a.note("no bundle is made: say where with --bundle-dir")
	return config, nil
}

// canHold refuses a folder that cannot be made because a file is in the way, before anything is ended.
func canHold(name, dir string) error {
	if dir == "" {
		return nil
	}
	for path := filepath.Clean(dir); ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			return usage("name a folder", "%s: %s is a file", name, path)
		case path == filepath.Dir(path):
			return nil // whatever is wrong, it is no file that is in the way
		}
	}
}

type endedJSON struct {
	Session  string `json:"session_id"`
	Bundle   string `json:"bundle,omitempty"`
	Document string `json:"document,omitempty"`
}

func (a *app) endEach(ctx context.Context, eng *turnstone.Engine, ids []string) error {
	for i, id := range ids {
		s, err := a.find(ctx, eng, id)
		if err != nil {
			return err
		}
		bundle, err := s.End(ctx)
		if err != nil {
			return err
		}
		a.stored = strings.Join(ids[:i+1], ", ") + " ended"
		if err := a.printEnded(endedJSON{id, bundle, s.DocumentPath()}); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) endIdle(ctx context.Context, eng *turnstone.Engine) error {
	ended, err := eng.EndIdle(ctx)
	for _, id := range ended {
		s, ferr := a.find(ctx, eng, id)
		if ferr == nil {
			ferr = a.printEnded(endedJSON{id, s.BundlePath(), s.DocumentPath()})
		}
		if ferr != nil {
			return ferr
		}
	}
	if err == nil && len(ended) == 0 {
		a.note("no session has rested that long")
	}
	return err
}

func (a *app) printEnded(e endedJSON) error {
	if a.json {
		return a.printJSON(e)
	}
	line := "ended " + e.Session
	for _, kept := range [][2]string{{"bundle", e.Bundle}, {"document", e.Document}} {
		if kept[1] != "" {
			line += ", " + kept[0] + ": " + kept[1]
		}
	}
	return a.printf("%s", line)
}
