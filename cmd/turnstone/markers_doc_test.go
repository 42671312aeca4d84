package main

import (
	"os"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/cortex"
)

// TestDocumentedMarkers holds the goal markers in docs/exchange.md to what is parsed.
func TestDocumentedMarkers(t *testing.T) {
	doc, err := os.ReadFile("../../docs/exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(doc), "\n## Goal markers\n")
	blocks := strings.Split(section, "```text\n")
	if len(blocks) != 3 {
		t.Fatalf("there are %d blocks of lines, want 2", len(blocks)-1)
	}
	lines := func(block string) []string {
		text, _, _ := strings.Cut(block, "```")
		return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	words := map[cortex.MarkerKind]int{}
	for _, line := range lines(blocks[1]) {
		markers := cortex.ParseMarkers(line)
		if len(markers) != 1 {
			t.Errorf("%q: got %d markers", line, len(markers))
			continue
		}
		words[markers[0].Kind]++
		if behind := strings.Contains(line, " - ") || strings.Contains(line, "Created"); behind != (markers[0].Status != "") {
			t.Errorf("%q: its word is %q", line, markers[0].Status)
		}
	}
	for _, kind := range []cortex.MarkerKind{cortex.MarkGoal, cortex.MarkMilestone, cortex.MarkDecision, cortex.MarkArtifact, cortex.MarkNext} {
		if words[kind] == 0 || !strings.Contains(section, "| `["+string(kind)+"]` |") {
			t.Errorf("[%s] has no example or no row", kind)
		}
	}
	for _, line := range lines(blocks[2]) {
		if markers := cortex.ParseMarkers(line); len(markers) > 0 {
			t.Errorf("%q: got %+v", line, markers)
		}
	}
}
