package main

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/store"
)

// What people read names no table, whichever it is.
func TestReceiptsNameNoTable(t *testing.T) {
	for _, table := range append(store.Schema, store.Table{Name: "some_later_table"}) {
		r := turnstone.Receipt{What: "turns", Sessions: []string{"s"}, Turns: 1, Removed: []turnstone.Removed{{Where: table.Name, Count: 2}}}
		lines := strings.Join((&app{}).forgottenLines(r), "\n")
		if strings.Contains(lines, "_") || !strings.Contains(lines, ": 2") {
			t.Errorf("%s: %s", table.Name, lines)
		}
	}
}
