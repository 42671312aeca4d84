package main

import (
	"testing"

	"github.com/turnstone-dev/turnstone/turn"
)

func TestPathOfASession(t *testing.T) {
	back := turn.Path{{From: 1, To: 3}, {From: 7}}
	for _, test := range []struct {
		path     turn.Path
		from, to int64
		want     int64
	}{
		{nil, 1, 9, 0},
		{turn.Path{{From: 1}}, 1, 9, 0},
		{back, 1, 9, 3},
		{back, 4, 9, 3},
		{back, 6, 9, 1},
		{back, 7, 9, 0},
		{back, 1, 5, 2},
		{back, 1, 0, 0},
		{turn.Path{{From: 1, To: 3}}, 1, 5, 2},
	} {
		off := int64(0)
		for seq := test.from; seq <= test.to; seq++ {
			if test.path.Off(seq) {
				off++
			}
		}
		if got := leftOut(test.path, test.from, test.to); got != test.want || off != test.want {
			t.Errorf("%v from %d to %d: %d left out, %d off, want %d", test.path, test.from, test.to, got, off, test.want)
		}
	}
	if turnsIn(turn.Range{From: 4, To: 4}) != "turn 4" {
		t.Error("one turn is named as many")
	}
}
