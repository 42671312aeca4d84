package storetest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/store"
)

// rows returns copies of all rows of the named tables, of all tables where none is named.
func (w *world) rows(tables ...string) (rows []store.Row) {
	w.Helper()
	err := w.Dump(w.ctx(), func(row store.Row) error {
		if len(tables) == 0 || slices.Contains(tables, row.Table) {
			rows = append(rows, cloned(row))
		}
		return nil
	})
	if err != nil {
		w.Fatalf("dump: %v", err)
	}
	return rows
}

func cloned(row store.Row) store.Row {
	row.Values = slices.Clone(row.Values)
	for i, v := range row.Values {
		if b, ok := v.([]byte); ok {
			row.Values[i] = bytes.Clone(b)
		}
	}
	return row
}

// dump returns every row as a line of text.
func (w *world) dump() []string {
	w.Helper()
	var lines []string
	for _, row := range w.rows() {
		lines = append(lines, line(row))
	}
	return lines
}

func line(row store.Row) string {
	var b strings.Builder
	b.WriteString(row.Table)
	for _, v := range row.Values {
		switch v := v.(type) {
		case nil:
			b.WriteString(" -")
		case []byte:
			fmt.Fprintf(&b, " %x", v)
		case string:
			fmt.Fprintf(&b, " %q", v)
		default:
			fmt.Fprintf(&b, " %v", v)
		}
	}
	return b.String()
}

// columns are those of a table, none where there is no such table.
func columns(table string) []store.Column {
	i := slices.IndexFunc(store.Schema, func(t store.Table) bool { return t.Name == table })
	if i < 0 {
		return nil
	}
	return store.Schema[i].Columns
}

// parseLine reads what line wrote, also in versions of the schema that had fewer columns.
func parseLine(text string) (row store.Row, err error) {
	name, rest, _ := strings.Cut(text, " ")
	row.Table = name
	columns := columns(name)
	if columns == nil {
		return row, fmt.Errorf("there is no table %q", name)
	}
	for _, c := range columns {
		if rest == "" && c.Null {
			break
		}
		var word string
		if strings.HasPrefix(rest, `"`) {
			if word, err = strconv.QuotedPrefix(rest); err != nil {
				return row, fmt.Errorf("column %s: %w", c.Name, err)
			}
			rest = strings.TrimPrefix(rest[len(word):], " ")
		} else {
			word, rest, _ = strings.Cut(rest, " ")
		}
		var v any
		switch {
		case word == "-":
		case c.Type == store.Int:
			v, err = strconv.ParseInt(word, 10, 64)
		case c.Type == store.Bytes:
			v, err = hex.DecodeString(word)
		default:
			v, err = strconv.Unquote(word)
		}
		if err != nil {
			return row, fmt.Errorf("column %s: %w", c.Name, err)
		}
		row.Values = append(row.Values, v)
	}
	if rest != "" {
		return row, fmt.Errorf("%q is left after the last column", rest)
	}
	return row, nil
}

// sequence hands out rows as a load takes them.
func sequence(rows []store.Row) iter.Seq2[store.Row, error] {
	return func(yield func(store.Row, error) bool) {
		for _, row := range rows {
			// The loader owns the values only until it asks for the next row.
			lent := cloned(row)
			if !yield(lent, nil) {
				return
			}
			for i, v := range lent.Values {
				if b, ok := v.([]byte); ok {
					clear(b)
				}
				lent.Values[i] = nil
			}
		}
	}
}

func (w *world) load(rows []store.Row) {
	w.Helper()
	if err := w.Load(w.ctx(), sequence(rows)); err != nil {
		w.Fatalf("load: %v", err)
	}
}
