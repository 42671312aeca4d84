package sqlite

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// The index of memory is filled in the background, in the order of rowids, up to one mark for all
// tenants. There is one writer at a time, so that rowids become visible in order and no item can
// appear behind the mark later. What is asked of memory is answered from the index up to the mark
// and from the items after it, in one snapshot: that is always exact.

// entry is an item as far as the index is concerned.
type entry struct {
	rowid int64
	row   memory.Row
}

const entryColumns = `memory_items.id, tenant, item_id, segment, user_id, type, importance, created_at,
	expires_at, archived_at, text, about`

func readEntry(q *lite.Stmt) entry {
	return entry{q.ReadInt(), memory.Row{
		Tenant: q.ReadText(), ID: q.ReadText(), Segment: q.ReadInt(), User: q.ReadText(), Type: memory.Type(q.ReadText()),
		Importance: q.ReadInt(), Created: fromMicros(q.ReadInt()), Expires: readTime(q), Archived: readTime(q), Text: q.ReadText(), About: q.ReadText(),
	}}
}

// What an item is besides its own terms. Those of texts have no underscore, those of tags one behind
// a letter. Names are hashed: two with one hash are told apart by the row.

func sessionTerm(segment int64) string { return "_s" + strconv.FormatInt(segment, 36) }

func tenantTerm(tenant string) string { return "_n" + hashed(tenant) }

func userTerm(tenant, user string) string { return "_u" + hashed(tenant, user) }

func typeTerm(tenant string, t memory.Type) string { return "_y" + hashed(tenant, string(t)) }

// Importance is cut into levels. Archived items have another term for theirs, so that they do not
// stand in the way of who looks for the least important one that is not.
func levelTerm(level int64, archived bool) string {
	if archived {
		return "_z" + strconv.FormatInt(level, 10)
	}
	return "_i" + strconv.FormatInt(level, 10)
}

// liveTerm is the term of items that are not archived.
const liveTerm = "_live"

const (
	levels    = 50
	levelSize = 1_000_000 / levels
)

// level is the level of an importance; what is beyond the ends belongs to them.
func level(importance int64) int64 { return min(max(importance, 0)/levelSize, levels-1) }

// expiryTerm is the minute in which an item expires. Terms have the order of their minutes.
func expiryTerm(at time.Time) string { return fmt.Sprintf("_e%09d", max(0, at.Unix()/60)) }

// dayTerm is the day on which an item was made. Terms have the order of their days.
func dayTerm(at time.Time) string { return fmt.Sprintf("_d%06d", max(0, at.Unix()/(24*60*60))) }

// lastDay comes after every day.
const lastDay = "_d999999"

func hashed(names ...string) string {
	h := fnv.New64a()
	for _, name := range names {
		h.Write([]byte(name))
		h.Write([]byte{0})
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// every asks the index for what has all terms. Quoted, a term is never taken for an operator.
func every(terms ...string) string { return `"` + strings.Join(terms, `" AND "`) + `"` }

// document is everything that the index knows of the item.
//
// HAZARD: what is in the index can only be taken out by the terms it was put in with. When
// memory.RowTerms finds other terms one day, a migration has to fill the index anew.
func (e entry) document() string {
	m := e.row
	archived := !m.Archived.IsZero()
	terms := append(memory.RowTerms(m), tenantTerm(m.Tenant), sessionTerm(m.Segment), typeTerm(m.Tenant, m.Type),
		levelTerm(level(m.Importance), archived), dayTerm(m.Created))
	if m.User != "" {
		terms = append(terms, userTerm(m.Tenant, m.User))
	}
	if !m.Expires.IsZero() {
		terms = append(terms, expiryTerm(m.Expires))
	}
	if !archived {
		terms = append(terms, liveTerm)
	}
	return strings.Join(terms, " ")
}

// holds reports whether all wanted terms are among the sorted ones.
func holds(terms, wanted []string) bool {
	for _, term := range wanted {
		if _, found := slices.BinarySearch(terms, term); !found {
			return false
		}
	}
	return true
}

func (r memoryRows) index(e entry) error {
	return r.fail(r.c.Prepare(`INSERT INTO memory_text (rowid, terms) VALUES (?, ?)`).Int(e.rowid).Text(e.document()).Run())
}

func (r memoryRows) unindex(e entry) error {
	return r.fail(r.c.Prepare(`INSERT INTO memory_text (memory_text, rowid, terms) VALUES ('delete', ?, ?)`).
		Int(e.rowid).Text(e.document()).Run())
}

// itemMark is the rowid up to which items are in the index.
func (r memoryRows) itemMark() (int64, error) {
	mark, _, err := one(r.tx, r.c.Prepare(`SELECT through FROM memory_pieces ORDER BY through DESC LIMIT 1`), readInt)
	return mark, err
}

// lowerMark follows a deletion. SQLite gives the highest rowid out again once its row is gone, and
// the item that gets it must not lie before the mark.
func (r memoryRows) lowerMark(mark int64) error {
	last, _, err := one(r.tx, r.c.Prepare(`SELECT id FROM memory_items ORDER BY id DESC LIMIT 1`), readInt)
	if err != nil || last >= mark {
		return err
	}
	err = r.c.Prepare(`INSERT OR REPLACE INTO memory_pieces (through, floor, ceiling)
		SELECT ?1, min(floor), max(ceiling) FROM memory_pieces WHERE through >= ?1`).Int(last).Run()
	if err == nil {
		err = r.c.Prepare(`DELETE FROM memory_pieces WHERE through > ?`).Int(last).Run()
	}
	return r.fail(err)
}

// itemsBehind returns the highest rowid if it is not in the index.
func (r memoryRows) itemsBehind() (through int64, behind bool, err error) {
	mark, err := r.itemMark()
	if err != nil {
		return 0, false, err
	}
	return one(r.tx, r.c.Prepare(`SELECT id FROM memory_items WHERE id > ? ORDER BY id DESC LIMIT 1`).Int(mark), readInt)
}
