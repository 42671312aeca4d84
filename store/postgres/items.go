package postgres

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/turnstone-dev/turnstone/memory"
)

// Items implements [memory.Rows]. What is in memory_index and what waits to be is read by one
// statement: between two of them an item could move from the one to the other and be missed.
func (r memoryRows) Items(ctx context.Context, f memory.Filter) ([]memory.Row, error) {
	terms := slices.Clone(f.Terms)
	for _, tag := range f.Tags {
		terms = append(terms, memory.TagTerm(tag))
	}
	sql, args := itemsSQL(f, terms)
	var found []memory.Row
	err := r.query(ctx, func(rows pgx.Rows) error {
		for rows.Next() {
			var i memory.Row
			var tail bool
			if err := rows.Scan(itemFields(&i, &tail)...); err != nil {
				return err
			}
			if !tail || hasAll(i, terms) {
				found = append(found, i)
			}
		}
		return nil
	}, sql, args...)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b memory.Row) int { return compareItems(f, a, b) })
	return found[:min(len(found), max(0, f.Limit))], nil
}

func hasAll(i memory.Row, terms []string) bool {
	if len(terms) == 0 {
		return true
	}
	has := memory.RowTerms(i)
	return !slices.ContainsFunc(terms, func(term string) bool {
		_, found := slices.BinarySearch(has, term)
		return !found
	})
}

// compareItems is the order of a filter.
func compareItems(f memory.Filter, a, b memory.Row) int {
	switch {
	case f.Lowest:
		return cmp.Or(cmp.Compare(a.Importance, b.Importance), strings.Compare(a.ID, b.ID))
	case f.ByImportance:
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), strings.Compare(b.ID, a.ID))
	}
	return strings.Compare(b.ID, a.ID)
}

// itemsSQL is the statement for a filter, and what it is given. Its first column is whether the terms are still
// to be looked at. Unlike the statements of the log it is made for the filter, since it is the filter
// that decides which index is of use.
func itemsSQL(f memory.Filter, terms []string) (string, []any) {
	s := selection{filter: f}
	limit := ` LIMIT ` + s.value(max(0, f.Limit))
	if len(terms) == 0 && s.direct() {
		return `SELECT false, ` + itemColumns + ` FROM memory_items i WHERE ` + s.where("i") + s.archived() + s.order("i") + limit, s.args
	}
	index, indexed, rest := `memory_index`, s.where("x"), s.where("i")
	if len(terms) > 0 {
		// The planner would rather walk along the order until the limit is reached, which for a rare
		// term is never: what it knows of terms is about the common ones.
		index = `(SELECT * FROM memory_index WHERE tokens @> ` + s.value(append(terms, s.scope())) + ` OFFSET 0)`
	} else {
		rest += s.order("i") + limit
	}
	// OFFSET 0 has each hit looked up by its key; see textHits.
	const lookUp = `, LATERAL (SELECT ` + itemColumns + ` FROM memory_items i WHERE i.tenant = x.tenant AND i.item_id = x.item_id`
	return `(SELECT false, i.* FROM ` + index + ` x` + lookUp + s.archived() + ` OFFSET 0) i WHERE ` + indexed + s.order("x") + limit +
		`) UNION ALL (SELECT true, i.* FROM memory_unindexed x` + lookUp + s.archived() + ` OFFSET 0) i WHERE x.tenant = ` + s.tenant + ` AND ` + rest + `)`, s.args
}

// selection writes the conditions of a filter.
type selection struct {
	filter memory.Filter
	tenant string // its place among the arguments
	args   []any
}

func (s *selection) value(v any) string {
	s.args = append(s.args, v)
	return "$" + strconv.Itoa(len(s.args))
}

// direct reports whether an index of memory_items itself gives the filter's order: the newest of all, of
// a session or of a user, and the live items of a session by their importance.
func (s *selection) direct() bool {
	f := s.filter
	return !f.ByImportance && !f.Lowest || f.Segment != 0 && !f.Archived
}

// scope is the token of the narrowest circle that the filter names, as for turns; see scopeToken.
func (s *selection) scope() string {
	f := s.filter
	switch {
	case f.Segment != 0:
		return scopeToken(f.Segment)
	case f.User != "":
		return userToken(f.Tenant, f.User)
	}
	return tenantToken(f.Tenant)
}

func tenantToken(tenant string) string     { return "tenant:" + tenant }
func userToken(tenant, user string) string { return "user:" + tenant + ":" + user }

// where are the conditions on what memory_items and memory_index have in common.
func (s *selection) where(table string) string {
	f := s.filter
	var b strings.Builder
	and := func(condition, value string) {
		if b.Len() > 0 {
			b.WriteString(` AND `)
		}
		b.WriteString(table + `.` + condition + value)
	}
	s.tenant = s.value(f.Tenant)
	and(`tenant = `, s.tenant)
	if f.Segment != 0 {
		and(`segment = `, s.value(f.Segment))
	}
	if f.User != "" {
		and(`user_id = `, s.value(f.User))
	}
	if f.Type != "" {
		and(`type = `, s.value(string(f.Type)))
	}
	if !f.Since.IsZero() {
		and(`created_at >= `, s.value(f.Since.UnixMicro()))
	}
	if !f.Until.IsZero() {
		and(`created_at < `, s.value(f.Until.UnixMicro()))
	}
	and(`importance >= `, s.value(f.MinImportance))
	b.WriteString(` AND (` + table + `.expires_at IS NULL OR ` + table + `.expires_at > ` + s.value(f.Now.UnixMicro()) + `)`)
	b.WriteString(s.after(table))
	return b.String()
}

// after is the condition of the filter's cursor.
func (s *selection) after(table string) string {
	f := s.filter
	switch {
	case f.After == "":
		return ""
	case f.Lowest || f.ByImportance:
		behind := ` < `
		if f.Lowest {
			behind = ` > `
		}
		return ` AND (` + table + `.importance, ` + table + `.item_id)` + behind + `(` + s.value(f.AfterImportance) + `, ` + s.value(f.After) + `)`
	}
	return ` AND ` + table + `.item_id < ` + s.value(f.After)
}

// archived is the condition that memory_items alone can tell.
func (s *selection) archived() string {
	if s.filter.Archived {
		return ""
	}
	return ` AND i.archived_at IS NULL`
}

func (s *selection) order(table string) string {
	switch {
	case s.filter.Lowest:
		return ` ORDER BY ` + table + `.importance, ` + table + `.item_id`
	case s.filter.ByImportance:
		return ` ORDER BY ` + table + `.importance DESC, ` + table + `.item_id DESC`
	}
	return ` ORDER BY ` + table + `.item_id DESC`
}
