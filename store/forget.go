package store

import (
	"context"
	"fmt"
	"slices"
)

// Forgetting is how rows that are never changed otherwise are written over: for forgetting, and for nothing else.
type Forgetting interface {
	// Rewrite shows fn the tenant's rows of a table of [Schema], those among the given ones, in the order of their
	// key, and then does with each what fn says. Fn may change the values in place, but not those of the key; they
	// are fn's until it returns. It must not use the transaction. Indexes that are made of the rows follow. It returns how many
	// rows were changed or deleted. Items of memory can only be looked at: [memory.Rows] deletes them. Turns are chosen by
	// their segments.
	//
	// In a view, rows can be looked at, and ErrReadOnly is the answer to what would change them. The cost may be that of
	// the whole table.
	Rewrite(ctx context.Context, tenant, table string, among Among, fn func(values []any) (Verdict, error)) (int, error)
}

// Among says which rows of a table are meant, by what it sets of these; the zero value means none.
type Among struct {
	All      bool     // of the tenant
	Segments []int64  // by the column segment
	Sessions []string // by session_id
	Hashes   []string // by sha256
	User     string   // by user_id
	Limit    int      // the first so many of them; 0 for all
}

// Verdict is what becomes of a row.
type Verdict int

// The verdicts.
const (
	Keep Verdict = iota
	Change
	Delete
)

// None reports whether no row is meant.
func (a Among) None() bool {
	return !a.All && len(a.Segments)+len(a.Sessions)+len(a.Hashes) == 0 && a.User == ""
}

// Column returns the column that rows are chosen by and its values; ok is false for all rows.
func (a Among) Column() (column string, values []any, ok bool) {
	switch {
	case a.Segments != nil:
		column = "segment"
		for _, v := range a.Segments {
			values = append(values, v)
		}
	case a.Sessions != nil:
		column, values = "session_id", anyOf(a.Sessions)
	case a.Hashes != nil:
		column, values = "sha256", anyOf(a.Hashes)
	case a.User != "":
		column, values = "user_id", []any{a.User}
	}
	return column, values, column != ""
}

func anyOf(texts []string) []any {
	values := make([]any, len(texts))
	for i, t := range texts {
		values[i] = t
	}
	return values
}

// Rewritable returns the table of that name, for [Forgetting] on the given rows of it.
func Rewritable(name string, among Among) (*Table, error) {
	i := slices.IndexFunc(Schema, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no table %q", name)
	}
	t := &Schema[i]
	if column, _, ok := among.Column(); ok && t.Position(column) < 0 {
		return nil, fmt.Errorf("table %s has no column %s", name, column)
	}
	if name == "turns" && !among.None() && among.Segments == nil {
		return nil, fmt.Errorf("turns are chosen by their segments")
	}
	return t, nil
}

// Position is the place of a column among the table's, -1 where it has none of that name.
func (t *Table) Position(column string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == column })
}

// Judge asks fn what becomes of a row. It returns the columns whose values changed, in their order, and refuses
// what may not be written: another key, items of memory, a value that is not of its column.
func (t *Table) Judge(values []any, fn func([]any) (Verdict, error)) (v Verdict, changed []int, err error) {
	before := slices.Clone(values)
	if v, err = fn(values); err != nil || v == Keep {
		return Keep, nil, err
	}
	if t.Name == "memory_items" {
		return Keep, nil, fmt.Errorf("rewrite %s: items of memory are deleted by their ids", t.Name)
	}
	if v == Delete {
		return Delete, nil, nil
	}
	for i, c := range t.Columns {
		if same(before[i], values[i]) {
			continue
		}
		if slices.Contains(t.Key, c.Name) || c.Name == "tenant" {
			return Keep, nil, fmt.Errorf("rewrite %s: column %s is part of the key", t.Name, c.Name)
		}
		if !c.Holds(values[i]) {
			return Keep, nil, fmt.Errorf("rewrite %s: column %s: %T is no value for it", t.Name, c.Name, values[i])
		}
		changed = append(changed, i)
	}
	if len(changed) == 0 {
		v = Keep
	}
	return v, changed, nil
}

func same(a, b any) bool {
	x, xok := a.([]byte)
	y, yok := b.([]byte)
	if xok || yok {
		return xok && yok && string(x) == string(y)
	}
	return a == b
}

// Holds reports whether the value is one for the column.
func (c Column) Holds(value any) bool {
	switch value.(type) {
	case nil:
		return c.Null
	case int64:
		return c.Type == Int
	case string:
		return c.Type == Text
	case []byte:
		return c.Type == Bytes
	}
	return false
}
