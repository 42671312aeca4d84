package sqlite

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// Items implements [memory.Rows].
func (r memoryRows) Items(ctx context.Context, f memory.Filter) ([]memory.Row, error) {
	if err := r.reading(ctx); err != nil || f.Limit <= 0 {
		return nil, err
	}
	s := itemSearch{memoryRows: r, f: f, wanted: slices.Clone(f.Terms)}
	for _, tag := range f.Tags {
		s.wanted = append(s.wanted, memory.TagTerm(tag))
	}
	if err := s.run(); err != nil {
		return nil, err
	}
	rows := make([]memory.Row, 0, len(s.found))
	for _, k := range s.found {
		row, _, err := one(r.tx, r.c.Prepare(`SELECT `+itemColumns+` FROM memory_items WHERE id = ?`).Int(k.rowid), readItem)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// itemSearch is one look for items. It collects the keys of the first ones; only these are read whole.
type itemSearch struct {
	memoryRows
	f      memory.Filter
	wanted []string  // terms of texts and tags
	match  string    // the same and what else the index knows, as the index is asked
	found  []itemKey // the first so far, in order, at most f.Limit
}

// itemKey is what items are ordered by.
type itemKey struct {
	rowid      int64
	id         string
	importance int64
}

const keyColumns = `memory_items.id, item_id, importance`

func readKey(q *lite.Stmt) itemKey { return itemKey{q.ReadInt(), q.ReadText(), q.ReadInt()} }

func (s *itemSearch) ordered() bool { return s.f.Lowest || s.f.ByImportance }

func (s *itemSearch) compare(a, b itemKey) int {
	switch {
	case s.f.Lowest:
		return cmp.Or(cmp.Compare(a.importance, b.importance), cmp.Compare(a.id, b.id))
	case s.f.ByImportance:
		return cmp.Or(cmp.Compare(b.importance, a.importance), cmp.Compare(b.id, a.id))
	}
	return cmp.Compare(b.id, a.id)
}

func (s *itemSearch) full() bool { return len(s.found) == s.f.Limit }

func (s *itemSearch) worst() itemKey { return s.found[len(s.found)-1] }

// wants reports whether the key would be among the first.
func (s *itemSearch) wants(k itemKey) bool { return !s.full() || s.compare(k, s.worst()) < 0 }

func (s *itemSearch) add(k itemKey) {
	if !s.wants(k) {
		return
	}
	at, _ := slices.BinarySearchFunc(s.found, k, s.compare)
	if s.full() {
		s.found = s.found[:len(s.found)-1]
	}
	s.found = slices.Insert(s.found, at, k)
}

func (s *itemSearch) run() error {
	scope, err := s.scope()
	if err != nil {
		return err
	}
	if !s.ordered() && scope == "" {
		return s.walk()
	}
	if s.match = scope; scope == "" {
		s.match = every(tenantTerm(s.f.Tenant))
	}
	if err := s.tail(); err != nil {
		return err
	}
	if !s.ordered() {
		return s.newest()
	}
	if scope != "" {
		if all, err := s.few(); err != nil || all {
			return err
		}
	}
	return s.byLevel()
}

// scope is what to ask the index for. It is empty where the items of the whole tenant are wanted.
func (s *itemSearch) scope() (string, error) {
	terms := slices.Clone(s.wanted)
	if s.f.Segment != 0 {
		terms = append(terms, sessionTerm(s.f.Segment))
	}
	if s.f.User != "" {
		terms = append(terms, userTerm(s.f.Tenant, s.f.User))
	}
	if s.f.Type != "" {
		terms = append(terms, typeTerm(s.f.Tenant, s.f.Type))
	}
	days, err := s.days()
	if err != nil || len(terms) == 0 && len(days) == 0 {
		return "", err
	}
	if s.f.Segment == 0 && s.f.User == "" && s.f.Type == "" {
		terms = append(terms, tenantTerm(s.f.Tenant))
	}
	if !s.f.Archived {
		terms = append(terms, liveTerm)
	}
	match := every(terms...)
	if len(days) > 0 {
		match += ` AND ("` + strings.Join(days, `" OR "`) + `")`
	}
	return match, nil
}

// fewDays is how many days are looked up one by one; of more, every item is looked at.
const fewDays = 64

// days are the terms of the days that the filter allows, none if it is not worth it.
func (s *itemSearch) days() ([]string, error) {
	if s.f.Since.IsZero() || s.f.Now.Sub(s.f.Since).Hours() > 24*fewDays {
		return nil, nil
	}
	last := lastDay
	if !s.f.Until.IsZero() {
		last = dayTerm(s.f.Until)
	}
	days, err := s.texts(s.c.Prepare(`SELECT term FROM memory_text_terms WHERE term >= ? AND term <= ?`).Text(dayTerm(s.f.Since)).Text(last))
	if len(days) == 0 {
		// A term that nothing has.
		days = []string{lastDay}
	}
	return days, err
}

// where adds the conditions of the filter, bind their values, in the same order.
func (s *itemSearch) where(sql *strings.Builder) {
	sql.WriteString(` AND tenant = ? AND (expires_at IS NULL OR expires_at > ?) AND importance >= ?`)
	for _, c := range []struct {
		set bool
		sql string
	}{
		{s.f.Segment != 0, ` AND segment = ?`},
		{s.f.User != "", ` AND user_id = ?`},
		{s.f.Type != "", ` AND type = ?`},
		{!s.f.Since.IsZero(), ` AND created_at >= ?`},
		{!s.f.Until.IsZero(), ` AND created_at < ?`},
		{!s.f.Archived, ` AND archived_at IS NULL`},
		{s.f.After != "" && !s.ordered(), ` AND item_id < ?`},
		{s.f.After != "" && s.f.Lowest, ` AND (importance, item_id) > (?, ?)`},
		{s.f.After != "" && !s.f.Lowest && s.f.ByImportance, ` AND (importance, item_id) < (?, ?)`},
	} {
		if c.set {
			sql.WriteString(c.sql)
		}
	}
}

func (s *itemSearch) bind(q *lite.Stmt) {
	q.Text(s.f.Tenant).Int(micros(s.f.Now)).Int(s.f.MinImportance)
	if s.f.Segment != 0 {
		q.Int(s.f.Segment)
	}
	if s.f.User != "" {
		q.Text(s.f.User)
	}
	if s.f.Type != "" {
		q.Text(string(s.f.Type))
	}
	if !s.f.Since.IsZero() {
		q.Int(micros(s.f.Since))
	}
	if !s.f.Until.IsZero() {
		q.Int(micros(s.f.Until))
	}
	if s.f.After != "" {
		if s.ordered() {
			q.Int(s.f.AfterImportance)
		}
		q.Text(s.f.After)
	}
}
