package dialogue

import "slices"

// Attach points the active flow at a turn. A turn it points at already is not added again.
func (s *State) Attach(turnID string) error {
	if err := checkLabel("turn_id", turnID); err != nil {
		return err
	}
	i, err := s.needActive("attach turn")
	if err != nil {
		return err
	}
	s.attach(i, turnID)
	return nil
}

func (s *State) attach(i int, turnID string) {
	if slices.Contains(s.Stack[i].TurnIDs, turnID) {
		return
	}
	f := s.edit(i)
	f.TurnIDs = append(slices.Clip(f.TurnIDs), turnID)
	s.attached = append(slices.Clip(s.attached), Pointer{FlowID: f.ID, TurnID: turnID})
}

// DeclareSlot gives the active flow an unfilled slot of that type. A slot that is there and unfilled
// takes the type; one that is filled keeps its value, if that is of the type, and is otherwise an
// error.
func (s *State) DeclareSlot(name string, typ Type) error {
	const op = "declare slot"
	if err := checkLabel("name", name); err != nil {
		return err
	}
	if err := typ.check(); err != nil {
		return err
	}
	i, err := s.needActive(op)
	if err != nil {
		return err
	}
	slot, _ := s.Stack[i].Slot(name)
	if slot.Filled() && slot.Type != typ {
		return fieldErrorf("type", "clear the slot first", "slot %q is filled with a %s, not a %s", name, slot.Type, typ)
	}
	slot.Name, slot.Type = name, typ
	return s.putSlot(op, i, slot)
}

// SetSlot fills a slot of the active flow with one JSON value and remembers the turn that did,
// turnID, which is empty where none did. A slot that was not declared takes the value's type. A
// value of another type than the slot's is refused, and so is null: clear the slot instead.
func (s *State) SetSlot(name string, value Value, turnID string) error {
	const op = "set slot"
	if err := checkLabel("name", name); err != nil {
		return err
	}
	if err := checkOptional("turn_id", turnID); err != nil {
		return err
	}
	i, err := s.needActive(op)
	if err != nil {
		return err
	}
	slot, _ := s.Stack[i].Slot(name)
	slot.Name = name
	if slot, err = slot.filled(value, turnID); err != nil {
		return err
	}
	return s.putSlot(op, i, slot)
}

// ClearSlot empties a slot of the active flow. It stays declared.
func (s *State) ClearSlot(name string) error {
	const op = "clear slot"
	i, err := s.needActive(op)
	if err != nil {
		return err
	}
	slot, ok := s.Stack[i].Slot(name)
	if !ok {
		return &OpError{Op: op, Problem: s.Stack[i].describe() + " has no slot " + name, Legal: "name one of its slots"}
	}
	slot.Value, slot.FilledBy = "", ""
	return s.putSlot(op, i, slot)
}

// SetStage notes how far the active flow is. The empty stage is none.
func (s *State) SetStage(stage string) error {
	if err := checkOptional("stage", stage); err != nil {
		return err
	}
	i, err := s.needActive("set stage")
	if err != nil {
		return err
	}
	s.edit(i).Stage = stage
	return nil
}

// putSlot replaces the slot of that name in the flow at i, or adds it.
func (s *State) putSlot(op string, i int, slot Slot) error {
	slots := slices.Clone(s.Stack[i].Slots)
	if at := s.Stack[i].slotIndex(slot.Name); at >= 0 {
		slots[at] = slot
	} else if len(slots) < MaxSlots {
		slots = append(slots, slot)
	} else {
		return &OpError{
			Op:      op,
			Problem: s.Stack[i].describe() + " has as many slots as it may",
			Legal:   "use one of them, or one object for several values",
		}
	}
	s.edit(i).Slots = slots
	return nil
}
