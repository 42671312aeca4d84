package sqlite_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/sqlite"
)

// An index that was merged after somebody searched is not damaged.
func TestCheckAfterTheIndexWasMerged(t *testing.T) {
	s := openNew(t, sqlite.Config{Readers: 1})
	find := memory.Filter{Tenant: "a", Terms: []string{"common"}, Limit: 1, Now: noon}
	all := manyItems(400, func(int, *memory.Row) {})
	for i := 0; i < len(all); i += 10 {
		remember(t, s, all[i:i+10]...)
		if err := s.IndexText(t.Context()); err != nil {
			t.Fatal(err)
		}
		if i < 100 && len(items(t, s, find)) != 1 {
			t.Fatal("nothing was found")
		}
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
}
