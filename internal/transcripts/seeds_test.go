package transcripts_test

import (
	"os"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/transcripts"
)

// TestTranscriptsThatOnceBrokeAPromise plays those again.
func TestTranscriptsThatOnceBrokeAPromise(t *testing.T) {
	for _, once := range []transcripts.Series{
		// Passes overlapped, and the undo of one counted as that of another.
		{First: 16012}, {First: 124, Restless: true}, {First: 478, Restless: true},
	} {
		once.Count = 1
		if _, err := once.Play(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestTorturePassesThatOverlap plays 500 transcripts in which passes overlap and many are undone.
func TestTorturePassesThatOverlap(t *testing.T) {
	if os.Getenv("TURNSTONE_TORTURE") == "" {
		t.Skip("TURNSTONE_TORTURE is not set")
	}
	all, err := transcripts.Series{Count: 500, Workers: 2, Restless: true}.Play(t.Context())
	if t.Logf("%+v", all); err != nil {
		t.Fatal(err)
	}
	if all.UndoneLater == 0 {
		t.Error("no older pass was undone")
	}
}
