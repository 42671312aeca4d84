package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/store"
)

// Check implements [store.Store]. It asks for indexes that PostgreSQL itself holds to be broken, reads
// every row of every table, which finds damaged pages, and has the indexes compared with their
// tables where the extension amcheck is installed.
func (s *Store) Check(ctx context.Context) (problems []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.running.Done()
	indexes, err := s.indexes(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range indexes {
		if !i.valid {
			problems = append(problems, fmt.Sprintf("index %s is not valid; run REINDEX INDEX %s", i.name, i.name))
		}
	}
	for _, table := range ownTables() {
		problem, err := s.ask(ctx, `SELECT max(length(row::text)) FROM `+table+` AS row`)
		if err != nil {
			return nil, err
		}
		if problem != nil {
			problems = append(problems, fmt.Sprintf("table %s cannot be read: %v", table, problem))
		}
	}
	for _, i := range indexes {
		if !i.comparable {
			continue
		}
		problem, err := s.ask(ctx, `SELECT bt_index_check($1::oid::regclass, true)`, i.oid)
		if err != nil {
			return nil, err
		}
		if problem != nil {
			problems = append(problems, fmt.Sprintf("index %s does not fit its table: %v; run REINDEX INDEX %s", i.name, problem, i.name))
		}
	}
	if failure := s.index.lastFailure(); failure != nil {
		problems = append(problems, fmt.Sprintf("the full-text index cannot be filled: %v", failure))
	}
	return problems, nil
}

// derived are the tables that are not in [store.Schema].
var derived = []string{"text_marks", "turn_text", "light_contexts", "intention_heads", "reminders",
	"memory_counts", "memory_unindexed", "memory_index", "outbox_claims", "prompt_ends", "event_places"}

// ownTables are the tables of this store; others may stand beside them.
func ownTables() []string {
	names := slices.Clone(derived)
	for _, table := range store.Schema {
		names = append(names, table.Name)
	}
	return names
}

type index struct {
	oid        uint32
	name       string
	valid      bool
	comparable bool // by amcheck
}

func (s *Store) indexes(ctx context.Context) (list []index, err error) {
	err = s.view(ctx, func(t *tx) error {
		return t.query(ctx, func(rows pgx.Rows) error {
			for rows.Next() {
				var i index
				if err := rows.Scan(&i.oid, &i.name, &i.valid, &i.comparable); err != nil {
					return err
				}
				list = append(list, i)
			}
			return nil
		}, `SELECT c.oid, c.relname::text, i.indisvalid AND i.indisready,
				am.amname = 'btree' AND c.relpersistence = 'p' AND i.indisvalid
				AND coalesce(has_function_privilege(to_regprocedure('bt_index_check(regclass, boolean)'), 'execute'), false)
			FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am am ON am.oid = c.relam
				JOIN pg_class t ON t.oid = i.indrelid
			WHERE t.relnamespace = quote_ident(current_schema())::regnamespace AND t.relname = ANY ($1) ORDER BY c.relname`, ownTables())
	})
	return list, err
}

// ask runs a statement whose error is a finding. What keeps it from being run at all is err.
func (s *Store) ask(ctx context.Context, sql string, args ...any) (problem, err error) {
	err = s.view(ctx, func(t *tx) error {
		return t.query(ctx, func(pgx.Rows) error { return nil }, sql, args...)
	})
	if errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil {
		return nil, err
	}
	return err, nil
}
