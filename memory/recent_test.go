package memory_test

import (
	"testing"

	"github.com/turnstone-dev/turnstone/memory"
)

func TestAddSelectedIsAddOfEachThatWasKept(t *testing.T) {
	candidates := []memory.Candidate{
		{Type: memory.UserData, Text: "likes tea in the morning", Source: memory.FromUser},
		{Type: memory.UserData, Text: "lives by the sea", Data: `{"city":"Oslo"}`, Source: memory.FromUser},
	}
	selected, err := memory.Select(candidates, &memory.View{}, memory.Selection{})
	if err != nil || len(selected.Kept) != 2 {
		t.Fatalf("%d kept, %v", len(selected.Kept), err)
	}
	var recent memory.Recent
	recent.AddSelected(&selected)
	again, err := memory.Select(candidates, &memory.View{Recent: &recent}, memory.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range again.Kept {
		if e.Provenance.Inputs.Novelty != 0 {
			t.Errorf("%q is new with %v", e.Text, e.Provenance.Inputs.Novelty)
		}
	}
}
