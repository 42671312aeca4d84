// Package sqlmigrate brings the schema of a database to the version the program
// knows, with numbered SQL files and a row in schema_migrations for each that was
// applied. It knows no SQL dialect: a store hands it a [DB].
package sqlmigrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
)

// Migration is one step from the version before it.
type Migration struct {
	Version int    // 1 for the first
	Name    string // what the file is called between number and ending
	SQL     string // the whole file
}

// String is the file's name without its ending: 0001_log.
func (m Migration) String() string { return fmt.Sprintf("%04d_%s", m.Version, m.Name) }

// DB is what a store provides.
type DB interface {
	// Version returns the highest version in schema_migrations, 0 where that
	// table does not exist. It is called without the lock too.
	Version(ctx context.Context) (int, error)

	// Lock waits until no other process migrates this database and keeps others
	// waiting until unlock is called. unlock must work after ctx is cancelled,
	// and the lock must end with the process.
	Lock(ctx context.Context) (unlock func() error, err error)

	// Apply runs the migration's SQL and adds its row (version, name,
	// applied_at) to schema_migrations, which it creates where needed, in one
	// transaction.
	Apply(ctx context.Context, m Migration) error
}

// NewerError says that a newer program has changed the database. Nothing was
// touched.
type NewerError struct {
	Have int // the database's version
	Know int // the newest version this program knows
}

// Error names both versions and the way out.
func (e *NewerError) Error() string {
	return fmt.Sprintf("the database has schema version %d and this program knows versions up to %d; upgrade the program", e.Have, e.Know)
}

var fileName = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)

// Load reads the migrations in the root of fsys: files named like 0001_log.sql,
// numbered from 1 without gaps or repeats. Any other file is an error, and so
// is finding none.
func Load(fsys fs.FS) ([]Migration, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, fmt.Errorf("list of migrations: %w", err)
	}
	var migrations []Migration
	for _, entry := range entries { // in the order of their names
		parts := fileName.FindStringSubmatch(entry.Name())
		if parts == nil {
			return nil, fmt.Errorf("migration %s: name it like 0001_name.sql", entry.Name())
		}
		version := len(migrations) + 1
		if want := fmt.Sprintf("%04d", version); parts[1] != want {
			return nil, fmt.Errorf("migration %s: its number must be %s, without gaps or repeats", entry.Name(), want)
		}
		text, err := fs.ReadFile(fsys, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("migration %s: %w", entry.Name(), err)
		}
		migrations = append(migrations, Migration{Version: version, Name: parts[2], SQL: string(text)})
	}
	if len(migrations) == 0 {
		return nil, errors.New("list of migrations: there are none")
	}
	return migrations, nil
}

// Run applies the migrations the database does not have yet, each in a
// transaction of its own, so that after an error or a crash the next Run goes on
// where this one stopped. Any number of processes may call it at once: one
// applies, the others wait for it and find nothing left to do. A database that
// is up to date is only read. A newer one is refused with [*NewerError].
//
// migrations must be as [Load] returned them.
func Run(ctx context.Context, db DB, migrations []Migration) (err error) {
	left, err := pending(ctx, db, migrations)
	if err != nil || len(left) == 0 {
		return err
	}
	unlock, err := db.Lock(ctx)
	if err != nil {
		return fmt.Errorf("lock for migrations: %w", err)
	}
	defer func() {
		if failure := unlock(); failure != nil {
			err = errors.Join(err, fmt.Errorf("unlock after migrations: %w", failure))
		}
	}()
	// Another process may have been faster while this one waited.
	if left, err = pending(ctx, db, migrations); err != nil {
		return err
	}
	for _, m := range left {
		if err := db.Apply(ctx, m); err != nil {
			return fmt.Errorf("migration %v: %w", m, err)
		}
	}
	return nil
}

// pending returns what the database lacks.
func pending(ctx context.Context, db DB, migrations []Migration) ([]Migration, error) {
	have, err := db.Version(ctx)
	if err != nil {
		return nil, fmt.Errorf("schema version: %w", err)
	}
	if have > len(migrations) {
		return nil, &NewerError{Have: have, Know: len(migrations)}
	}
	return migrations[have:], nil
}
