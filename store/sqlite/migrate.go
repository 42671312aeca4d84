package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/sqlmigrate"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID is what the first migration marks the file with: "Turn".
const applicationID = 0x5475726e

func migrations() ([]sqlmigrate.Migration, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	return sqlmigrate.Load(files)
}

// migrate brings the file to the newest schema.
func (s *Store) migrate(ctx context.Context, c *lite.Conn) error {
	known, err := migrations()
	if err != nil {
		return err
	}
	return newerSchema(sqlmigrate.Run(ctx, schema{s, c}, known))
}

// checkSchema is migrate for a file that cannot be written to.
func (s *Store) checkSchema(ctx context.Context, c *lite.Conn) error {
	known, err := migrations()
	if err != nil {
		return err
	}
	have, err := schema{s, c}.Version(ctx)
	if err != nil {
		return err
	}
	switch {
	case have > len(known):
		return &store.NewerSchemaError{Have: have, Know: len(known)}
	case have < len(known):
		return fmt.Errorf("%w: its schema is version %d, this program needs %d; open it once where it can be written to",
			store.ErrReadOnly, have, len(known))
	}
	return nil
}

func newerSchema(err error) error {
	var newer *sqlmigrate.NewerError
	if errors.As(err, &newer) {
		return &store.NewerSchemaError{Have: newer.Have, Know: newer.Know}
	}
	return err
}

// schema is the file as migrations see it.
type schema struct {
	s *Store
	c *lite.Conn
}

// Version implements [sqlmigrate.DB]. A database that another program made is refused.
func (m schema) Version(context.Context) (int, error) {
	tables, err := m.number(`SELECT count(*) FROM sqlite_master`)
	if err != nil || tables == 0 {
		return 0, err
	}
	mark, err := m.number(`PRAGMA application_id`)
	if err != nil {
		return 0, err
	}
	if mark != applicationID {
		return 0, invalid.New("path", "it is the database of another program", "give another file name")
	}
	return m.number(`SELECT coalesce(max(version), 0) FROM schema_migrations`)
}

func (m schema) number(sql string) (int, error) {
	q := m.c.Prepare(sql)
	defer q.Close()
	if _, err := q.Step(); err != nil {
		return 0, err
	}
	return int(q.ReadInt()), nil
}

// Lock implements [sqlmigrate.DB]: the transaction that writes is the lock, and unlock its end.
func (m schema) Lock(context.Context) (func() error, error) {
	if err := m.c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return nil, err
	}
	return func() error { return m.c.Exec(`COMMIT`) }, nil
}

// Apply implements [sqlmigrate.DB], inside the transaction of Lock.
func (m schema) Apply(_ context.Context, migration sqlmigrate.Migration) error {
	if err := m.c.Exec(`SAVEPOINT migration`); err != nil {
		return err
	}
	err := m.apply(migration)
	if err != nil && m.c.InTransaction() {
		err = errors.Join(err, m.c.Exec(`ROLLBACK TO migration`))
	}
	if m.c.InTransaction() {
		err = errors.Join(err, m.c.Exec(`RELEASE migration`))
	}
	return err
}

func (m schema) apply(migration sqlmigrate.Migration) error {
	err := m.c.Exec(`CREATE TABLE IF NOT EXISTS schema_migrations (
		version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)`)
	if err != nil {
		return err
	}
	if err := m.c.Exec(migration.SQL); err != nil {
		return err
	}
	return m.c.Prepare(`INSERT INTO schema_migrations (version, name, applied_at) VALUES (?, ?, ?)`).
		Int(int64(migration.Version)).Text(migration.Name).Int(micros(m.s.now())).Run()
}
