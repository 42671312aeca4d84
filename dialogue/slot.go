package dialogue

import (
	"strings"

	"github.com/turnstone-dev/turnstone/internal/strictjson"
)

// Bounds of what a flow may hold. A state is written again with every change of it.
const (
	// MaxSlots is how many slots one flow may have.
	MaxSlots = 64
	// MaxValue is how many bytes a slot's value or a flow's result may have.
	MaxValue = 256 << 10
)

// Type is the kind of value a slot takes.
type Type string

// The types of slots.
const (
	TypeString  Type = "string"
	TypeNumber  Type = "number"
	TypeBoolean Type = "boolean"
	TypeList    Type = "list"
	TypeObject  Type = "object"
)

func (t Type) check() error {
	switch t {
	case TypeString, TypeNumber, TypeBoolean, TypeList, TypeObject:
		return nil
	}
	return fieldErrorf("type", "use string, number, boolean, list or object", "%q is not a type", t)
}

// Value is raw JSON text, kept byte for byte. White space around it is not part of it.
type Value string

// Type returns the slot type the value has, and the empty Type for null and for what is no JSON.
func (v Value) Type() Type {
	switch strictjson.Raw(v).Kind() {
	case strictjson.KindString:
		return TypeString
	case strictjson.KindNumber:
		return TypeNumber
	case strictjson.KindBool:
		return TypeBoolean
	case strictjson.KindArray:
		return TypeList
	case strictjson.KindObject:
		return TypeObject
	}
	return ""
}

// trimmed returns the value without the white space around it, once it has been found to be one
// JSON value that every store can keep.
func (v Value) trimmed(field string) (Value, error) {
	v = Value(strings.Trim(string(v), " \t\r\n"))
	if len(v) > MaxValue {
		return "", fieldErrorf(field, "keep it elsewhere and put a reference here", "is %d bytes long, at most %d", len(v), MaxValue)
	}
	if err := strictjson.Check(string(v)); err != nil {
		return "", fieldErrorf(field, "give one JSON value; text stands in double quotes", "is not JSON: %v", err)
	}
	return v, nil
}

// Slot is a typed place for one value in a flow.
type Slot struct {
	Name string
	Type Type
	// Value is empty while the slot is unfilled.
	Value Value
	// FilledBy is the turn that filled the slot, empty where no turn did.
	FilledBy string
}

// Filled reports whether the slot has a value.
func (s Slot) Filled() bool { return s.Value != "" }

// filled returns the slot with a value in it.
func (s Slot) filled(value Value, by string) (Slot, error) {
	value, err := value.trimmed("value")
	if err != nil {
		return s, err
	}
	typ := value.Type()
	switch {
	case typ == "":
		return s, fieldErrorf("value", "clear the slot instead", "slot %q cannot be filled with null", s.Name)
	case s.Type == "":
		s.Type = typ
	case s.Type != typ:
		return s, fieldErrorf("value", "give a "+string(s.Type)+", or clear the slot and declare it anew",
			"slot %q takes a %s, not a %s", s.Name, s.Type, typ)
	}
	s.Value, s.FilledBy = value, by
	return s, nil
}

func (s Slot) check() error {
	if err := checkLabel("name", s.Name); err != nil {
		return err
	}
	if err := s.Type.check(); err != nil {
		return err
	}
	if err := checkOptional("filled_by", s.FilledBy); err != nil {
		return err
	}
	if !s.Filled() {
		if s.FilledBy != "" {
			return fieldErrorf("filled_by", "leave it out", "slot %q is not filled", s.Name)
		}
		return nil
	}
	same, err := s.filled(s.Value, s.FilledBy)
	if err == nil && same != s {
		err = fieldErrorf("value", "trim it", "slot %q has white space around its value", s.Name)
	}
	return err
}

// checkSlots holds the slots of one flow against each other and each against its own rules.
func checkSlots(slots []Slot) error {
	if len(slots) > MaxSlots {
		return fieldErrorf("slots", "use fewer, or one object", "%d slots, at most %d", len(slots), MaxSlots)
	}
	seen := make(map[string]bool, len(slots))
	for i, s := range slots {
		if err := s.check(); err != nil {
			return within(indexed("slots", i), err)
		}
		if seen[s.Name] {
			return fieldErrorf(indexed("slots", i)+".name", "give each slot a name of its own", "%q stands twice", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// settled returns the slots a caller gives a new flow, types derived from values.
func settled(given []Slot) ([]Slot, error) {
	var slots []Slot
	for i, s := range given {
		if s.Filled() {
			var err error
			if s, err = s.filled(s.Value, s.FilledBy); err != nil {
				return nil, within(indexed("slots", i), err)
			}
		}
		slots = append(slots, s)
	}
	return slots, checkSlots(slots)
}

// carried returns the slots of a new flow with the filled slots of the one before it. A flow that
// names its slots takes over those; one that names none takes over all. A value given with the
// slot stands, and a value of another type than the slot's stays behind.
func carried(own, before []Slot) []Slot {
	if len(own) == 0 {
		for _, s := range before {
			if s.Filled() {
				own = append(own, s)
			}
		}
		return own
	}
	for i, s := range own {
		for _, old := range before {
			if old.Name == s.Name && old.Type == s.Type && !s.Filled() {
				own[i] = old
			}
		}
	}
	return own
}
