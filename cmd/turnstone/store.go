package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/postgres"
	"github.com/turnstone-dev/turnstone/store/sqlite"
	"github.com/turnstone-dev/turnstone/turn"
)

const (
	envStore  = "TURNSTONE_STORE"
	envTenant = "TURNSTONE_TENANT"
)

// purpose says what a store is opened for.
type purpose int

const (
	// toUse opens a store that is there; only the default file is made.
	toUse purpose = iota
	// toFind is toUse for a session that must be there, which a new store does not have.
	toFind
	// toMake makes the file where there is none, and its folder.
	toMake
)

// place is where a store is: a file or a database.
type place struct {
	path, url string
	given     bool // by flag or environment, so that it is not the default
	followUp  time.Duration
}

func (p place) String() string {
	if p.url != "" {
		return p.url
	}
	return p.path
}

// storePlace is where --store, the environment or the default say the store is.
func (a *app) storePlace() (place, error) {
	given := a.storeFlag
	if given == "" {
		given = a.getenv(envStore)
	}
	if given != "" {
		p, err := a.parsePlace("--store", given)
		p.given = true
		return p, err
	}
	dir, err := dataDir(runtime.GOOS, a.getenv)
	if err != nil {
		return place{}, err
	}
	return place{path: filepath.Join(dir, "turnstone.db")}, nil
}

// parsePlace reads a file path or a URL. Name says where it was given.
func (a *app) parsePlace(name, given string) (place, error) {
	scheme, _, isURL := strings.Cut(given, "://")
	switch {
	case !isURL:
		return place{path: given}, nil
	case scheme == "postgres" || scheme == "postgresql":
		a.protect(given)
		return place{url: given}, nil
	}
	return place{}, usage("give a file path or a postgres:// URL", "%s: %s:// is not known", name, scheme)
}

// openStore opens the store the user means.
func (a *app) openStore(ctx context.Context, why purpose) (store.Store, error) {
	p, err := a.storePlace()
	if err != nil {
		return nil, err
	}
	p.followUp = a.followUp
	st, err := p.open(ctx, why)
	check := "check " + a.source("store", a.storeFlag != "")
	switch {
	case !p.given || why == toMake || !errors.Is(err, fs.ErrNotExist):
		return st, err
	case why == toUse:
		check += ", or make it with: " + a.line("session create")
	}
	return nil, &advised{err: err, next: check}
}

// line is a command line that works on the same store and tenant as this one.
func (a *app) line(command string) string {
	line := "turnstone"
	for _, f := range [][2]string{{"--config", a.configFlag}, {"--store", a.storeFlag}, {"--tenant", a.tenantFlag}} {
		if f[1] != "" {
			line += " " + f[0] + " " + quoted(f[1])
		}
	}
	return line + " " + command
}

var plainWord = regexp.MustCompile(`^[\w./:@%+=-]+$`)

// quoted writes a word as a shell takes it.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

func (p place) open(ctx context.Context, why purpose) (store.Store, error) {
	if p.url != "" {
		st, err := postgres.Open(ctx, p.url, postgres.Config{LightTimeout: p.followUp})
		if err != nil {
			return nil, err
		}
		return st, nil
	}
	if err := p.prepare(ctx, why); err != nil {
		return nil, err
	}
	st, err := sqlite.Open(ctx, p.path, sqlite.Config{LightTimeout: p.followUp})
	var bad *turn.FieldError
	switch {
	case errors.As(err, &bad) && bad.Name == "path":
		return nil, p.noStore(bad.Problem)
	case err != nil:
		return nil, err
	}
	return st, nil
}

// tenant is whose sessions are meant.
func (a *app) tenant() string {
	if a.tenantFlag != "" {
		return a.tenantFlag
	}
	return a.getenv(envTenant)
}

// withEngine runs fn on an engine for the user's store and tenant, and closes it.
func (a *app) withEngine(ctx context.Context, why purpose, config turnstone.Config, fn func(*turnstone.Engine) error) error {
	st, err := a.openStore(ctx, why)
	if err != nil {
		return err
	}
	return a.onEngine(ctx, st, config, fn)
}

// onEngine is withEngine on a store that is open, which it closes.
func (a *app) onEngine(ctx context.Context, st store.Store, config turnstone.Config, fn func(*turnstone.Engine) error) (err error) {
	config.Tenant = a.tenant()
	eng, err := turnstone.Open(ctx, st, config)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	defer func() { err = errors.Join(err, eng.Close()) }()
	return fn(eng)
}

// withSession runs fn on a session that is there.
func (a *app) withSession(ctx context.Context, id string, fn func(*turnstone.Session) error) error {
	return a.withEngine(ctx, toFind, turnstone.Config{}, func(eng *turnstone.Engine) error {
		s, err := a.find(ctx, eng, id)
		if err != nil {
			return err
		}
		return fn(s)
	})
}

// find returns a session that is there, or says how to come to one.
func (a *app) find(ctx context.Context, eng *turnstone.Engine, id string) (*turnstone.Session, error) {
	s, err := eng.Find(ctx, id)
	return s, advise(err, turn.ErrNotFound, "see which there are with: "+a.line("session list"))
}
