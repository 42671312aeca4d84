package transcripts_test

import (
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/transcripts"
)

// TestTranscriptsThatOnceBrokeAPromise plays those again.
func TestTranscriptsThatOnceBrokeAPromise(t *testing.T) {
	for seed, what := range map[uint64]string{
		16012: "a pass counted as undone because an older one was, whose turns lie between its own",
	} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if _, err := transcripts.Run(t.Context(), seed); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
}
