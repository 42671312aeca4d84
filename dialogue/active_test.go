package dialogue_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/dialogue"
)

func TestAttach(t *testing.T) {
	s := stacked(t, "a")
	for _, id := range []string{"t1", "t2", "t1", "t2", "t3"} {
		must(t, s.Attach(id))
	}
	active, _ := s.Active()
	if diff := cmp.Diff([]string{"t1", "t2", "t3"}, active.TurnIDs); diff != "" {
		t.Error(diff)
	}
	want := []dialogue.Pointer{{FlowID: "a", TurnID: "t1"}, {FlowID: "a", TurnID: "t2"}, {FlowID: "a", TurnID: "t3"}}
	if diff := cmp.Diff(want, s.TakeAttached()); diff != "" {
		t.Error(diff)
	}
}

func TestOperationsOnTheActiveFlowNeedOne(t *testing.T) {
	ops := map[string]func(*dialogue.State) error{
		"attach turn":  func(s *dialogue.State) error { return s.Attach("t") },
		"declare slot": func(s *dialogue.State) error { return s.DeclareSlot("x", dialogue.TypeList) },
		"set slot":     func(s *dialogue.State) error { return s.SetSlot("x", "1", "") },
		"clear slot":   func(s *dialogue.State) error { return s.ClearSlot("x") },
		"set stage":    func(s *dialogue.State) error { return s.SetStage("x") },
	}
	finished := stacked(t, "a")
	_, err := finished.Complete("")
	must(t, err)
	for name, op := range ops {
		empty := stacked(t)
		refused(t, &empty, name+": no flow is active, the stack is empty; stack a flow on first", func() error { return op(&empty) })
		s := finished
		refused(t, &s, name+`: no flow is active, flow "a" (flow a) on top is completed; pop it first`, func() error { return op(&s) })
	}
}

func TestSetSlotKeepsTheValueByteForByte(t *testing.T) {
	values := map[dialogue.Value]dialogue.Type{
		`"<b> & \u00e9"`:                  dialogue.TypeString,
		`1.50e+3`:                         dialogue.TypeNumber,
		`-12345678901234567890`:           dialogue.TypeNumber,
		`true`:                            dialogue.TypeBoolean,
		`false`:                           dialogue.TypeBoolean,
		"[ 1,\n\t2 ]":                     dialogue.TypeList,
		`{"b": 1, "a": {"a":1,"a":null}}`: dialogue.TypeObject,
	}
	for value, typ := range values {
		s := stacked(t, "a")
		must(t, s.SetSlot("x", "\n "+value+"\t", "t9"))
		s, err := dialogue.DecodeState(dialogue.EncodeState(s))
		must(t, err)
		active, _ := s.Active()
		want := dialogue.Slot{Name: "x", Type: typ, Value: value, FilledBy: "t9"}
		if got, ok := active.Slot("x"); !ok || got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestSlotTypes(t *testing.T) {
	s := stacked(t, "a")
	must(t, s.DeclareSlot("n", dialogue.TypeNumber))
	must(t, s.DeclareSlot("n", dialogue.TypeList))
	refused(t, &s, `value: slot "n" takes a list, not a number; give a list, or clear the slot and declare it anew`, func() error {
		return s.SetSlot("n", "1", "t1")
	})
	must(t, s.SetSlot("n", "[1]", "t1"))
	must(t, s.SetSlot("n", "[2]", "t2"))
	must(t, s.DeclareSlot("n", dialogue.TypeList))
	refused(t, &s, `type: slot "n" is filled with a list, not a string; clear the slot first`, func() error {
		return s.DeclareSlot("n", dialogue.TypeString)
	})
	active, _ := s.Active()
	if diff := cmp.Diff([]dialogue.Slot{{Name: "n", Type: "list", Value: "[2]", FilledBy: "t2"}}, active.Slots); diff != "" {
		t.Error(diff)
	}
	must(t, s.ClearSlot("n"))
	must(t, s.ClearSlot("n"))
	active, _ = s.Active()
	if diff := cmp.Diff([]dialogue.Slot{{Name: "n", Type: "list"}}, active.Slots); diff != "" {
		t.Error(diff)
	}
	must(t, s.SetSlot("m", "true", ""))
	refused(t, &s, `value: slot "m" takes a boolean, not a string; give a boolean, or clear the slot and declare it anew`, func() error {
		return s.SetSlot("m", `""`, "")
	})
	must(t, s.ClearSlot("m"))
	must(t, s.DeclareSlot("m", dialogue.TypeString))
	must(t, s.SetSlot("m", `""`, ""))
}

func TestSlotsAreRefused(t *testing.T) {
	s := stacked(t, "a")
	most := dialogue.Value(`"` + strings.Repeat("x", dialogue.MaxValue-2) + `"`)
	big := dialogue.Value(`"` + strings.Repeat("x", dialogue.MaxValue-1) + `"`)
	const json = "; give one JSON value; text stands in double quotes"
	tests := []struct {
		name string
		op   func() error
		want string
	}{
		{"no name", func() error { return s.SetSlot("", "1", "") }, "name: is empty; give one"},
		{"declared without name", func() error { return s.DeclareSlot("", "list") }, "name: is empty; give one"},
		{"unknown type", func() error { return s.DeclareSlot("x", "text") }, `type: "text" is not a type; use string, number, boolean, list or object`},
		{"null", func() error { return s.SetSlot("x", "null", "") }, `value: slot "x" cannot be filled with null; clear the slot instead`},
		{"empty", func() error { return s.SetSlot("x", " ", "") }, "value: is not JSON: offset 0: expected a value, found the end" + json},
		{"bare word", func() error { return s.SetSlot("x", "Oslo", "") }, "value: is not JSON: offset 0: expected a value, found 'O'" + json},
		{"not UTF-8", func() error { return s.SetSlot("x", "\"\xff\"", "") }, "value: is not JSON: offset 1: byte 0xff is not UTF-8" + json},
		{"too long", func() error { return s.SetSlot("x", big, "") }, "value: is 262145 bytes long, at most 262144; keep it elsewhere and put a reference here"},
		{"turn id", func() error { return s.SetSlot("x", "1", "\n") }, `turn_id: "\n" has control characters; leave them out`},
		{"clear what is not there", func() error { return s.ClearSlot("x") }, `clear slot: flow "a" (flow a) has no slot x; name one of its slots`},
		{"stage", func() error { return s.SetStage("\x1b") }, `stage: "\x1b" has control characters; leave them out`},
		{"attach nothing", func() error { return s.Attach("") }, "turn_id: is empty; give one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { refused(t, &s, tt.want, tt.op) })
	}
	for i := range dialogue.MaxSlots {
		must(t, s.DeclareSlot(fmt.Sprint("s", i), dialogue.TypeString))
	}
	refused(t, &s, `declare slot: flow "a" (flow a) has as many slots as it may; use one of them, or one object for several values`, func() error {
		return s.DeclareSlot("more", dialogue.TypeString)
	})
	refused(t, &s, `set slot: flow "a" (flow a) has as many slots as it may; use one of them, or one object for several values`, func() error {
		return s.SetSlot("more", "1", "")
	})
	must(t, s.SetSlot("s0", most, ""))
	must(t, s.SetStage(strings.Repeat("x", 256)))
	refused(t, &s, `slots: 65 slots, at most 64; use fewer, or one object`, func() error {
		_, _, err := s.StackOn("b", "b", dialogue.Options{Slots: make([]dialogue.Slot, 65)})
		return err
	})
}

func TestSetStage(t *testing.T) {
	s := stacked(t, "a")
	for _, stage := range []string{"asking", ""} {
		must(t, s.SetStage(stage))
		if active, _ := s.Active(); active.Stage != stage {
			t.Errorf("stage is %q, want %q", active.Stage, stage)
		}
	}
}

func TestFlowsHandedOutAreTheCallersOwn(t *testing.T) {
	s := stacked(t, "a")
	must(t, s.SetSlot("x", "1", "t1"))
	must(t, s.Attach("t1"))
	before := marshal(t, s)
	spoil := func(f dialogue.Flow) {
		f.Slots[0].Value = "2"
		f.TurnIDs[0] = "spoiled"
	}
	active, _ := s.Active()
	spoil(active)
	found, ok := s.Flow("a")
	if !ok {
		t.Fatal("flow a is not found")
	}
	spoil(found)
	live, _, _ := s.StackOn("b", "flow a", dialogue.Options{})
	spoil(live)
	if got := marshal(t, s); got != before {
		t.Errorf("state became %s", got)
	}
	if _, ok := s.Flow("z"); ok {
		t.Error("a flow nobody made is found")
	}
}
