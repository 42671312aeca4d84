package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/store"
)

// forgettingRows is the transaction as forgetting sees it.
type forgettingRows struct{ *tx }

// Forgetting implements [store.Tx].
func (t *tx) Forgetting() store.Forgetting { return forgettingRows{t} }

// rewrite is a row that is to be written over or deleted.
type rewrite struct {
	verdict store.Verdict
	key     []any
	columns []int
	values  []any // of the columns
}

// Rewrite implements [store.Forgetting].
func (r forgettingRows) Rewrite(ctx context.Context, tenant, name string, among store.Among, fn func([]any) (store.Verdict, error)) (int, error) {
	if err := r.usable(ctx); err != nil {
		return 0, err
	}
	table, err := store.Rewritable(name, among)
	if err != nil || among.None() {
		return 0, err
	}
	if name == "turns" && r.writable {
		if err := r.claimMarks(ctx, tenant, among.Segments); err != nil {
			return 0, err
		}
	}
	rewrites, err := r.judge(ctx, table, tenant, among, fn)
	if err != nil || len(rewrites) == 0 {
		return 0, err
	}
	if err := r.writing(ctx); err != nil {
		return 0, err
	}
	for i := range rewrites {
		w := &rewrites[i]
		if name == "turns" {
			r.later("words of forgotten turns", `DELETE FROM turn_text WHERE tenant = $1 AND segment = $2 AND seq = $3`, w.key...)
		}
		if err := r.apply(ctx, table, w); err != nil {
			return 0, err
		}
	}
	return len(rewrites), nil
}

// claimMarks keeps the indexer away from segments until the transaction ends: it may have read their turns already, and
// would add their words again.
func (r forgettingRows) claimMarks(ctx context.Context, tenant string, segments []int64) error {
	for _, segment := range segments {
		r.later("", `INSERT INTO text_marks (tenant, segment, through_seq) VALUES ($1, $2, 0) ON CONFLICT DO NOTHING`, tenant, segment)
	}
	return r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
		}
		return nil
	}, `SELECT through_seq FROM text_marks WHERE tenant = $1 AND segment = ANY ($2) ORDER BY segment FOR UPDATE`, tenant, segments)
}

// judge asks what becomes of the rows.
func (r forgettingRows) judge(ctx context.Context, table *store.Table, tenant string, among store.Among, fn func([]any) (store.Verdict, error)) (rewrites []rewrite, err error) {
	where, args := ` WHERE tenant = $1`, []any{tenant}
	switch column, _, some := among.Column(); {
	case column == "segment":
		args = append(args, among.Segments)
		where += ` AND segment = ANY ($2)`
	case column == "session_id":
		args = append(args, among.Sessions)
		where += ` AND session_id = ANY ($2)`
	case column == "sha256":
		args = append(args, among.Hashes)
		where += ` AND sha256 = ANY ($2)`
	case some:
		args = append(args, among.User)
		where += ` AND ` + column + ` = $2`
	}
	limit := ""
	if among.Limit > 0 {
		limit = fmt.Sprintf(" LIMIT %d", among.Limit)
	}
	var refused error
	err = r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			values, err := rows.Values()
			if err != nil {
				return err
			}
			var w rewrite
			for _, name := range table.Key {
				w.key = append(w.key, values[table.Position(name)])
			}
			if w.verdict, w.columns, refused = table.Judge(values, fn); refused != nil {
				return refused
			}
			if w.verdict == store.Keep {
				continue
			}
			for _, i := range w.columns {
				w.values = append(w.values, values[i])
			}
			rewrites = append(rewrites, w)
		}
		return nil
	}, `SELECT `+strings.Join(columnNames(*table), ", ")+` FROM `+table.Name+where+` ORDER BY `+strings.Join(table.Key, ", ")+limit, args...)
	if refused != nil {
		return nil, refused
	}
	return rewrites, err
}

func (r forgettingRows) apply(ctx context.Context, table *store.Table, w *rewrite) error {
	args := append([]any{}, w.key...)
	where := make([]string, len(table.Key))
	for i, name := range table.Key {
		where[i] = fmt.Sprintf("%s = $%d", name, i+1)
	}
	sql := `DELETE FROM ` + table.Name
	if w.verdict == store.Change {
		names := columnNames(*table)
		set := make([]string, len(w.columns))
		for i, c := range w.columns {
			args = append(args, w.values[i])
			set[i] = fmt.Sprintf("%s = $%d", names[c], len(args))
		}
		sql = `UPDATE ` + table.Name + ` SET ` + strings.Join(set, ", ")
	}
	return r.write(ctx, "forgotten row of "+table.Name, sql+` WHERE `+strings.Join(where, " AND "), args...)
}

// Scrub implements [store.Store]. Rows that were deleted or written over are dead to every query and every dump at
// once. Their bytes are the server's, which clears them away by itself in time; see the package comment.
func (s *Store) Scrub(ctx context.Context) error {
	return s.View(ctx, func(store.Tx) error { return nil })
}
