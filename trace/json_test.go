package trace_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/trace"
)

func TestContinueIsReadingAndWritingAgain(t *testing.T) {
	for name, begun := range map[string]trace.TurnTrace{
		"without entries": {TurnID: "t", Session: "s", Started: noon},
		"with entries": {
			TurnID: "t", Session: `"quoted" ]}`, ExportID: "e", Status: "complete", Started: noon.Add(7 * time.Microsecond),
			Spans:   []trace.Span{{Phase: "select", Start: ms(1), Length: ms(2)}},
			Entries: []trace.Entry{{At: ms(1), Kind: trace.Policy, Phase: "select", Text: "[]}"}},
		},
	} {
		for _, after := range []time.Duration{3 * time.Second, -time.Hour} {
			at, want := begun.Started.Add(after), begun
			want.Entries = append(want.Entries, trace.Entry{At: max(after, 0), Kind: trace.Published, Text: "as 1"})
			got, ok := trace.Continue(string(begun.AppendJSON(nil)), at, trace.Published, "as 1")
			if diff := cmp.Diff(string(want.AppendJSON(nil)), got); diff != "" || !ok {
				t.Errorf("%s: %v, %s", name, ok, diff)
			}
		}
	}
	for _, body := range []string{"", "{}", `{"started":"x","entries":[]}`, `{"started":"2026-03-01T12:00:00Z"`, `{"turn_id":"2026-03-01T12:00:00Z","entries":[]}`} {
		if got, ok := trace.Continue(body, noon, trace.Published, "x"); ok {
			t.Errorf("%q became %q", body, got)
		}
	}
}
