package sqlite

import (
	"math"
	"strings"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// walk takes the tenant's items in the order of their ids, which has an index of its own.
func (s *itemSearch) walk() (err error) {
	var sql strings.Builder
	sql.WriteString(`SELECT ` + keyColumns + ` FROM memory_items WHERE true`)
	s.where(&sql)
	sql.WriteString(` ORDER BY item_id DESC LIMIT ?`)
	q := s.c.Prepare(sql.String())
	s.bind(q)
	s.found, err = all(s.tx, q.Int(int64(s.f.Limit)), readKey)
	return err
}

// tail looks at the items that are not in the index yet, the last ones first.
func (s *itemSearch) tail() error {
	if of, ok := s.leastOf(); ok {
		return s.sharedTail(of)
	}
	mark, err := s.itemMark()
	if err != nil {
		return err
	}
	q := s.unindexed(`, text, about`).Int(mark)
	s.bind(q)
	defer q.Close()
	for {
		more, err := q.Step()
		if err != nil || !more {
			return s.fail(err)
		}
		k := readKey(q)
		if s.wants(k) && (len(s.wanted) == 0 || holds(memory.RowTerms(memory.Row{Text: q.ReadText(), About: q.ReadText()}), s.wanted)) {
			s.add(k)
		}
	}
}

// unindexed prepares a look at the items behind the mark, the last ones first: at their keys, and columns besides.
func (s *itemSearch) unindexed(columns string) *lite.Stmt {
	var sql strings.Builder
	sql.WriteString(`SELECT ` + keyColumns + columns + ` FROM memory_items NOT INDEXED WHERE memory_items.id > ?`)
	s.where(&sql)
	sql.WriteString(` ORDER BY memory_items.id DESC`)
	return s.c.Prepare(sql.String())
}

// hits prepares a look at what the index finds. It is crossed to keep its order: first the index, which
// gives rowids in order, then the items it names.
func (s *itemSearch) hits(match, order string, rowid int64) *lite.Stmt {
	var sql strings.Builder
	sql.WriteString(`SELECT ` + keyColumns + ` FROM memory_text CROSS JOIN memory_items ON memory_items.id = memory_text.rowid
		WHERE memory_text MATCH ? AND memory_text.rowid <= ?`)
	s.where(&sql)
	sql.WriteString(order)
	q := s.c.Prepare(sql.String()).Text(match).Int(rowid)
	s.bind(q)
	return q
}

// newest takes hits in the order of their rowids. That is nearly the order of their ids, and pieces know
// how nearly: what lies after the cursor is not looked at, and it ends where no older piece can have
// an id as high as those that were found.
func (s *itemSearch) newest() error {
	last, ok, err := one(s.tx, s.c.Prepare(`SELECT through FROM memory_pieces WHERE ?1 = '' OR floor < ?1
		ORDER BY through DESC LIMIT 1`).Text(s.f.After), readInt)
	if err != nil || !ok {
		return err
	}
	q := s.hits(s.match, ` ORDER BY memory_text.rowid DESC`, last)
	defer q.Close()
	for begin := last + 1; ; {
		more, err := q.Step()
		if err != nil || !more {
			return s.fail(err)
		}
		k := readKey(q)
		if s.full() && k.rowid < begin {
			over, err := s.nothingBefore(k.rowid, &begin)
			if err != nil || over {
				return err
			}
		}
		s.add(k)
	}
}

// nothingBefore reports whether no item up to the rowid has a higher id than all that were found. If
// some might, begin is set to the beginning of its piece.
func (s *itemSearch) nothingBefore(rowid int64, begin *int64) (bool, error) {
	q := s.c.Prepare(`SELECT ceiling, (SELECT coalesce(max(through), 0) + 1 FROM memory_pieces WHERE through < ?1)
		FROM memory_pieces WHERE through >= ?1 ORDER BY through LIMIT 1`).Int(rowid)
	defer q.Close()
	if ok, err := q.Step(); err != nil || !ok {
		return false, s.fail(err)
	}
	ceiling := q.ReadText()
	*begin = q.ReadInt()
	return ceiling <= s.worst().id, nil
}

// manyHits is how many hits are read and sorted rather than looked up level by level.
const manyHits = 500

// few takes all hits if they are not many, and reports whether it did.
func (s *itemSearch) few() (bool, error) {
	hits, _, err := one(s.tx, s.c.Prepare(`SELECT count(*) FROM (SELECT rowid FROM memory_text WHERE memory_text MATCH ? LIMIT ?)`).
		Text(s.match).Int(manyHits), readInt)
	if err != nil || hits == manyHits {
		return false, err
	}
	return true, s.take(s.match)
}

// take adds all hits.
func (s *itemSearch) take(match string) error {
	q := s.hits(match, "", math.MaxInt64)
	defer q.Close()
	for {
		more, err := q.Step()
		if err != nil || !more {
			return s.fail(err)
		}
		s.add(readKey(q))
	}
}

// byLevel takes hits from one level of importance after the other.
func (s *itemSearch) byLevel() error {
	lowest := level(s.f.MinImportance)
	at, step := int64(levels-1), int64(-1)
	if s.f.Lowest {
		at, step = lowest, 1
	}
	if s.f.After != "" && (s.f.Lowest == (level(s.f.AfterImportance) > at)) {
		at = level(s.f.AfterImportance)
	}
	for ; at >= lowest && at < levels; at += step {
		match := s.match + ` AND "` + levelTerm(at, false) + `"`
		if s.f.Archived {
			match = s.match + ` AND ("` + levelTerm(at, false) + `" OR "` + levelTerm(at, true) + `")`
		}
		if err := s.take(match); err != nil {
			return err
		}
		// All of the levels that follow come after what this one has.
		if s.full() && (level(s.worst().importance)-at)*step <= 0 {
			return nil
		}
	}
	return nil
}
