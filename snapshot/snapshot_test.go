package snapshot_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/snapshot"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	noon   = time.Date(2026, 5, 4, 12, 0, 0, 123456000, time.UTC)
)

func full() snapshot.Snapshot {
	return snapshot.Snapshot{
		ID: "01J00000000000000000000001", Session: "talk", Name: "before the \"Übergabe\"", Turn: 40, Epoch: 3, At: noon,
		TokenCount: 5234, MessageCount: 38, CheckpointCount: 2, Model: "llama3.2:3b", Tier: 2, Mode: "developer",
	}
}

// What was written once stays readable: the file is kept for ever.
func TestSnapshotGolden(t *testing.T) {
	auto := snapshot.Snapshot{ID: "01J00000000000000000000002", Session: "talk", Auto: true, At: noon}
	var docs string
	for _, s := range []snapshot.Snapshot{full(), auto} {
		row := s.Row()
		if row.ID != s.ID || row.AfterSeq != s.Turn || row.Auto != s.Auto || !row.At.Equal(s.At) {
			t.Errorf("row %+v of %+v", row, s)
		}
		back, err := snapshot.Decode(row)
		if diff := cmp.Diff(s, back); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
		docs += row.Doc + "\n"
	}
	const file = "testdata/snapshots.jsonl"
	if *update {
		if err := os.WriteFile(file, []byte(docs), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), docs); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestSnapshotsThatAreRefused(t *testing.T) {
	for _, test := range []struct {
		field, problem string
		spoil          func(*snapshot.Snapshot)
	}{
		{"id", `"" is no ULID; give one of 26 characters`, func(s *snapshot.Snapshot) { s.ID = "" }},
		{"id", "is no ULID", func(s *snapshot.Snapshot) { s.ID = "01j00000000000000000000001" }},
		{"session", "is empty", func(s *snapshot.Snapshot) { s.Session = "" }},
		{"name", "line breaks", func(s *snapshot.Snapshot) { s.Name = "two\nlines" }},
		{"name", "is empty", func(s *snapshot.Snapshot) { s.Name = "  " }},
		{"name", "201 bytes long", func(s *snapshot.Snapshot) { s.Name = strings.Repeat("x", 201) }},
		{"name", "not valid UTF-8", func(s *snapshot.Snapshot) { s.Name = "\xff" }},
		{"name", "looks like the id of a snapshot; give another name", func(s *snapshot.Snapshot) { s.Name = "01J00000000000000000000009" }},
		{"name", "automatic snapshot is called", func(s *snapshot.Snapshot) { s.Auto = true }},
		{"turn", "-1 is less than none; give 0 or more", func(s *snapshot.Snapshot) { s.Turn = -1 }},
		{"epoch", "-1 is less than none", func(s *snapshot.Snapshot) { s.Epoch = -1 }},
		{"token_count", "-5 is less than none", func(s *snapshot.Snapshot) { s.TokenCount = -5 }},
		{"message_count", "-1 is less than none", func(s *snapshot.Snapshot) { s.MessageCount = -1 }},
		{"message_count", "41 is more than the 40 turns there were", func(s *snapshot.Snapshot) { s.MessageCount = 41 }},
		{"checkpoint_count", "-1 is less than none", func(s *snapshot.Snapshot) { s.CheckpointCount = -1 }},
		{"tier", "6 is no tier", func(s *snapshot.Snapshot) { s.Tier = 6 }},
		{"tier", "-1 is no tier", func(s *snapshot.Snapshot) { s.Tier = -1 }},
		{"at", "is missing", func(s *snapshot.Snapshot) { s.At = time.Time{} }},
	} {
		s := full()
		test.spoil(&s)
		var field *snapshot.FieldError
		if err := s.Check(); !errors.As(err, &field) || field.Name != test.field || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s, %s: %v", test.field, test.problem, err)
		}
	}
	longest := full()
	longest.Name = strings.Repeat("x", 200)
	longest.MessageCount, longest.Tier = longest.Turn, 5
	if err := longest.Check(); err != nil {
		t.Error(err)
	}
}

func TestDamagedRowsAreRefused(t *testing.T) {
	s := full()
	for name, spoil := range map[string]func(*snapshot.Row){
		"cut":     func(r *snapshot.Row) { r.Doc = r.Doc[:len(r.Doc)-4] },
		"unknown": func(r *snapshot.Row) { r.Doc = `{"sesion":"talk"}` },
		"type":    func(r *snapshot.Row) { r.Doc = `{"session":"talk","tier":"2"}` },
		"empty":   func(r *snapshot.Row) { r.Doc = `{}` },
		"turn":    func(r *snapshot.Row) { r.AfterSeq = 3 },
	} {
		row := s.Row()
		spoil(&row)
		var field *snapshot.FieldError
		if got, err := snapshot.Decode(row); !errors.As(err, &field) || !strings.Contains(err.Error(), "snapshot 01J00000000000000000000001: ") || got != (snapshot.Snapshot{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
