package dialogue

import (
	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// EncodeState returns the state's JSON without turn_ids, which are kept as rows of their own.
// Equal states give equal text, values and results stand in it byte for byte, and what is empty is
// left out.
func EncodeState(s State) string { return string(appendState(nil, s, false)) }

// MarshalJSON returns the state's JSON with turn_ids. It refuses a state that breaks a rule.
// Package encoding/json compacts values and results when it embeds them.
func (s State) MarshalJSON() ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return appendState(nil, s, true), nil
}

// MarshalJSON returns the flow's JSON with turn_ids. It refuses a flow that breaks a rule.
func (f Flow) MarshalJSON() ([]byte, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return appendFlow(nil, f, true), nil
}

// UnmarshalJSON is [DecodeState].
func (s *State) UnmarshalJSON(data []byte) error {
	decoded, err := DecodeState(string(data))
	if err != nil {
		return err
	}
	*s = decoded
	return nil
}

func appendState(dst []byte, s State, turns bool) []byte {
	dst = append(dst, `{"stack":`...)
	dst = appendList(dst, s.Stack, func(dst []byte, f Flow) []byte { return appendFlow(dst, f, turns) })
	if len(s.SetAside) > 0 {
		dst = append(dst, `,"set_aside":`...)
		dst = appendList(dst, s.SetAside, func(dst []byte, f Flow) []byte { return appendFlow(dst, f, turns) })
	}
	return append(dst, '}')
}

func appendFlow(dst []byte, f Flow, turns bool) []byte {
	dst = append(dst, `{"flow_id":`...)
	dst = strictjson.AppendString(dst, f.ID)
	dst = appendText(dst, "name", f.Name)
	dst = appendText(dst, "status", string(f.Status))
	if len(f.Slots) > 0 {
		dst = append(dst, `,"slots":`...)
		dst = appendList(dst, f.Slots, appendSlot)
	}
	dst = appendText(dst, "plan_id", f.PlanID)
	dst = appendText(dst, "stage", f.Stage)
	dst = appendValue(dst, "result", f.Result)
	if turns && len(f.TurnIDs) > 0 {
		dst = append(dst, `,"turn_ids":`...)
		dst = appendList(dst, f.TurnIDs, strictjson.AppendString)
	}
	return append(dst, '}')
}

func appendSlot(dst []byte, s Slot) []byte {
	dst = append(dst, `{"name":`...)
	dst = strictjson.AppendString(dst, s.Name)
	dst = appendText(dst, "type", string(s.Type))
	dst = appendValue(dst, "value", s.Value)
	dst = appendText(dst, "filled_by", s.FilledBy)
	return append(dst, '}')
}

func appendList[T any](dst []byte, list []T, item func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item(dst, v)
	}
	return append(dst, ']')
}

// appendText appends a member that is not the first; an empty one is left out.
func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return strictjson.AppendString(appendName(dst, name), text)
}

func appendValue(dst []byte, name string, v Value) []byte {
	if v == "" {
		return dst
	}
	return append(appendName(dst, name), v...)
}

func appendName(dst []byte, name string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	return append(dst, '"', ':')
}
