package turnstone_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/event"
	"github.com/turnstone-dev/turnstone/store/mem"
	"github.com/turnstone-dev/turnstone/turn"
)

func TestASmallLimitOfTextsDoesNotHoldUpSummaries(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Limits: turn.Limits{Text: 2100}}), "s")
	for n := range 40 {
		converse(t, s, n)
		compiled(t, s, small)
	}
	if list, err := s.Checkpoints(t.Context()); err != nil || len(list) == 0 {
		t.Errorf("%v, %v", list, err)
	}
}

func TestAnUndoInALargerWindowHidesNothing(t *testing.T) {
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{}), "s")
	p := compiled(t, s, small)
	for n := 0; p.Passes < 3; n++ {
		converse(t, s, n)
		p = compiled(t, s, small)
	}
	large := turnstone.PromptOptions{Model: "gpt-4o", Context: 65536}
	all := compiled(t, s, large)
	if all.Shown <= p.Shown || len(all.Checkpoints) > 0 {
		t.Fatalf("%d shown after %d", all.Shown, p.Shown)
	}
	if u, err := s.Undo(t.Context(), 0, large); !errors.Is(err, turnstone.ErrNothingToUndo) {
		t.Errorf("%+v, %v", u, err)
	}
	if after := compiled(t, s, large); after.Shown != all.Shown {
		t.Errorf("%d shown after %d", after.Shown, all.Shown)
	}
}

func TestCompressSaysWhatTheCallerDidWrong(t *testing.T) {
	eng := open(t, mem.New(mem.Config{}), turnstone.Config{})
	s := session(t, eng, "s")
	converse(t, s, 0)
	if _, err := s.Compress(t.Context(), turnstone.PromptOptions{Model: "gpt-4o", Context: 99_999_999}); err == nil || !strings.Contains(err.Error(), "context: ") {
		t.Error(err)
	}
	if told := eventsOf(t, eng, s, event.CompressionError); len(told) > 0 {
		t.Errorf("%+v", told)
	}
	eng = open(t, mem.New(mem.Config{}), turnstone.Config{Compression: budget.Compression{Off: true}})
	s = session(t, eng, "s")
	converseTo(t, s, 0, 9)
	if _, err := s.Compress(t.Context(), small); !errors.Is(err, turnstone.ErrCompressionOff) {
		t.Error(err)
	}
}

// TestADraftForOtherPinsIsNotTaken pins a decision while a pass is drafted, which leaves it beside the summary.
func TestADraftForOtherPinsIsNotTaken(t *testing.T) {
	by := &summariser{do: extract}
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Summariser: by}), "s")
	converse(t, s, 0)
	decided := say(t, s, turn.Agent, "[DECISION] Use PostgreSQL 17.2 on db-main-03 - LOCKED")
	if err := s.Pin(t.Context(), decided.Seq); err != nil {
		t.Fatal(err)
	}
	n := 1
	for ; by.asked.Load() == 0; n++ {
		converse(t, s, n)
		compiled(t, s, small)
		s.Settle(t.Context())
	}
	if err := s.Unpin(t.Context(), decided.Seq); err != nil {
		t.Fatal(err)
	}
	p := compiled(t, s, small)
	for ; p.Passes == 0; n++ {
		converse(t, s, n)
		p = compiled(t, s, small)
	}
	if !strings.Contains(textOf(p), "db-main-03") {
		t.Errorf("the decision is neither shown nor summarised: %s", textOf(p))
	}
}

func TestADraftForAnotherWindowIsNotTaken(t *testing.T) {
	by := &summariser{do: extract}
	s := session(t, open(t, mem.New(mem.Config{}), turnstone.Config{Summariser: by}), "s")
	large := turnstone.PromptOptions{Model: "gpt-4o", Context: 32768}
	for n := 0; by.asked.Load() == 0; n++ {
		converse(t, s, n)
		compiled(t, s, large)
		s.Settle(t.Context())
	}
	p := compiled(t, s, small)
	list, err := s.Checkpoints(t.Context())
	if err != nil || len(list) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	for _, c := range list {
		if most := compress.Cap(compress.Detailed, p.Window, 0); c.CurrentTokens > int64(most) {
			t.Errorf("a checkpoint takes %d tokens of %d", c.CurrentTokens, most)
		}
	}
}
