package prompt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestSince(t *testing.T) {
	e := prompt.Epoch{
		Number: 3, From: 30, Before: 2,
		Checkpoints: []prompt.Ref{{Range: turn.Range{From: 1, To: 9}}, {Range: turn.Range{From: 10, To: 29}}},
		Kept:        []prompt.Kept{{Range: turn.Range{From: 2, To: 2}, Why: prompt.Said}, {Range: turn.Range{From: 9, To: 10}, Why: prompt.Pinned}},
		Paged:       []prompt.Handle{{Range: turn.Range{From: 3, To: 3}}, {Range: turn.Range{From: 12, To: 12}}},
		Quotes:      []prompt.Quote{{Turn: 4}, {Turn: 10}},
		Unquoted:    []turn.Range{{From: 5, To: 20}, {From: 22, To: 22}},
	}
	want := prompt.Epoch{
		Number: 3, From: 10, Before: 2,
		Checkpoints: e.Checkpoints[:1], Kept: e.Kept[:1], Paged: e.Paged[:1], Quotes: e.Quotes[:1], Unquoted: []turn.Range{{From: 5, To: 9}},
	}
	if diff := cmp.Diff(want, e.Since(10)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(e, e.Since(40)); diff != "" || e.Unquoted[0].To != 20 {
		t.Error(diff)
	}
}

// TestSinceNamesWhatStaysOut: messages that have a handle together with some that come back are still named.
func TestSinceNamesWhatStaysOut(t *testing.T) {
	e := prompt.Epoch{From: 30, Paged: []prompt.Handle{
		{Range: turn.Range{From: 1, To: 1}, Messages: 1, Tokens: 90},
		{Range: turn.Range{From: 3, To: 15}, Messages: 5, Tokens: 60},
		{Range: turn.Range{From: 17, To: 17}, Messages: 1, Tokens: 90},
	}}
	want := []prompt.Handle{e.Paged[0], {Range: turn.Range{From: 3, To: 9}}}
	if diff := cmp.Diff(want, e.Since(10).Paged); diff != "" {
		t.Error(diff)
	}
	// A message that ends among the recent turns is shown there.
	e.Paged[1].Messages = 1
	if diff := cmp.Diff(e.Paged[:1], e.Since(10).Paged); diff != "" {
		t.Error(diff)
	}
}
