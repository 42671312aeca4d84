package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/internal/sqlmigrate"
	"github.com/turnstone-dev/turnstone/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the schema to the version this program knows.
func migrate(ctx context.Context, c *pgx.Conn) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("migrations: %w", err)
	}
	list, err := sqlmigrate.Load(files)
	if err != nil {
		return err
	}
	err = sqlmigrate.Run(ctx, database{c}, list)
	var newer *sqlmigrate.NewerError
	if errors.As(err, &newer) {
		return &store.NewerSchemaError{Have: newer.Have, Know: newer.Know}
	}
	return err
}

// database is a connection as migrations see it. Tables are in the schema that comes first in the
// search_path: those of the same name in later ones are somebody else's.
type database struct{ *pgx.Conn }

// Version implements [sqlmigrate.DB].
func (d database) Version(ctx context.Context) (version int, err error) {
	var there bool
	err = d.QueryRow(ctx, `SELECT to_regclass(quote_ident(current_schema()) || '.schema_migrations') IS NOT NULL`).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	err = d.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM schema_migrations`).Scan(&version)
	return version, err
}

// The lock's two numbers say whose it is and of which schema.
const lockNumbers = `hashtext('turnstone migrations'), hashtext(coalesce(current_schema(), ''))`

// Lock implements [sqlmigrate.DB]. It is the session's, so that it lasts over several transactions
// and ends with the connection. A long migration of another process is waited for.
func (d database) Lock(ctx context.Context) (unlock func() error, err error) {
	if _, err := d.Exec(ctx, `SET lock_timeout = 0`); err != nil {
		return nil, err
	}
	if _, err := d.Exec(ctx, `SELECT pg_advisory_lock(`+lockNumbers+`)`); err != nil {
		return nil, err
	}
	return func() error {
		if d.IsClosed() {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
		defer cancel()
		_, err := d.Exec(ctx, `SELECT pg_advisory_unlock(`+lockNumbers+`)`)
		if err == nil {
			_, err = d.Exec(ctx, `RESET lock_timeout`)
		}
		return err
	}, nil
}

// Apply implements [sqlmigrate.DB].
func (d database) Apply(ctx context.Context, m sqlmigrate.Migration) error {
	return pgx.BeginFunc(ctx, d.Conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations
			(version bigint PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)`)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, m.SQL, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO schema_migrations (version, name, applied_at)
			VALUES ($1, $2, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`, m.Version, m.Name)
		return err
	})
}
