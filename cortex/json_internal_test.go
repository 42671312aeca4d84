package cortex

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/record/recordtest"
)

// What is written member by member is what the tables, which read it, would write.
func TestGoalsAndAuditsAreWrittenAsTheirTablesSay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g Goal
		recordtest.Fill(t, &g, "goal", nil)
		if want, got := string(goalFields.Append(nil, &g)), string(g.append(nil)); want != got {
			t.Fatalf("the goal is\n%s\nwant\n%s", got, want)
		}
		var audits []Audit
		recordtest.Fill(t, &audits, "audits", nil)
		if want, got := string(auditList.Append(nil, audits)), string(appendAudits(nil, audits)); want != got {
			t.Fatalf("the audits are\n%s\nwant\n%s", got, want)
		}
	})
}
