package commit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

// BenchmarkCommitInMemory is what a commit costs besides the database.
func BenchmarkCommitInMemory(b *testing.B) {
	st := newMem()
	source := ids.New(nil)
	err := st.Update(b.Context(), func(tx store.Tx) error {
		segment, err := tx.Log().InsertSession(b.Context(), turn.SessionInfo{Key: key, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
		if err == nil {
			_, err = dialogue.Start(b.Context(), tx.Dialogue(), key.Tenant, segment, tx.Now())
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	p, err := commit.New(b.Context(), st, commit.Config{
		NewID: func() string { return source.Next(time.Now()) }, Clock: time.Now,
		Selection: memory.Selection{Quota: memory.Quota{Session: 1 << 40}},
	})
	if err != nil {
		b.Fatal(err)
	}
	word := strings.Fields("release candidate failed on the second try because tests of storage were slow and nobody looked at them until noon")
	text := func(n, size int) string {
		var s strings.Builder
		for i := n; s.Len() < size; i += 7 {
			s.WriteString(word[i%len(word)])
			fmt.Fprintf(&s, "%d ", i%31)
		}
		return s.String()
	}
	ready := make([]commit.Exchange, 256)
	for n := range ready {
		ex := talk(text(n, 1500), text(n+1, 7500))
		high := 0.95
		for i, kind := range []memory.Type{memory.UserData, memory.ToolResult, memory.ToolResult, memory.Observation, memory.Event} {
			ex.Candidates = append(ex.Candidates, memory.Candidate{
				Type: kind, Source: memory.FromTool, Text: text(n+i, 200), Data: `{"result":"` + text(n+i, 2700) + `"}`,
				Given: memory.Given{Goals: &high, User: &high},
			})
		}
		ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: ptr("Ship it"), NextSteps: ptr([]string{text(n, 100)})}}
		ex.Scratch.Put = []scratch.Change{{ID: "a", Type: ptr("alert"), Content: ptr(text(n, 300))}, {ID: "b", Type: ptr("alert"), Content: ptr(text(n, 300))}}
		ready[n] = ex
	}
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		if _, err := p.Commit(b.Context(), key, ready[n%len(ready)]); err != nil {
			b.Fatal(err)
		}
	}
}
