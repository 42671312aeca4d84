package commit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/cortex"
	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/scratch"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// BenchmarkForetell makes what the outbox will say of an exchange that changes a goal and two notes and is remembered in five items.
func BenchmarkForetell(b *testing.B) {
	p, r := exchanged(b)
	parts := r.prepare(p)
	b.Run("outbox", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.foretell(parts)
		}
	})
	b.Run("goals", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if u := describeIntentions(&r.stagedIn); len(u.UpdatedGoals) != 1 {
				b.Fatal(u)
			}
		}
	})
	b.Run("notes", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if u := describeNotes(&r.stagedOn); len(u.Updated) != 2 {
				b.Fatal(u)
			}
		}
	})
}

// exchanged is an exchange of the usual size whose first three phases are over.
func exchanged(b *testing.B) (*Pipeline, *run) {
	st, source := mem.New(mem.Config{}), ids.New(nil)
	p, err := New(b.Context(), st, Config{Clock: time.Now, NewID: func() string { return source.Next(time.Now()) }})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.Close(b.Context()) })
	key := turn.Key{Tenant: "default", Session: "talk"}
	err = st.Update(b.Context(), func(tx store.Tx) error {
		_, err := tx.Log().InsertSession(b.Context(), turn.SessionInfo{Key: key, Status: turn.Active, CreatedAt: tx.Now(), LastActivity: tx.Now()})
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	said := func(role turn.Role, text string) turn.Draft {
		return turn.Draft{ID: p.config.NewID(), Role: role, Content: turn.Text{Text: text}}
	}
	ex := Exchange{Turns: []turn.Draft{said(turn.User, strings.Repeat("Why? ", 300)), said(turn.Agent, strings.Repeat("It is so. ", 750))}}
	high, title, kind := 0.95, "Ship the release candidate", "alert"
	for i := range 5 {
		ex.Candidates = append(ex.Candidates, memory.Candidate{
			Type: memory.Observation, Source: memory.FromTool, Text: strings.Repeat(fmt.Sprint("word", i, " "), 40), Given: memory.Given{Goals: &high, User: &high},
		})
	}
	steps := []string{"Then " + strings.Repeat("another ", 16), "Last " + strings.Repeat("another ", 16)}
	ex.Intentions.Goals = []cortex.GoalChange{{ID: "g", Title: &title, NextSteps: &steps}}
	for i := range 2 {
		content := strings.Repeat(fmt.Sprintf("the queue of worker %d is long, ", i), 10)
		ex.Scratch.Put = append(ex.Scratch.Put, scratch.Change{ID: fmt.Sprint("o", i), Type: &kind, Content: &content})
	}
	r := &run{key: key, exchange: ex}
	if err := p.begin(b.Context(), r); err != nil {
		b.Fatal(err)
	}
	p.phase(r, PhaseComplete, func() error { p.complete(b.Context(), r); return nil })
	p.phase(r, PhaseReflect, func() error { p.reflect(b.Context(), r); return nil })
	if err := p.phase(r, PhaseSelect, func() error { return p.selectState(r) }); err != nil {
		b.Fatal(err)
	}
	r.begun = r.trace.Take(r.exchange.ExportID, "")
	return p, r
}
