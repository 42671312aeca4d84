package doctor_test

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/doctor"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func ExampleExamine() {
	ctx := context.Background()
	st := mem.New(mem.Config{})
	defer st.Close()
	err := st.Update(ctx, func(tx store.Tx) error {
		// A session that says it has three turns, and has none.
		info := turn.SessionInfo{Key: turn.Key{Tenant: "default", Session: "alice"}, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()}
		if _, err := tx.Log().InsertSession(ctx, info); err != nil {
			return err
		}
		return tx.Log().Advance(ctx, info.Key, 3, tx.Now())
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var found []doctor.Finding
	report, err := doctor.Examine(ctx, st, func(f doctor.Finding) { found = append(found, f) }, nil)
	fmt.Println(report.Sessions, report.Turns, report.Findings, err)
	for _, f := range found {
		fmt.Println(f)
	}
	// Output:
	// 1 0 2 <nil>
	// turns of default/alice: end at 0, the session's head is 3
	// revisions of default/alice: has no dialogue state
}

func ExampleExamineSession() {
	ctx := context.Background()
	st := mem.New(mem.Config{})
	defer st.Close()
	err := st.Update(ctx, func(tx store.Tx) error {
		info := turn.SessionInfo{Key: turn.Key{Tenant: "default", Session: "alice"}, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()}
		var err error
		if info.Segment, err = tx.Log().InsertSession(ctx, info); err != nil {
			return err
		}
		return doctor.ExamineSession(ctx, tx, info, func(f doctor.Finding) { fmt.Println(f) })
	})
	fmt.Println(err)
	// Output:
	// revisions of default/alice: has no dialogue state
	// <nil>
}
