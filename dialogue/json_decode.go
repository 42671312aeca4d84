package dialogue

import (
	"errors"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// DecodeState reads a state's JSON, with or without turn_ids. It refuses unknown, repeated,
// missing and ill-typed members and a state that breaks a rule of the package, with a *[FieldError]
// that names the place.
func DecodeState(text string) (State, error) {
	var s State
	stack := false
	err := object(text, "stack, set_aside", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "stack":
			stack = true
			s.Stack, err = decodeList(v, name, decodeFlow)
		case "set_aside":
			s.SetAside, err = decodeList(v, name, decodeFlow)
		default:
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return State{}, err
	}
	if !stack {
		return State{}, fieldErrorf("stack", "use [] for an empty stack", "is missing")
	}
	if err := s.Check(); err != nil {
		return State{}, err
	}
	return s, nil
}

func decodeFlow(v strictjson.Raw) (Flow, error) {
	var f Flow
	err := object(string(v), "flow_id, name, status, slots, plan_id, stage, result, turn_ids", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "flow_id":
			f.ID, err = v.String()
		case "name":
			f.Name, err = v.String()
		case "status":
			var status string
			status, err = v.String()
			f.Status = Status(status)
		case "slots":
			f.Slots, err = decodeList(v, name, decodeSlot)
		case "plan_id":
			f.PlanID, err = v.String()
		case "stage":
			f.Stage, err = v.String()
		case "result":
			f.Result = Value(v)
		case "turn_ids":
			f.TurnIDs, err = decodeList(v, name, strictjson.Raw.String)
		default:
			return false, nil
		}
		return true, err
	})
	return f, err
}

func decodeSlot(v strictjson.Raw) (Slot, error) {
	var s Slot
	err := object(string(v), "name, type, value, filled_by", func(name string, v strictjson.Raw) (bool, error) {
		var err error
		switch name {
		case "name":
			s.Name, err = v.String()
		case "type":
			var typ string
			typ, err = v.String()
			s.Type = Type(typ)
		case "value":
			s.Value = Value(v)
		case "filled_by":
			s.FilledBy, err = v.String()
		default:
			return false, nil
		}
		return true, err
	})
	return s, err
}

// object reads an object's members; what set does not know is refused by name.
func object(data, legal string, set func(name string, v strictjson.Raw) (known bool, err error)) error {
	err := strictjson.Object(data, func(name string, v strictjson.Raw) error {
		known, err := set(name, v)
		if !known {
			return fieldErrorf(name, "legal here: "+legal, "is not a field")
		}
		var field *FieldError
		if errors.As(err, &field) {
			return err
		}
		return within(name, err)
	})
	return within("", err)
}

// decodeList reads an array; an error names the element.
func decodeList[T any](v strictjson.Raw, name string, element func(strictjson.Raw) (T, error)) ([]T, error) {
	var list []T
	err := v.Array(func(v strictjson.Raw) error {
		item, err := element(v)
		if err != nil {
			return within(indexed(name, len(list)), err)
		}
		list = append(list, item)
		return nil
	})
	return list, err
}
