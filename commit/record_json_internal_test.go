package commit

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnstone-dev/turnstone/internal/record/recordtest"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/trace"
)

// What is written member by member is what the tables, which read it, would write.
func TestOutboxIsWrittenAsItsTableSays(t *testing.T) {
	// They cannot be set by reflection, so that each is drawn by its name.
	if drawn := 7 + 1; len(outboxedFields) != drawn {
		t.Fatalf("an outbox row has %d fields and %d are drawn: draw the others too", len(outboxedFields), drawn)
	}
	rapid.Check(t, func(t *rapid.T) {
		begun := trace.TurnTrace{TurnID: "t", Status: "complete", Started: time.Unix(1, 0), Spans: []trace.Span{{Phase: "reflect"}}}
		o := outboxed{trace: string(begun.AppendJSON(nil))}
		// What others write is short, and raw JSON a number.
		own := func(at any, label string) bool {
			switch at := at.(type) {
			case *memory.Episode:
				*at = memory.Episode{ID: "01KG0000000000000000000001", Type: memory.Event, Text: "it rained"}
			case *Update:
				*at = Update{ID: rapid.StringMatching(`[a-z"]*`).Draw(t, label), Change: rapid.StringMatching(`[1-9]`).Draw(t, label)}
			default:
				return false
			}
			return true
		}
		recordtest.Fill(t, &o.export, "export", own)
		recordtest.Fill(t, &o.flawed, "flawed", own)
		recordtest.Fill(t, &o.input, "input", own)
		recordtest.Fill(t, &o.reply, "reply", own)
		recordtest.Fill(t, &o.items, "items", own)
		recordtest.Fill(t, &o.inline, "inline", own)
		recordtest.Fill(t, &o.sums, "sums", own)
		want, got := string(outboxedFields.Append(nil, &o)), string(o.append(nil, &begun))
		if want != got {
			t.Fatalf("the outbox row is\n%s\nwant\n%s", got, want)
		}
	})
}
