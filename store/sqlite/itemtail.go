package sqlite

import (
	"time"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite/internal/lite"
)

// Who makes room in a session asks for the least important items of one type after the other. While others write the
// index falls behind, and each of them would go through all that is not in it yet: it is read once for all types, and
// kept for as long as nothing is written.

// tailScope is which items of the tail are kept.
type tailScope struct {
	tenant   string
	segment  int64
	now      time.Time
	archived bool
	least    int64 // importance
}

// keptTail is the end of memory behind the index as it was after so many changes.
type keptTail struct {
	of      tailScope
	changes int64
	items   []tailItem
}

type tailItem struct {
	itemKey
	kind memory.Type
}

// leastOf returns the scope of a look for the least important items of a type; ok is false for every other look.
func (s *itemSearch) leastOf() (of tailScope, ok bool) {
	f := &s.f
	if !f.Lowest || f.Segment == 0 || f.Type == "" || len(s.wanted) > 0 || f.User != "" || f.After != "" || !f.Since.IsZero() || !f.Until.IsZero() {
		return tailScope{}, false
	}
	return tailScope{f.Tenant, f.Segment, f.Now, f.Archived, f.MinImportance}, true
}

// sharedTail adds the items of the tail that have the type.
func (s *itemSearch) sharedTail(of tailScope) error {
	t := s.tx
	if changes := s.c.TotalChanges(); t.tail == nil || t.tail.of != of || t.tail.changes != changes {
		items, err := s.readTail()
		if err != nil {
			return err
		}
		t.tail = &keptTail{of, changes, items}
	}
	for i := range t.tail.items {
		if item := &t.tail.items[i]; item.kind == s.f.Type {
			s.add(item.itemKey)
		}
	}
	return nil
}

// readTail reads the tail for all types.
func (s *itemSearch) readTail() ([]tailItem, error) {
	mark, err := s.itemMark()
	if err != nil {
		return nil, err
	}
	every := itemSearch{memoryRows: s.memoryRows, f: s.f}
	every.f.Type = ""
	q := every.unindexed(`, type`).Int(mark)
	every.bind(q)
	return all(s.tx, q, func(q *lite.Stmt) tailItem { return tailItem{readKey(q), memory.Type(q.ReadText())} })
}
