package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// list sends a statement and reads each of its rows with scan.
func list[T any](ctx context.Context, t *tx, scan func(pgx.Row) (T, error), sql string, args ...any) (all []T, err error) {
	err = t.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, v)
		}
		return nil
	}, sql, args...)
	return all, err
}

// one is list for at most one row; ok is false where there is none.
func one[T any](ctx context.Context, t *tx, scan func(pgx.Row) (T, error), sql string, args ...any) (v T, ok bool, err error) {
	err = t.row(ctx, func(row pgx.Row) (err error) {
		v, err = scan(row)
		return err
	}, sql, args...)
	if errors.Is(err, pgx.ErrNoRows) {
		return v, false, nil
	}
	return v, err == nil, err
}

// column is one column of rows as an array.
func column[T, V any](rows []T, value func(T) V) []V {
	values := make([]V, len(rows))
	for i, row := range rows {
		values[i] = value(row)
	}
	return values
}

// orNever is a time as a column that keeps none as NULL.
func orNever(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	us := t.UnixMicro()
	return &us
}

// stamp reads a column of microseconds into a time; NULL is the zero time.
type stamp time.Time

// ScanInt64 implements [pgtype.Int64Scanner].
func (s *stamp) ScanInt64(v pgtype.Int8) error {
	*s = stamp{}
	if v.Valid {
		*s = stamp(fromMicros(v.Int64))
	}
	return nil
}

// optional reads a column of text in which NULL stands for the empty one.
type optional string

// ScanText implements [pgtype.TextScanner].
func (o *optional) ScanText(v pgtype.Text) error {
	*o = optional(v.String)
	return nil
}
