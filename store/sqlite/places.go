package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// places is the index of a table by its key, in two parts; see the migration 0010_places. Whoever looks for rows
// looks into both.
type places struct {
	table string
	row   string   // the rowid's name
	key   []string // those of the key
	whole string   // the part that holds all but the newest
	fresh string   // the part that holds the newest
	many  int64    // after how many rows the newest join the others

	insert string // binds the key and the row
	fold   string
}

// How many rows wait: a commit of many sessions writes all pages of the fresh part, and joining it to the whole one
// a page of each session. With these numbers both are few.
var (
	turnPlaces      = newPlaces("turns", "id", "turn_places", 2048, "tenant", "segment", "seq")
	intentionPlaces = newPlaces("intentions", "row", "intention_places", 1024, "tenant", "segment", "kind", "id", "version")
	placed          = []*places{turnPlaces, intentionPlaces}
)

func newPlaces(table, row, whole string, many int64, key ...string) *places {
	p := &places{table: table, row: row, key: key, whole: whole, fresh: whole + "_new", many: many}
	values := make([]string, len(key)+1)
	for i := range values {
		values[i] = fmt.Sprintf("?%d", i+1)
	}
	columns := strings.Join(append(slices.Clone(key), "at"), ", ")
	p.insert = `INSERT INTO ` + p.fresh + ` (` + columns + `) SELECT ` + strings.Join(values, ", ") +
		` WHERE NOT EXISTS (SELECT 1 FROM ` + p.whole + ` WHERE ` + p.is(1) + `)`
	p.fold = `INSERT INTO ` + p.whole + ` (` + columns + `) SELECT ` + columns + ` FROM ` + p.fresh + `; DELETE FROM ` + p.fresh
	return p
}

// placesOf returns the places of a table, nil if its key is its own.
func placesOf(table string) *places {
	if i := slices.IndexFunc(placed, func(p *places) bool { return p.table == table }); i >= 0 {
		return placed[i]
	}
	return nil
}

// is is the condition for one key, whose values are bound from the given parameter on.
func (p *places) is(first int) string {
	terms := make([]string, len(p.key))
	for i, column := range p.key {
		terms[i] = fmt.Sprintf("%s = ?%d", column, first+i)
	}
	return strings.Join(terms, " AND ")
}

// at is the rowid at the place that the condition names. The parameters of conditions must be numbered.
func (p *places) at(where string) string {
	return `(SELECT at FROM ` + p.fresh + ` WHERE ` + where + ` UNION ALL SELECT at FROM ` + p.whole + ` WHERE ` + where + `)`
}

// from is the table in the order of a column, or several, of its key, as far as the condition holds for its places:
// "seq", or "seq DESC". Its columns are read by their full names.
func (p *places) from(where, order string) string {
	return p.ordered(where, order) + ` AS place CROSS JOIN ` + p.table + ` ON ` + p.table + `.` + p.row + ` = place.at`
}

// ordered is the places themselves. Without a limit, even one that is none, SQLite would forget the order; with it,
// it merges the parts.
func (p *places) ordered(where, order string) string {
	columns := `SELECT at, ` + strings.TrimSuffix(order, " DESC") + ` FROM `
	return `(` + columns + p.whole + ` WHERE ` + where + ` UNION ALL ` + columns + p.fresh + ` WHERE ` + where +
		` ORDER BY ` + order + ` LIMIT -1)`
}

// place adds a row that was just inserted. The statement is that of insert, with the key bound. If the key is
// taken, the row is gone again and ok is false.
func (t *tx) place(p *places, q *lite.Stmt, row int64) (ok bool, err error) {
	err = q.Int(row).Run()
	if taken(err) || err == nil && t.c.Changes() == 0 {
		return false, t.fail(t.c.Prepare(`DELETE FROM ` + p.table + ` WHERE ` + p.row + ` = ?`).Int(row).Run())
	}
	if err == nil && row%p.many == 0 {
		err = t.c.Exec(p.fold)
	}
	return err == nil, t.fail(err)
}

// unplace forgets the place of a row.
func (t *tx) unplace(p *places, key []any) error {
	for _, part := range []string{p.fresh, p.whole} {
		q := t.c.Prepare(`DELETE FROM ` + part + ` WHERE ` + p.is(1))
		for _, v := range key {
			q.Value(v)
		}
		if err := q.Run(); err != nil {
			return t.fail(err)
		}
	}
	return nil
}

// misplaced counts what rows and places do not agree on.
func (t *tx) misplaced(p *places) (int64, error) {
	same := make([]string, len(p.key))
	for i, column := range p.key {
		same[i] = fmt.Sprintf("place.%s IS %s.%[1]s", column, p.table)
	}
	all := `(SELECT * FROM ` + p.whole + ` UNION ALL SELECT * FROM ` + p.fresh + `)`
	n, _, err := one(t, t.c.Prepare(`SELECT abs((SELECT count(*) FROM `+p.table+`) - (SELECT count(*) FROM `+all+`)) + (SELECT count(*) FROM `+
		all+` AS place LEFT JOIN `+p.table+` ON `+p.table+`.`+p.row+` = place.at WHERE NOT (`+strings.Join(same, " AND ")+`))`), readInt)
	return n, err
}
