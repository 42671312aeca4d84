package turn_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/turn"
)

func TestPath(t *testing.T) {
	for _, test := range []struct {
		path turn.Path
		off  map[int64]bool
	}{
		{nil, map[int64]bool{1: false, 9: false}},
		{turn.WholePath(), map[int64]bool{1: false, 9: false}},
		{turn.Path{{From: 1, To: 3}}, map[int64]bool{1: false, 3: false, 4: true}},
		{turn.Path{{From: 1, To: 3}, {From: 7}}, map[int64]bool{3: false, 4: true, 6: true, 7: false, 99: false}},
		{turn.Path{{From: 3}}, map[int64]bool{2: true, 3: false}},
	} {
		for seq, want := range test.off {
			if test.path.Off(seq) != want {
				t.Errorf("%v: turn %d is off: %t", test.path, seq, !want)
			}
		}
	}
}
