package dialogue

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Status is where a flow stands in its life. A finished flow stays what it is.
type Status string

// The statuses. Pending flows wait beneath the active one.
const (
	Pending   Status = "pending"
	Active    Status = "active"
	Completed Status = "completed"
	Invalid   Status = "invalid"
)

// Live reports whether the flow may still do something: it is pending or active.
func (s Status) Live() bool { return s == Pending || s == Active }

// Finished reports whether the flow is completed or invalid, and so leaves with the next Pop that
// reaches it.
func (s Status) Finished() bool { return s == Completed || s == Invalid }

// Flow is one thing the conversation is about: a task with the slots it needs.
type Flow struct {
	// ID is unique in the state. It comes from the caller.
	ID string
	// Name says what kind of flow it is. At most one live flow of a state has it.
	Name   string
	Status Status
	// Slots are in the order in which they were declared or first filled.
	Slots []Slot
	// PlanID is the flow this one is a step of, or empty. A plan stands beneath its sub-flows and
	// takes them with it when it becomes invalid.
	PlanID string
	// Stage is the caller's own word for how far the flow is, or empty.
	Stage string
	// Result is what the flow completed with, or empty.
	Result Value
	// TurnIDs are the turns in which the flow was active, oldest first.
	TurnIDs []string
}

// Slot returns the flow's slot of that name.
func (f Flow) Slot(name string) (Slot, bool) {
	if i := f.slotIndex(name); i >= 0 {
		return f.Slots[i], true
	}
	return Slot{}, false
}

func (f Flow) slotIndex(name string) int {
	return slices.IndexFunc(f.Slots, func(s Slot) bool { return s.Name == name })
}

// clone returns a flow that shares no memory with f.
func (f Flow) clone() Flow {
	f.Slots = slices.Clone(f.Slots)
	f.TurnIDs = slices.Clone(f.TurnIDs)
	return f
}

func (f Flow) check() error {
	if err := checkLabel("flow_id", f.ID); err != nil {
		return err
	}
	if err := checkLabel("name", f.Name); err != nil {
		return err
	}
	if !f.Status.Live() && !f.Status.Finished() {
		return fieldErrorf("status", "use pending, active, completed or invalid", "%q is not a status", f.Status)
	}
	if err := checkSlots(f.Slots); err != nil {
		return err
	}
	if err := checkOptional("plan_id", f.PlanID); err != nil {
		return err
	}
	if err := checkOptional("stage", f.Stage); err != nil {
		return err
	}
	if f.Result != "" {
		if f.Status != Completed {
			return fieldErrorf("result", "leave it out", "a flow that is %s has none", f.Status)
		}
		if result, err := f.Result.trimmed("result"); err != nil {
			return err
		} else if result != f.Result {
			return fieldErrorf("result", "trim it", "has white space around it")
		}
	}
	return checkTurnIDs(f.TurnIDs)
}

func checkTurnIDs(ids []string) error {
	seen := make(map[string]bool, len(ids))
	for i, id := range ids {
		if err := checkLabel(indexed("turn_ids", i), id); err != nil {
			return err
		}
		if seen[id] {
			return fieldErrorf(indexed("turn_ids", i), "name each turn once", "%q stands twice", id)
		}
		seen[id] = true
	}
	return nil
}

// maxLabel bounds ids, names and stages for good, so that they always fit an index.
const maxLabel = 256

// checkLabel holds what becomes a column or a word in a report against what every store can keep.
func checkLabel(field, s string) error {
	if s == "" {
		return fieldErrorf(field, "give one", "is empty")
	}
	return checkOptional(field, s)
}

func checkOptional(field, s string) error {
	switch {
	case len(s) > maxLabel:
		return fieldErrorf(field, "shorten it", "is %d bytes long, at most %d", len(s), maxLabel)
	case !utf8.ValidString(s):
		return fieldErrorf(field, "send UTF-8", "is not valid UTF-8")
	case strings.ContainsFunc(s, unicode.IsControl):
		return fieldErrorf(field, "leave them out", "%q has control characters", s)
	}
	return nil
}
