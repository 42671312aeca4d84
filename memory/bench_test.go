package memory_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/turnstone-dev/turnstone/memory"
)

// exchange is n candidates with texts of about 200 bytes and data of 2.5 KB, no two alike.
func exchange(n int) []memory.Candidate {
	types := []memory.Type{memory.ToolResult, memory.Observation, memory.UserData, memory.Error, memory.Event}
	sources := []memory.Source{memory.FromTool, memory.FromAgent, memory.FromUser, memory.FromTool, memory.FromSystem}
	candidates := make([]memory.Candidate, n)
	for i := range candidates {
		candidates[i] = memory.Candidate{
			Type: types[i%5], Source: sources[i%5], Tags: []string{"deploy", "api"},
			Text: fmt.Sprintf("Run %d of the migration on host-%d moved the sessions table: run `make migrate` again after the "+
				"permission on /var/lib/store-%d is granted, the schema check reported %d columns that nobody reads.", i, i*7, i*13, i*3),
			Data: `{"rows":[` + strings.Repeat(fmt.Sprintf(`{"id":%d,"name":"value %d","ok":true},`, i, i*31), 2500/45) + `{}]}`,
		}
	}
	return candidates
}

func session() *memory.View {
	goal := memory.Subject{
		Weight: memory.HighPriority, Title: "Migrate the sessions store",
		Texts: []string{"Move every session to the new schema without losing a turn", "schema reviewed", "run the migration on staging"},
	}
	recent := new(memory.Recent)
	for i := range memory.RecentSize {
		recent.AddRow(&memory.Row{Text: fmt.Sprintf("Item %d says that part %d of the report was read by reader %d", i, i*3, i*5)})
	}
	return &memory.View{
		Goals:  memory.NewInterests(goal),
		User:   memory.NewInterests(memory.Subject{Weight: 1, Texts: []string{"prefers short answers", "works on the sessions API"}}),
		Input:  memory.NewInterests(memory.Subject{Weight: 1, Texts: []string{"run the migration again please"}}),
		Recent: recent, Live: 1000, Now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, bb := range []struct {
		name    string
		n       int
		checked bool
	}{{"5", 5, false}, {"5fromLog", 5, true}, {"10000", 10_000, false}, {"10000fromLog", 10_000, true}} {
		b.Run(bb.name, func(b *testing.B) {
			candidates, view := exchange(bb.n), session()
			for i := range candidates {
				candidates[i].DataChecked = bb.checked
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := memory.Select(candidates, view, memory.Selection{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInterests(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		memory.NewInterests(memory.Subject{Weight: 1, Texts: []string{strings.Repeat("run the migration again please ", 30)}})
	}
}
