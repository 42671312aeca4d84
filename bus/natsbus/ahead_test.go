package natsbus

import (
	"testing"
	"time"
)

// TestWhatComesAgainIsRememberedAndTheRestForgotten: another relay noted it, and nobody says so.
func TestWhatComesAgainIsRememberedAndTheRestForgotten(t *testing.T) {
	var a ahead
	at := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	a.add("noted by another", at)
	a.add("waits", at)
	for range 3 {
		at = at.Add(aheadFor)
		if !a.has("waits") {
			t.Fatal("what waits is forgotten")
		}
		a.add("new", at)
	}
	if a.has("noted by another") {
		t.Error("what another relay noted is remembered for ever")
	}
}
