package turnstone_test

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeProgramIsTheExample holds the README's Go code to the program that is compiled.
func TestReadmeProgramIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```go\n")
	block, _, closed := strings.Cut(rest, "```\n")
	program, err := os.ReadFile("examples/quickstart/main.go")
	if err != nil || !found || !closed {
		t.Fatalf("no Go code in the README, or no example: %v", err)
	}
	if block != string(program) {
		t.Error("the README's program is not examples/quickstart/main.go; copy it there")
	}
	if strings.Contains(rest[len(block):], "```go\n") {
		t.Error("the README has Go code that nobody compiles")
	}
}
