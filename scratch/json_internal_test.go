package scratch

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/record/recordtest"
)

// What is written member by member is what the table, which reads it, would write.
func TestObservationsAreWrittenAsTheirTableSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o Observation
		recordtest.Fill(t, &o, "observation", nil)
		if want, got := string(observationFields.Append(nil, &o)), string(o.append(nil)); want != got {
			t.Fatalf("the observation is\n%s\nwant\n%s", got, want)
		}
	})
}
