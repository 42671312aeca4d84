package commit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/memory"
)

// Two commits that begin from the same standing, of which one may have failed, do not see what the other added.
func TestRoomsBranch(t *testing.T) {
	items := func(name string, n int) (rows []memory.Row, ids []string) {
		for i := range n {
			id := fmt.Sprint(name, i)
			rows, ids = append(rows, memory.Row{ID: id, Type: memory.Event}), append(ids, id)
		}
		return rows, ids
	}
	base, want := room{all: true}, []string(nil)
	for n := range 20 {
		step := fmt.Sprintf("%02d-", n)
		rows, ids := items(step, 3)
		failed, lost := items("x"+step, 2)
		next := base.with(rows, memory.DefaultPolicies)
		other := base.with(failed, memory.DefaultPolicies)
		for _, test := range []struct {
			room room
			want []string
		}{{base, want}, {next, slices.Concat(want, ids)}, {other, slices.Concat(want, lost)}} {
			if got, _, ok := test.room.take(1000); !ok || !slices.Equal(got, test.want) {
				t.Fatalf("after %d: %v, want %v", n, got, test.want)
			}
		}
		base, want = next, append(want, ids...)
	}
}
