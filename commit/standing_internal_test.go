package commit

import (
	"fmt"
	"testing"

	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// As many sessions are known as may be, those committed to first are not known any more.
func TestFewStandingsAreKept(t *testing.T) {
	st := mem.New(mem.Config{})
	defer st.Close()
	known := newStandings(st, 2)
	generation, _ := st.Generation()
	keys := make([]turn.Key, 3)
	for i := range keys {
		keys[i] = turn.Key{Tenant: "default", Session: fmt.Sprint("s", i)}
		for range 3 {
			known.put(keys[i], &standing{generation: generation})
		}
	}
	is := func(want ...bool) {
		t.Helper()
		for i, k := range keys {
			if _, ok := known.valid(k); ok != want[i] {
				t.Errorf("%s is known: %t", k.Session, ok)
			}
		}
		if len(known.known) > 2 || len(known.order) != len(known.known) {
			t.Errorf("%d are kept, %d in order", len(known.known), len(known.order))
		}
	}
	is(false, true, true)
	known.drop(keys[1])
	known.drop(keys[0])
	is(false, false, true)
	known.dropAll()
	is(false, false, false)
}
