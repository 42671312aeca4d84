package event_test

import (
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/event"
)

// Names are never changed: whoever listens for one finds it.
func TestNamesOfKinds(t *testing.T) {
	for kind, name := range map[event.Kind]string{
		event.CommitEscalated:     "commit-escalated",
		event.PromptTruncated:     "prompt-truncated",
		event.VocabularyMismatch:  "vocabulary-mismatch",
		event.StreamOverflow:      "stream-overflow-emergency",
		event.SessionEnded:        "session-ended",
		event.SessionReopened:     "session-reopened",
		event.Compressed:          "compressed",
		event.CompressionSkipped:  "compression-skipped",
		event.CompressionError:    "compression-error",
		event.RolloverComplete:    "rollover-complete",
		event.AutoSummaryCreated:  "auto-summary-created",
		event.Tier1Compressed:     "tier1-compressed",
		event.Tier2Compressed:     "tier2-compressed",
		event.Tier3Compressed:     "tier3-compressed",
		event.Tier4Compressed:     "tier4-compressed",
		event.Tier5Compressed:     "tier5-compressed",
		event.SnapshotCreated:     "snapshot-created",
		event.SnapshotRestored:    "snapshot-restored",
		event.Undone:              "undone",
		event.SnapshotError:       "snapshot-error",
		event.AutoSnapshotCreated: "auto-snapshot-created",
	} {
		if string(kind) != name {
			t.Errorf("%s is not called %s", kind, name)
		}
	}
}

func TestTierCompressed(t *testing.T) {
	var got []event.Kind
	for tier := range 8 {
		got = append(got, event.TierCompressed(tier-1))
	}
	want := []event.Kind{
		"tier1-compressed", "tier1-compressed", "tier1-compressed", "tier2-compressed",
		"tier3-compressed", "tier4-compressed", "tier5-compressed", "tier5-compressed",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
