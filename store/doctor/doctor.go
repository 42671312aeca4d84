// Package doctor holds a store against every rule of what is kept in it and says what is wrong.
//
// It reads the rows of one consistent dump, table by table, and knows nothing of the database
// behind them: what it finds is the same on every store. Memory grows with the number of sessions,
// open calls, checkpoints and what forks inherit (versions, epochs, prompts and pins), by eight bytes
// for each turn and epoch and a few more for each export.
package doctor

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/store"
)

// Finding is one broken rule.
type Finding struct {
	Table   string // where it was found; "database" for what the database itself says
	Tenant  string
	Session string // empty where the row belongs to no known session
	Problem string
}

func (f Finding) String() string {
	where := f.Table
	if f.Session != "" {
		where += " of " + f.Tenant + "/" + f.Session
	}
	return where + ": " + f.Problem
}

// Report is what an examination looked at.
type Report struct {
	Sessions, Turns, Blobs int64
	Findings               int64
}

// Examine reads the whole store and calls found for every broken rule, in the order of the tables.
// The error is about reading, never about what was read. Progress, if not nil, is told after every
// turn how many were read.
func Examine(ctx context.Context, st store.Store, found func(Finding), progress func(turns int64)) (Report, error) {
	e := newExamination(found, progress)
	problems, err := st.Check(ctx)
	if err != nil {
		return e.report, fmt.Errorf("check of the database: %w", err)
	}
	for _, p := range problems {
		e.find(Finding{Table: "database", Problem: p})
	}
	if err := st.Dump(ctx, e.row); err != nil {
		return e.report, fmt.Errorf("read of the store: %w", err)
	}
	e.finish()
	return e.report, nil
}
