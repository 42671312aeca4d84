package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// places is the index of a table by its key, in two parts; see the migration 0010_places. Whoever looks for rows
// looks into both. The parameters of all conditions on places are numbered, since they stand in a statement twice.
type places struct {
	table string
	row   string   // the name of its rowid
	key   []string // the columns that its rows are known by
	whole string   // the part that holds all but the newest
	fresh string   // the part that holds the newest
	many  int64    // after how many rows the newest join the others

	columns []string // the key of both parts
	made    []string // what they are made of

	insert string // binds the columns and the row
	fold   string // has the newest join the others
}

// How many rows wait: a commit of many sessions writes all pages of the fresh part, and joining it to the whole one
// a page of each session. With these numbers both are few.
var (
	turnPlaces = newPlaces(&places{
		table: "turns", row: "id", key: []string{"tenant", "segment", "seq"}, whole: "turn_places", many: 2048,
		columns: []string{"place"}, made: []string{"(turns.segment << 32) + turns.seq"},
	})
	intentionPlaces = newPlaces(&places{
		table: "intentions", row: "row", key: []string{"tenant", "segment", "kind", "id", "version"}, whole: "intention_places", many: 1024,
		columns: []string{"tenant", "segment", "kind", "id", "version"},
		made:    []string{"intentions.tenant", "intentions.segment", "intentions.kind", "intentions.id", "intentions.version"},
	})
	placed = []*places{turnPlaces, intentionPlaces}
)

func newPlaces(p *places) *places {
	p.fresh = p.whole + "_new"
	columns := strings.Join(append(slices.Clone(p.columns), "at"), ", ")
	// A statement of several rows that may have to be undone by itself has SQLite keep a copy of every page that it changes, which
	// costs as much again. So a place that is taken is left out of the one, and with the other the update fails.
	p.insert = `INSERT OR IGNORE INTO ` + p.fresh + ` (` + columns + `) SELECT ` + numbered(1, len(p.columns)+1) +
		` WHERE NOT EXISTS (SELECT 1 FROM ` + p.whole + ` WHERE ` + p.is(1) + `)`
	p.fold = `INSERT OR FAIL INTO ` + p.whole + ` (` + columns + `) SELECT ` + columns + ` FROM ` + p.fresh + `; DELETE FROM ` + p.fresh
	return p
}

// numbered are that many parameters from the first on.
func numbered(first, many int) string {
	list := make([]string, many)
	for i := range list {
		list[i] = fmt.Sprintf("?%d", first+i)
	}
	return strings.Join(list, ", ")
}

// placesOf returns the places of a table, nil if its key has an index of its own.
func placesOf(table string) *places {
	if i := slices.IndexFunc(placed, func(p *places) bool { return p.table == table }); i >= 0 {
		return placed[i]
	}
	return nil
}

// turnPlace is the place of a turn. Those of a segment follow one another. A seq that no turn has, the end of a span that has
// none, is before or behind all of them.
func turnPlace(segment, seq int64) int64 { return segment<<32 + min(max(seq, 0), maxPlaced) }

// maxPlaced is the largest segment, seq or version that has a place.
const maxPlaced = 1<<31 - 1

// ofSegment is the condition for the places of a segment's turns. It binds the segment as the second parameter.
const ofSegment = `place BETWEEN ?2 << 32 AND (?2 + 1 << 32) - 1`

// of is the place of a row with this key, as the columns have it.
func (p *places) of(key []any) []any {
	if p == turnPlaces {
		return []any{turnPlace(key[1].(int64), key[2].(int64))}
	}
	return key
}

// is is the condition for one place, whose columns are bound from the given parameter on.
func (p *places) is(first int) string {
	terms := make([]string, len(p.columns))
	for i, column := range p.columns {
		terms[i] = fmt.Sprintf("%s = ?%d", column, first+i)
	}
	return strings.Join(terms, " AND ")
}

// at is the rowid at the place that the condition names.
func (p *places) at(where string) string {
	return `(SELECT at FROM ` + p.fresh + ` WHERE ` + where + ` UNION ALL SELECT at FROM ` + p.whole + ` WHERE ` + where + `)`
}

// from is the table in the order of its places, as far as the condition holds for them: by one of their columns, or
// several, "place" or "place DESC". The table's columns are read by their full names.
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

// each selects from the rows at the places that the condition where names, as far as and holds for them, in the order of
// places within each part: the whole one comes first. No part waits for the other, as it does where both are merged.
func (p *places) each(columns, where, and string) string {
	part := func(name string) string {
		return `SELECT ` + columns + ` FROM ` + name + ` AS place CROSS JOIN ` + p.table + ` ON ` + p.table + `.` + p.row + ` = place.at
			WHERE ` + where + ` AND ` + and
	}
	return part(p.whole) + ` UNION ALL ` + part(p.fresh)
}

// place adds a row that was just inserted. The statement is that of insert, with its columns bound. If the place is
// taken, the row is gone again and ok is false.
func (t *tx) place(p *places, q *lite.Stmt, row int64) (ok bool, err error) {
	err = q.Int(row).Run()
	if err == nil && t.c.Changes() == 0 {
		return false, t.fail(t.c.Prepare(`DELETE FROM ` + p.table + ` WHERE ` + p.row + ` = ?`).Int(row).Run())
	}
	if err != nil {
		return false, t.fail(err)
	}
	return true, t.foldPlaces(p, row, row)
}

// foldPlaces has the newest places join the others, when those from the first to the last row filled their part.
func (t *tx) foldPlaces(p *places, first, last int64) error {
	if first/p.many == last/p.many && first%p.many != 0 {
		return nil
	}
	return t.fail(t.c.Exec(p.fold))
}

// unplace forgets the place of the row that had this key.
func (t *tx) unplace(p *places, key []any) error {
	for _, part := range []string{p.fresh, p.whole} {
		q := t.c.Prepare(`DELETE FROM ` + part + ` WHERE ` + p.is(1))
		for _, v := range p.of(key) {
			q.Value(v)
		}
		if err := q.Run(); err != nil {
			return t.fail(err)
		}
	}
	return nil
}

// misplaced counts what rows and places do not agree on. A place that is in both parts would stand for one that is missing.
func (t *tx) misplaced(p *places) (int64, error) {
	same := make([]string, len(p.columns))
	for i, column := range p.columns {
		same[i] = `place.` + column + ` IS ` + p.made[i]
	}
	all := `(SELECT * FROM ` + p.whole + ` UNION ALL SELECT * FROM ` + p.fresh + `)`
	n, _, err := one(t, t.c.Prepare(`SELECT abs((SELECT count(*) FROM `+p.table+`) - (SELECT count(*) FROM `+all+`)) + (SELECT count(*) FROM `+
		all+` AS place LEFT JOIN `+p.table+` ON `+p.table+`.`+p.row+` = place.at WHERE NOT (`+strings.Join(same, " AND ")+`)) +
		(SELECT count(*) FROM `+p.fresh+` JOIN `+p.whole+` USING (`+strings.Join(p.columns, ", ")+`))`), readInt)
	return n, err
}
