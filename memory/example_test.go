package memory_test

import (
	"fmt"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
)

func ExampleSelect() {
	view := &memory.View{
		Now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
		Goals: memory.NewInterests(memory.Subject{
			Weight: memory.HighPriority, Title: "Migrate the sessions", Texts: []string{"every table moves to the new schema"},
		}),
	}
	s, err := memory.Select([]memory.Candidate{
		{Type: memory.UserData, Source: memory.FromUser, Text: "I am away on Friday"},
		{Type: memory.ToolResult, Source: memory.FromTool, Text: "14 tables of sessions migrated"},
		{Type: memory.ToolResult, Source: memory.FromTool, Text: "sunny, 21 degrees"},
	}, view, memory.Selection{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range s.Kept {
		fmt.Printf("%.2f %s\n", e.Importance, e.Text)
	}
	for _, d := range s.Dropped {
		fmt.Printf("candidate %d is %s\n", d.Index, d.Reason)
	}
	// Output:
	// 0.61 I am away on Friday
	// 0.63 14 tables of sessions migrated
	// candidate 2 is unimportant
}

func ExampleManager_Fold() {
	m := memory.NewManager(memory.ManagerConfig{})
	var d memory.Digest
	for _, t := range []memory.Turn{
		{Seq: 2, TurnID: "t1", Input: "Which database?", Reply: "Let's use PostgreSQL."},
		{Seq: 4, TurnID: "t3", Input: "And the port?", Reply: "The default one, 5432."},
	} {
		d = m.Fold(d, t.Seq, m.Turn(t), func(decided string) (int64, string) {
			if memory.Says(t.Reply, decided) {
				return t.Seq, "t2"
			}
			return t.Seq - 1, t.TurnID
		})
	}
	fmt.Println(d.Rolling)
	fmt.Println(d.Decisions[0].Text, d.Decisions[0].TurnID)
	// Output:
	// User: Which database? Agent: Let's use PostgreSQL.
	// User: And the port? Agent: The default one, 5432.
	// Let's use PostgreSQL. t2
}
