package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// maxReused is how many bytes the relations of a schema may take: what deleted rows leave behind makes reading slower.
const maxReused = 8 << 20

// used is a schema with tables.
type used struct {
	name, url string
	tables    []string // those that had no rows when they were made
	kept      []string // the others
	print     string   // what the catalog and the kept rows were then
}

// recycler hands out the schemas of one process again and again.
type recycler struct {
	owner string // begins the names of its schemas

	// mu guards what follows.
	mu   sync.Mutex
	conn *pgx.Conn // its lock says that the owner is there
	free []*used
}

var schemas = recycler{owner: "r_" + strings.ToLower(rand.Text())}

// Reused is [URL] of a schema in which prepare, which is the same for all tests of a process, has made tables. They
// hold the rows that prepare left there and may have held others for an earlier test: making tables takes fifty times
// as long as deleting some rows. A test may change the tables themselves, as its schema is not handed out again then.
//
// The schemas of a process stay when it ends. The next that calls Reused on the same cluster drops them.
func Reused(t testing.TB, prepare func(url string) error) string {
	t.Helper()
	cluster := address(t)
	// The test's own context is cancelled before its cleanup runs.
	ctx := context.WithoutCancel(t.Context())
	s, err := schemas.take(ctx, cluster, prepare)
	if err != nil {
		t.Fatalf("schema for test: %v", err)
	}
	t.Cleanup(func() {
		if err := schemas.putBack(ctx, s); err != nil {
			t.Errorf("schema of test (a connection left open may hold it): %v", err)
		}
	})
	return s.url
}

// take returns a schema that nobody uses, or makes one.
func (r *recycler) take(ctx context.Context, cluster string, prepare func(url string) error) (*used, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		conn, err := pgx.Connect(ctx, cluster)
		if err != nil {
			return nil, err
		}
		if err := r.arrive(ctx, conn); err != nil {
			return nil, errors.Join(err, conn.Close(ctx))
		}
		r.conn = conn
	}
	if last := len(r.free) - 1; last >= 0 {
		s := r.free[last]
		r.free = r.free[:last]
		return s, nil
	}
	s := &used{name: r.owner + "_" + strings.ToLower(rand.Text())}
	if _, err := r.conn.Exec(ctx, "CREATE SCHEMA "+s.name); err != nil {
		return nil, err
	}
	var err error
	if s.url, err = withParameters(cluster, map[string]string{"search_path": s.name, "application_name": s.name, "connect_timeout": patience}); err != nil {
		return nil, err
	}
	if err := prepare(s.url); err != nil {
		return nil, err
	}
	return s, pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) error { return s.inspect(ctx, tx) })
}

// arrive drops the schemas of processes that are gone.
func (r *recycler) arrive(ctx context.Context, conn *pgx.Conn) error {
	const lock = `SELECT pg_try_advisory_lock(hashtext($1))`
	var mine bool
	if err := conn.QueryRow(ctx, lock, r.owner).Scan(&mine); err != nil {
		return err
	}
	if !mine {
		return fmt.Errorf("the lock %s is somebody else's", r.owner)
	}
	left, err := column(ctx, conn, `SELECT nspname::text FROM pg_namespace WHERE nspname LIKE 'r\_%' ORDER BY nspname`)
	for _, name := range left {
		owner := name[:strings.LastIndex(name, "_")]
		var gone bool
		if err := conn.QueryRow(ctx, lock, owner).Scan(&gone); err != nil {
			return err
		}
		if !gone {
			continue
		}
		_, err = conn.Exec(ctx, `DROP SCHEMA IF EXISTS `+name+` CASCADE`)
		if _, unlock := conn.Exec(ctx, `SELECT pg_advisory_unlock(hashtext($1))`, owner); err != nil || unlock != nil {
			return errors.Join(err, unlock)
		}
	}
	return err
}

// putBack empties a schema for the next test, or drops it where that would find another than was made.
func (r *recycler) putBack(ctx context.Context, s *used) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := false
	err := r.await(ctx, s)
	if err == nil {
		err = pgx.BeginFunc(ctx, r.conn, func(tx pgx.Tx) (err error) {
			same, err = s.empty(ctx, tx)
			return err
		})
	}
	if err == nil && same {
		r.free = append(r.free, s)
		return nil
	}
	// Why it could not be emptied does not matter where it can be dropped: its tables may be gone.
	_, err = r.conn.Exec(ctx, "SET lock_timeout = '2min'; DROP SCHEMA IF EXISTS "+s.name+" CASCADE; RESET lock_timeout", pgx.QueryExecModeSimpleProtocol)
	return err
}

// await waits until the server has ended the connections that the test has closed. It may have read their last
// statements late.
func (r *recycler) await(ctx context.Context, s *used) error {
	for over := time.Now().Add(2 * time.Minute); time.Now().Before(over); {
		var still int
		err := r.conn.QueryRow(ctx, `SELECT count(pg_sleep(0.005)) FROM pg_stat_activity WHERE application_name = $1`, s.name).Scan(&still)
		if err != nil || still == 0 {
			return err
		}
	}
	return fmt.Errorf("a connection to %s is still open", s.name)
}

// inspect notes what a schema that was just made has.
func (s *used) inspect(ctx context.Context, tx pgx.Tx) error {
	tables, err := column(ctx, tx, `SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = $1::regnamespace ORDER BY 1`, s.name)
	if err != nil {
		return err
	}
	for _, table := range tables {
		var rows bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM `+s.name+"."+table+`)`).Scan(&rows); err != nil {
			return err
		}
		if rows {
			s.kept = append(s.kept, s.name+"."+table)
		} else {
			s.tables = append(s.tables, s.name+"."+table)
		}
	}
	s.print, err = s.fingerprint(ctx, tx)
	return err
}

// empty deletes the rows that a test wrote and says whether the schema is as it was made.
func (s *used) empty(ctx context.Context, tx pgx.Tx) (same bool, err error) {
	all := slices.Concat(s.tables, s.kept)
	// Whoever still writes is waited for.
	statements := []string{`SET LOCAL lock_timeout = '2min'`, `LOCK TABLE ` + strings.Join(all, ", ") + ` IN ACCESS EXCLUSIVE MODE`}
	for _, table := range s.tables {
		statements = append(statements, `DELETE FROM `+table)
	}
	statements = append(statements, fmt.Sprintf(
		`SELECT setval(oid::regclass, 1, false) FROM pg_class WHERE relkind = 'S' AND relnamespace = '%s'::regnamespace`, s.name))
	if _, err := tx.Exec(ctx, strings.Join(statements, "; "), pgx.QueryExecModeSimpleProtocol); err != nil {
		return false, err
	}
	var size int64
	err = tx.QueryRow(ctx, `SELECT coalesce(sum(pg_relation_size(oid)), 0) FROM pg_class WHERE relnamespace = $1::regnamespace`, s.name).Scan(&size)
	if err != nil || size > maxReused {
		return false, err
	}
	print, err := s.fingerprint(ctx, tx)
	return print == s.print, err
}

// fingerprint is another after every change of what there is in the schema, and of the rows that are kept.
func (s *used) fingerprint(ctx context.Context, tx pgx.Tx) (print string, err error) {
	parts := []string{
		`SELECT 'r' || oid || ' ' || xmin FROM pg_class WHERE relnamespace = $1::regnamespace`,
		`SELECT 'a' || attrelid || ' ' || attnum || ' ' || a.xmin FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = $1::regnamespace`,
		`SELECT 'i' || indexrelid || ' ' || i.xmin FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = $1::regnamespace`,
		`SELECT 't' || t.oid || ' ' || t.xmin FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = $1::regnamespace`,
		`SELECT 'c' || oid || ' ' || xmin FROM pg_constraint WHERE connamespace = $1::regnamespace`,
		`SELECT 'f' || oid || ' ' || xmin FROM pg_proc WHERE pronamespace = $1::regnamespace`,
	}
	for _, table := range s.kept {
		parts = append(parts, `SELECT 'k' || k::text FROM `+table+` k`)
	}
	err = tx.QueryRow(ctx, `SELECT coalesce(md5(string_agg(line, ',' ORDER BY line COLLATE "C")), '') FROM (`+strings.Join(parts, " UNION ALL ")+`) AS parts (line)`, s.name).Scan(&print)
	return print, err
}

// column returns the one column that a statement selects.
func column(ctx context.Context, conn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, sql string, args ...any) ([]string, error) {
	rows, err := conn.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
