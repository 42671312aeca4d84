package dialogue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnstone-dev/turnstone/dialogue"
)

// marshal returns the state's whole JSON, turn ids included, without what encoding/json does to it.
func marshal(t testing.TB, s dialogue.State) string {
	t.Helper()
	text, err := s.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// full is a state that uses every member.
const full = `{"stack":[` +
	`{"flow_id":"f1","name":"plan a trip","status":"pending","slots":[{"name":"city","type":"string","value":"Oslo <&> \u00e9","filled_by":"t1"},{"name":"date","type":"string"}],"stage":"booking"},` +
	`{"flow_id":"f2","name":"book","status":"completed","plan_id":"f1","result":{ "ok" : true },"turn_ids":["t1","t2"]}],` +
	`"set_aside":[{"flow_id":"f0","name":"fly","status":"invalid","turn_ids":["t1"]}]}`

func TestEncodingIsStable(t *testing.T) {
	s, err := dialogue.DecodeState(full)
	must(t, err)
	if got := marshal(t, s); got != full {
		t.Errorf("got  %s\nwant %s", got, full)
	}
	bare := strings.NewReplacer(`,"turn_ids":["t1","t2"]`, "", `,"turn_ids":["t1"]`, "").Replace(full)
	if got := dialogue.EncodeState(s); got != bare {
		t.Errorf("got  %s\nwant %s", got, bare)
	}
	if got := dialogue.EncodeState(dialogue.State{}); got != `{"stack":[]}` {
		t.Errorf("the empty state is %s", got)
	}
}

func TestDecodeDoesNotMindOrderAndSpace(t *testing.T) {
	s, err := dialogue.DecodeState("\n{ \"set_aside\" : [ ], \"stack\":[{\"status\":\"active\",\"name\":\"n\",\"flow_id\":\"f\",\n\"slots\":[]}] } ")
	must(t, err)
	want := dialogue.State{Stack: []dialogue.Flow{{ID: "f", Name: "n", Status: dialogue.Active}}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
}

func TestEncodingJSONRoundTrip(t *testing.T) {
	s, err := dialogue.DecodeState(full)
	must(t, err)
	type holder struct {
		State dialogue.State `json:"state"`
	}
	text, err := json.Marshal(holder{s})
	must(t, err)
	var got holder
	must(t, json.Unmarshal(text, &got))
	if !cmp.Equal(s.Stack[0].TurnIDs, got.State.Stack[0].TurnIDs) || got.State.Stack[1].Result != `{"ok":true}` {
		t.Errorf("got %s", text)
	}
	if err := json.Unmarshal([]byte(`{"state":{"stack":[],"x":1}}`), &got); err == nil {
		t.Error("an unknown field was accepted")
	}
	if len(got.State.Stack) != 2 {
		t.Error("what could not be read was written")
	}
	flow, err := json.Marshal(s.SetAside[0])
	must(t, err)
	if want := `{"flow_id":"f0","name":"fly","status":"invalid","turn_ids":["t1"]}`; string(flow) != want {
		t.Errorf("flow is %s, want %s", flow, want)
	}
}

func TestMarshalRefusesWhatCouldNotBeReadBack(t *testing.T) {
	s := stacked(t, "a")
	s.Stack[0].Name = "\xff"
	if text, err := s.MarshalJSON(); err == nil {
		t.Errorf("state written as %s", text)
	}
	if text, err := s.Stack[0].MarshalJSON(); err == nil {
		t.Errorf("flow written as %s", text)
	}
}

// flow returns the JSON of a valid flow with one more member.
func flow(id, status, member string) string {
	if member != "" {
		member = "," + member
	}
	return fmt.Sprintf(`{"flow_id":%q,"name":"n %s","status":%q%s}`, id, id, status, member)
}

func stackOf(flows ...string) string { return `{"stack":[` + strings.Join(flows, ",") + `]}` }

func withSlot(slot string) string { return stackOf(flow("f", "active", `"slots":[`+slot+`]`)) }

var badStates = []struct{ name, text, want string }{
	{"nothing", ``, "offset 0: expected an object, found the end"},
	{"null", `null`, "expected an object, found null"},
	{"no stack", `{}`, "stack: is missing; use [] for an empty stack"},
	{"unknown", `{"stack":[],"Stack":[]}`, "Stack: is not a field; legal here: stack, set_aside"},
	{"twice", `{"stack":[],"stack":[]}`, `offset 12: member "stack" appears twice`},
	{"after it", `{"stack":[]} {}`, "offset 13: expected nothing after the value, found '{'"},
	{"stack type", `{"stack":{}}`, "stack: expected an array, found an object"},
	{"flow type", `{"stack":[1]}`, "stack[0]: expected an object, found a number"},
	{"flow unknown", stackOf(flow("f", "active", `"turns":[]`)), "stack[0].turns: is not a field; legal here: flow_id, name, status, slots, plan_id, stage, result, turn_ids"},
	{"no id", stackOf(`{"name":"n","status":"active"}`), "stack[0].flow_id: is empty; give one"},
	{"no name", stackOf(`{"flow_id":"f","status":"active"}`), "stack[0].name: is empty; give one"},
	{"no status", stackOf(`{"flow_id":"f","name":"n"}`), `stack[0].status: "" is not a status; use pending, active, completed or invalid`},
	{"wrong status", stackOf(flow("f", "done", "")), `stack[0].status: "done" is not a status; use pending, active, completed or invalid`},
	{"id type", stackOf(`{"flow_id":1}`), "stack[0].flow_id: expected a string, found a number"},
	{"plan unknown", stackOf(flow("f", "active", `"plan_id":"g"`)), `stack[0].plan_id: "g" is none; name a flow beneath it`},
	{"plan is itself", stackOf(flow("f", "active", `"plan_id":"f"`)), `stack[0].plan_id: "f" is none; name a flow beneath it`},
	{"plan too long", stackOf(flow("f", "active", `"plan_id":"`+strings.Repeat("x", 257)+`"`)), "stack[0].plan_id: is 257 bytes long, at most 256; shorten it"},
	{"stage control", stackOf(flow("f", "active", `"stage":"\n"`)), `stack[0].stage: "\n" has control characters; leave them out`},
	{"result early", stackOf(flow("f", "active", `"result":1`)), "stack[0].result: a flow that is active has none; leave it out"},
	{"turn id empty", stackOf(flow("f", "active", `"turn_ids":["t",""]`)), "stack[0].turn_ids[1]: is empty; give one"},
	{"turn id type", stackOf(flow("f", "active", `"turn_ids":[1]`)), "stack[0].turn_ids[0]: expected a string, found a number"},
	{"turn id twice", stackOf(flow("f", "active", `"turn_ids":["t","t"]`)), `stack[0].turn_ids[1]: "t" stands twice; name each turn once`},
	{"ids not unique", stackOf(flow("f", "pending", ""), `{"flow_id":"f","name":"m","status":"active"}`), `stack[1].flow_id: "f" stands twice; give each flow an id of its own`},
	{"two active", stackOf(flow("f", "active", ""), flow("g", "active", "")), "stack[0].status: only the top may be active; make it pending"},
	{"active beneath finished", stackOf(flow("f", "active", ""), flow("g", "completed", "")), "stack[0].status: only the top may be active; make it pending"},
	{"pending top", stackOf(flow("f", "pending", "")), "stack[0].status: the top cannot be pending; make it active"},
	{"live name twice", stackOf(flow("f", "pending", ""), `{"flow_id":"g","name":"n f","status":"active"}`),
		`stack[1].name: a live flow beneath is called "n f" too; use the one there is`},
	{"too deep", stackOf(slices.Repeat([]string{flow("f", "invalid", "")}, 17)...), "stack: 17 flows, at most 16; complete and pop some"},
	{"too many set aside", `{"stack":[],"set_aside":[` + strings.Join(slices.Repeat([]string{flow("f", "invalid", "")}, 17), ",") + `]}`,
		"set_aside: 17 flows, at most 16; pop them"},
	{"set aside live", `{"stack":[],"set_aside":[` + flow("f", "active", "") + `]}`, "set_aside[0].status: a flow set aside cannot be active; make it invalid"},
	{"set aside broken", `{"stack":[],"set_aside":[{}]}`, "set_aside[0].flow_id: is empty; give one"},
	{"set aside both", `{"stack":[],"set_aside":[` + flow("f", "invalid", "") + `,` + flow("f", "invalid", "") + `]}`,
		`set_aside[1].flow_id: "f" stands twice; give each flow an id of its own`},
	{"set aside twice", `{"stack":[` + flow("f", "active", "") + `],"set_aside":[` + flow("f", "invalid", "") + `]}`,
		`set_aside[0].flow_id: "f" stands twice; give each flow an id of its own`},
	{"slot unknown", withSlot(`{"name":"x","type":"list","turn":"t"}`), "stack[0].slots[0].turn: is not a field; legal here: name, type, value, filled_by"},
	{"slot without name", withSlot(`{"type":"list"}`), "stack[0].slots[0].name: is empty; give one"},
	{"slot without type", withSlot(`{"name":"x"}`), `stack[0].slots[0].type: "" is not a type; use string, number, boolean, list or object`},
	{"slot of two types", withSlot(`{"name":"x","type":"list","value":1}`),
		`stack[0].slots[0].value: slot "x" takes a list, not a number; give a list, or clear the slot and declare it anew`},
	{"slot null", withSlot(`{"name":"x","type":"list","value":null}`), `stack[0].slots[0].value: slot "x" cannot be filled with null; clear the slot instead`},
	{"slot filled by but empty", withSlot(`{"name":"x","type":"list","filled_by":"t"}`), `stack[0].slots[0].filled_by: slot "x" is not filled; leave it out`},
	{"slot filled by control", withSlot(`{"name":"x","type":"list","filled_by":"\u0000"}`), `stack[0].slots[0].filled_by: "\x00" has control characters; leave them out`},
	{"slot twice", withSlot(`{"name":"x","type":"list"},{"name":"x","type":"list"}`), `stack[0].slots[1].name: "x" stands twice; give each slot a name of its own`},
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range badStates {
		t.Run(tt.name, func(t *testing.T) {
			s, err := dialogue.DecodeState(tt.text)
			var field *dialogue.FieldError
			if err == nil || err.Error() != tt.want || !errors.As(err, &field) {
				t.Errorf("got error %v, want %s", err, tt.want)
			}
			if !s.Equal(dialogue.State{}) {
				t.Error("something was returned beside the error")
			}
		})
	}
}

func TestCheckRefusesWhatDecodingCannotMeet(t *testing.T) {
	s := stacked(t, "a")
	must(t, s.SetSlot("x", "1", ""))
	s.Stack[0].Slots[0].Value = " 1"
	if err := s.Check(); err == nil || err.Error() != `stack[0].slots[0].value: slot "x" has white space around its value; trim it` {
		t.Errorf("got %v", err)
	}
	s = stacked(t, "a")
	_, err := s.Complete("1")
	must(t, err)
	s.Stack[0].Result = "1\n"
	if err := s.Check(); err == nil || err.Error() != "stack[0].result: has white space around it; trim it" {
		t.Errorf("got %v", err)
	}
	s.Stack[0].Result = "1 2"
	if err := s.Check(); err == nil || !strings.HasPrefix(err.Error(), "stack[0].result: is not JSON") {
		t.Errorf("got %v", err)
	}
}

// FuzzDecodeState: whatever is read can be written and read again, the same, and obeys the rules.
func FuzzDecodeState(f *testing.F) {
	f.Add(full)
	f.Add(`{"stack":[]}`)
	for _, tt := range badStates {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := dialogue.DecodeState(text)
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		written := marshal(t, s)
		if !json.Valid([]byte(written)) {
			t.Fatalf("%s is not JSON", written)
		}
		again, err := dialogue.DecodeState(written)
		if err != nil || !again.Equal(s) || marshal(t, again) != written {
			t.Fatalf("read back %v, %v", again, err)
		}
		bare, err := dialogue.DecodeState(dialogue.EncodeState(s))
		if err != nil || dialogue.EncodeState(bare) != dialogue.EncodeState(s) {
			t.Fatalf("read back bare %v, %v", bare, err)
		}
		s.Pop()
		if _, ok := s.Active(); !ok && len(s.Stack) > 0 {
			t.Fatalf("after a pop the top of %s is not active", marshal(t, s))
		}
	})
}
