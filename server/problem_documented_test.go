package server

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/client"
)

// TestProblemsAreDocumented holds the kinds of problems, the documentation's list of them and the client's names against
// each other.
func TestProblemsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/server.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| status | kinds |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var told []string
	for _, m := range regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(table, -1) {
		told = append(told, m[1])
	}
	var known []string
	for _, k := range kinds {
		known = append(known, k.name)
	}
	for _, k := range others {
		known = append(known, k.name)
	}
	page := problemRows()
	for _, k := range known {
		if !strings.Contains(page, `<tr id="`+k+`">`) {
			t.Errorf("the page has no anchor for %s", k)
		}
	}
	slices.Sort(told)
	slices.Sort(known)
	if !slices.Equal(told, known) {
		t.Errorf("docs/server.md has %q, the server %q", told, known)
	}
	for _, k := range []client.Kind{
		client.Invalid, client.NotFound, client.Conflict, client.NotLegal, client.Precondition, client.Changed, client.Busy,
		client.OverBudget, client.Limit, client.TooLarge, client.Damaged, client.Unauthorized, client.Forbidden, client.TooMany,
		client.Model, client.Unavailable,
	} {
		if !slices.Contains(known, string(k)) {
			t.Errorf("the client knows %s, which no server says", k)
		}
	}
}
