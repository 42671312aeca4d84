package turnstone_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/commit"
	"github.com/turnstone-dev/turnstone/memory"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestForgettingAnExchangeForgetsWhatItIsComparedBy: nothing is left that a guess of what it gave could be held against, so that it
// cannot be compared any more.
func TestForgettingAnExchangeForgetsWhatItIsComparedBy(t *testing.T) {
	st := mem.New(mem.Config{})
	s := session(t, open(t, st, turnstone.Config{}), "talk")
	ex := commit.Exchange{
		ExportID:   "01JD0000000000000000000001",
		Turns:      []turn.Draft{{Role: turn.User, Content: turn.Text{Text: "my pin is 4711"}}, {Role: turn.Agent, Content: turn.Text{Text: "noted"}}},
		Candidates: []memory.Candidate{{Type: memory.UserData, Text: "pin 4711"}},
	}
	if _, err := s.Commit(t.Context(), ex); err != nil {
		t.Fatal(err)
	}
	other := ex
	other.Candidates = []memory.Candidate{{Type: memory.UserData, Text: "pin 4712"}}
	if _, err := s.Commit(t.Context(), other); !errors.Is(err, turn.ErrConflict) || !strings.Contains(contents(t, st), "candidates ") {
		t.Fatalf("another candidate: %v", err)
	}
	if _, err := s.Forget(t.Context(), turnstone.Target{Seqs: []int64{1}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(contents(t, st), "candidates ") {
		t.Error("the sum is still there")
	}
	if res, err := s.Commit(t.Context(), other); err != nil || !res.Repeated {
		t.Errorf("when it is forgotten: %+v, %v", res, err)
	}
}
