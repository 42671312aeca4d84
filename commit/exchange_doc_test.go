package commit_test

import (
	"os"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/commit"
)

// TestTheDocumentedExchangeIsOne: the example in docs/exchange.md is decoded and committed.
func TestTheDocumentedExchangeIsOne(t *testing.T) {
	doc, err := os.ReadFile("../docs/exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```json\n")
	example, _, found := strings.Cut(rest, "```")
	ex, err := commit.DecodeExchange(example)
	if err != nil || !found {
		t.Fatal(err)
	}
	if res := newWorldOnMem(t, commit.Config{}).commit(ex); res.Status != commit.Complete || len(res.Turns) != 5 || len(res.Episodes) == 0 {
		t.Errorf("%+v", res)
	}
	// Every field that can be given is named.
	_, err = commit.DecodeExchange(`{"nothing": 1}`)
	_, legal, _ := strings.Cut(err.Error(), "legal here: ")
	for _, field := range strings.Split(legal, ", ") {
		if !strings.Contains(string(doc), "`"+field+"`") {
			t.Errorf("%s is not described", field)
		}
	}
}
