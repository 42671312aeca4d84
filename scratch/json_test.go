package scratch_test

import (
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/scratch"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var fullObservation = scratch.Observation{
	ID: "o1", Type: scratch.FlowInsight, Content: "the user \"likes\"\nwindows", Source: "reflector", Owner: "agent", Status: scratch.PendingReview,
	Confidence: 0.75, ContextRefs: []string{"flow:f1", "turn:7"}, Tags: []string{"Übung"},
	ExpiresAt: start.Add(24 * time.Hour), CreatedAt: start, UpdatedAt: start.Add(time.Microsecond),
}

var fullChanges = scratch.Changes{
	Put: []scratch.Change{{
		ID: "o1", Type: ptr("alert"), Content: ptr("x"), Source: ptr(""), Owner: ptr("user"), Status: ptr(scratch.Resolved), Confidence: ptr(0.0),
		ContextRefs: ptr([]string{"turn:1"}), Tags: ptr([]string(nil)), ExpiresAt: ptr(start),
	}, {}},
	Archive: []string{"o2"}, Clear: []string{"o3", "o4"},
}

// TestGolden compares with files that are kept for ever: what was written once must stay readable.
func TestGolden(t *testing.T) {
	for name, text := range map[string][]byte{"observation.json": fullObservation.AppendJSON(nil), "changes.json": fullChanges.AppendJSON(nil)} {
		file := "testdata/" + name
		if *update {
			if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.TrimSuffix(string(want), "\n"), string(text)); diff != "" {
			t.Error(diff)
		}
	}
}

func roundTrip[V any](t *testing.T, v V) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back V
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(v, back); diff != "" {
		t.Errorf("read back: %s", diff)
	}
}

func TestRoundTrip(t *testing.T) {
	roundTrip(t, fullObservation)
	roundTrip(t, fullChanges)
	roundTrip(t, fullChanges.Put[0])
}

func TestDecodeRefuses(t *testing.T) {
	text := string(fullObservation.AppendJSON(nil))
	for _, test := range []struct{ name, old, new, want string }{
		{"unknown field", `"owner"`, `"Owner"`, "Owner: is not a field; legal here: id, type, content, source, owner, status, confidence"},
		{"type", `0.75`, `"0.75"`, "confidence: expected a number, found a string"},
		{"confidence", `0.75`, `75`, "confidence: 75 is out of range"},
		{"status", `"pending_review"`, `"pending"`, `status: "pending" is none`},
		{"element", `"turn:7"`, `7`, "context_refs[1]: expected a string, found a number"},
		{"no flow", `"flow:f1",`, ``, "context_refs: name no flow"},
		{"missing", `"id":"o1",`, ``, "id: is empty"},
	} {
		changed := strings.Replace(text, test.old, test.new, 1)
		if changed == text {
			t.Fatalf("%s: %s is not in %s", test.name, test.old, text)
		}
		_, err := scratch.DecodeObservation(changed)
		var field *scratch.FieldError
		if !errors.As(err, &field) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
	if _, err := scratch.DecodeChanges(`{"put":[{"text":"x"}]}`); err == nil || !strings.Contains(err.Error(), "put[0].text: is not a field") {
		t.Errorf("change: %v", err)
	}
}

func TestMarshalRefuses(t *testing.T) {
	nan := scratch.Change{Confidence: ptr(math.NaN())}
	for name, v := range map[string]any{"observation": scratch.Observation{}, "change": nan, "changes": puts(nan)} {
		if text, err := json.Marshal(v); err == nil {
			t.Errorf("%s was written as %s", name, text)
		}
	}
}

// What cannot be read again is refused by its field, and only that; a list to clear as a whole.
func TestStorable(t *testing.T) {
	late := time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	kept, refused := scratch.Changes{
		Put:     []scratch.Change{{ID: "a", Confidence: ptr(math.NaN())}, {ID: "b"}, {ID: "c", ExpiresAt: &late}},
		Archive: []string{"d", "\xff"}, Clear: []string{"e", "\xff"},
	}.Storable()
	if len(kept.Put) != 1 || kept.Put[0].ID != "b" || !slices.Equal(kept.Archive, []string{"d"}) || len(kept.Clear) != 0 {
		t.Errorf("kept %+v", kept)
	}
	var fields []string
	for _, r := range refused {
		field, _, _ := strings.Cut(r.Reason, ":")
		fields = append(fields, field)
	}
	if want := []string{"confidence", "expires_at", "archive", "clear"}; !slices.Equal(fields, want) {
		t.Errorf("refused for %q, want %q", fields, want)
	}
}
