package compress_test

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with a file that is kept for ever: what was written once must stay readable.
func golden(t *testing.T, name, text string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-want +got)\n%s", file, diff)
	}
}

var hash = strings.Repeat("0123456789abcdef", 4)

func fullCheckpoint() compress.Checkpoint {
	return compress.Checkpoint{
		ID: "cp1", Number: 3, Version: 2, Level: compress.Moderate, Range: turn.Range{From: 1, To: 50}, Summary: "Decided: Use JWT\n\"Übergabe\"",
		CreatedAt: start, CompressedAt: start.Add(1500 * time.Microsecond), OriginalTokens: 5000, CurrentTokens: 900, CompressionCount: 2,
		KeyDecisions: []string{"Use JWT"}, FilesModified: []string{"src/a.go", "b.go"}, NextSteps: []string{"rest"}, Worth: []turn.Range{{From: 1, To: 4}, {From: 9, To: 50}}, SourceHash: hash,
		Receipt: compress.Receipt{
			By: "llama3.2:3b", Tries: 2, Repaired: true, Patched: []string{"x_1"}, Facts: 4, Literals: 20, Held: 19, Missing: []string{"x_2"},
			Omitted: []string{"x_3"}, More: 7, Refused: []string{"it is empty"}, Before: 5000, After: 900, SourceHash: hash,
		},
	}
}

func TestCheckpointGolden(t *testing.T) {
	full := fullCheckpoint()
	least := compress.Checkpoint{
		ID: "cp2", Number: 1, Version: 1, Range: turn.Range{From: 7, To: 7}, Summary: "x", CreatedAt: start, CompressedAt: start,
		OriginalTokens: 1, CompressionCount: 1, SourceHash: hash, Receipt: compress.Receipt{By: compress.ByExtract, SourceHash: hash},
	}
	var text string
	for _, c := range []compress.Checkpoint{full, least} {
		line := string(c.AppendJSON([]byte("")))
		text += line + "\n"
		back, err := compress.DecodeCheckpoint(line)
		if diff := cmp.Diff(c, back); err != nil || diff != "" {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
	golden(t, "checkpoints.jsonl", text)
}

func TestCheckpointsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		field string
		spoil func(c *compress.Checkpoint)
	}{
		{"id", func(c *compress.Checkpoint) { c.ID = "" }},
		{"level", func(c *compress.Checkpoint) { c.Level = 4 }},
		{"level", func(c *compress.Checkpoint) { c.Level = -1 }},
		{"range", func(c *compress.Checkpoint) { c.Range.From = 0 }},
		{"range", func(c *compress.Checkpoint) { c.Range.To = 0 }},
		{"compression_number", func(c *compress.Checkpoint) { c.Number = 0 }},
		{"version", func(c *compress.Checkpoint) { c.Version = 0 }},
		{"compression_count", func(c *compress.Checkpoint) { c.CompressionCount = 0 }},
		{"original_tokens", func(c *compress.Checkpoint) { c.OriginalTokens, c.CurrentTokens = 0, -1 }},
		{"current_tokens", func(c *compress.Checkpoint) { c.CurrentTokens = 5000 }},
		{"current_tokens", func(c *compress.Checkpoint) { c.CurrentTokens = -1 }},
		{"summary", func(c *compress.Checkpoint) { c.Summary = " \n" }},
		{"summary", func(c *compress.Checkpoint) { c.Summary = strings.Repeat("x", compress.MaxSummary+1) }},
		{"compressed_at", func(c *compress.Checkpoint) { c.CreatedAt = time.Time{} }},
		{"compressed_at", func(c *compress.Checkpoint) { c.CompressedAt = time.Time{} }},
		{"source_hash", func(c *compress.Checkpoint) { c.SourceHash = hash[:63] + "G" }},
		{"source_hash", func(c *compress.Checkpoint) { c.SourceHash = "" }},
		{"key_decisions", func(c *compress.Checkpoint) { c.KeyDecisions = slices.Repeat([]string{"x"}, compress.MaxFacts+1) }},
		{"files_modified[1]", func(c *compress.Checkpoint) { c.FilesModified[1] = strings.Repeat("x", compress.MaxFact+1) }},
		{"next_steps[0]", func(c *compress.Checkpoint) { c.NextSteps[0] = "a\x00b" }},
		{"worth[0]", func(c *compress.Checkpoint) { c.Worth[0].From = 0 }},
		{"worth[0]", func(c *compress.Checkpoint) { c.Worth[0].From = 5 }},
		{"worth[1]", func(c *compress.Checkpoint) { c.Worth[1].From = 4 }},
		{"worth[1]", func(c *compress.Checkpoint) { c.Worth[1].To = 51 }},
		{"receipt.by", func(c *compress.Checkpoint) { c.Receipt.By = "" }},
		{"receipt.tries", func(c *compress.Checkpoint) { c.Receipt.Tries = -1 }},
		{"receipt.held", func(c *compress.Checkpoint) { c.Receipt.Held = -1 }},
		{"receipt.missing[0]", func(c *compress.Checkpoint) { c.Receipt.Missing[0] = strings.Repeat("x", 2000) }},
		{"receipt.source_hash", func(c *compress.Checkpoint) { c.Receipt.SourceHash = "x" }},
	} {
		c := fullCheckpoint()
		tt.spoil(&c)
		for what, err := range map[string]error{"check": c.Check(), "decode": decodeError(string(c.AppendJSON(nil)))} {
			var field *compress.FieldError
			if !errors.As(err, &field) || field.Name != tt.field {
				t.Errorf("%s of a bad %s: %v", what, tt.field, err)
			}
		}
	}
	full := fullCheckpoint()
	line := string(full.AppendJSON(nil))
	for _, damaged := range []string{"", "{}", line[:len(line)-1], line + "x", strings.Replace(line, `"level"`, `"depth"`, 1), strings.Replace(line, `"from":1`, `"from":"1"`, 1), strings.Replace(line, `"tries":2`, `"tries":2,"tries":2`, 1)} {
		if c, err := compress.DecodeCheckpoint(damaged); err == nil || c.ID != "" {
			t.Errorf("%q became %+v", damaged, c)
		}
	}
}

func decodeError(data string) error {
	_, err := compress.DecodeCheckpoint(data)
	return err
}

func TestDescribe(t *testing.T) {
	var c compress.Checkpoint
	c.NextSteps = []string{"old"}
	c.Describe([]compress.Fact{
		{"decision", "A", 1}, {"file", "a.go", 1}, {"next", "x", 2}, {"next", "y", 3}, {"next", "z", 3}, {"request", "r", 4}, {"protected", "p", 4},
		{"decision", "A", 5}, {"decision", "B", 5}, {"decision", strings.Repeat("x", compress.MaxFact+1), 6},
	})
	want := compress.Checkpoint{KeyDecisions: []string{"A", "B"}, FilesModified: []string{"a.go"}, NextSteps: []string{"y", "z"}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	var many []compress.Fact
	for i := range compress.MaxFacts + 10 {
		many = append(many, compress.Fact{Kind: compress.FactFile, Text: strings.Repeat("x", i+1), Seq: 1})
	}
	c.Describe(many)
	if len(c.FilesModified) != compress.MaxFacts || len(c.FilesModified[0]) != 11 || c.KeyDecisions != nil {
		t.Errorf("%d files, the first of %d bytes", len(c.FilesModified), len(c.FilesModified[0]))
	}
}

func TestLevels(t *testing.T) {
	for level, want := range map[compress.Level]string{
		compress.Ultra: "ultra", compress.Compact: "compact", compress.Moderate: "moderate", compress.Detailed: "detailed", 4: "no level", -1: "no level",
	} {
		if got := level.String(); got != want {
			t.Errorf("%d is %q", level, got)
		}
	}
}

func FuzzDecodeCheckpoint(f *testing.F) {
	full := fullCheckpoint()
	f.Add(string(full.AppendJSON(nil)))
	f.Add(`{"id":"x","range":{"from":1,"to":2}}`)
	f.Fuzz(func(t *testing.T, data string) {
		c, err := compress.DecodeCheckpoint(data)
		if err != nil {
			return
		}
		again, err := compress.DecodeCheckpoint(string(c.AppendJSON(nil)))
		if diff := cmp.Diff(c, again); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}
