package scratch

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Changes are what is to become of a page: first what is put there, then what is archived, then what
// is cleared.
type Changes struct {
	Put []Change
	// Archive names observations, live ones of whatever status.
	Archive []string
	// Clear names observations that are resolved and takes them off the page: all of them, or none if
	// one is not resolved.
	Clear []string
}

// named goes over the ids of the observations that the changes are about.
func (c *Changes) named() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, ids := range [...][]string{c.Archive, c.Clear} {
			for _, id := range ids {
				if !yield(id) {
					return
				}
			}
		}
		for i := range c.Put {
			if !yield(c.Put[i].ID) {
				return
			}
		}
	}
}

// Change changes one observation, or adds it where the page has none of that id. What is nil is left
// as it is.
type Change struct {
	ID string // empty: a new observation with an id of its own

	Type        *string // required to add; never changes
	Content     *string // required to add
	Source      *string
	Owner       *string
	Status      *Status
	Confidence  *float64
	ContextRefs *[]string // replaces them
	Tags        *[]string // replaces them
	// ExpiresAt lies within [LiveRetention]. Without it the observation expires that long after
	// the change.
	ExpiresAt *time.Time
}

// nobody says, of a change that names an observation, that there is no such one.
func (c *Change) nobody() string {
	if c.ID == "" {
		return ""
	}
	return fmt.Sprintf(", and there is no observation %q to change", c.ID)
}

// apply changes o. The lists that o has with others stay as they are; after an error o is of no use.
func (c *Change) apply(o *Observation, now time.Time) error {
	added := o.Status == ""
	switch {
	case added && c.Type == nil:
		return invalid.New("type", "is missing"+c.nobody(), "give one to add it")
	case added && c.Content == nil:
		return invalid.New("content", "is missing"+c.nobody(), "give some to add it")
	case added:
		o.Type, o.Status, o.Confidence, o.CreatedAt = *c.Type, Active, DefaultConfidence, now
	case c.Type != nil && *c.Type != o.Type:
		return invalid.New("type", fmt.Sprintf("observation %q is of type %s and stays so", o.ID, o.Type), "put another")
	case !o.Status.live():
		return invalid.New("id", fmt.Sprintf("observation %q is archived and never comes back", o.ID), "put another")
	}
	if c.Status != nil && *c.Status != o.Status {
		if err := move(o.Status, *c.Status); err != nil {
			return err
		}
		o.Status = *c.Status
	}
	set(&o.Content, c.Content)
	set(&o.Source, c.Source)
	set(&o.Owner, c.Owner)
	set(&o.Confidence, c.Confidence)
	if c.ContextRefs != nil {
		o.ContextRefs = slices.Clone(*c.ContextRefs)
	}
	if c.Tags != nil {
		o.Tags = slices.Clone(*c.Tags)
	}
	if err := c.applyExpiry(o, now); err != nil {
		return err
	}
	return o.check()
}

func (c *Change) applyExpiry(o *Observation, now time.Time) error {
	o.UpdatedAt, o.ExpiresAt = now, now.Add(LiveRetention)
	switch {
	case o.Status == Archived:
		o.ExpiresAt = now.Add(ArchivedRetention)
	case c.ExpiresAt != nil:
		at := c.ExpiresAt.UTC().Truncate(time.Microsecond)
		if !at.After(now) || at.After(o.ExpiresAt) {
			return invalid.New("expires_at", "does not lie within "+LiveRetention.String()+" from now", "leave it out, or give a time that does")
		}
		o.ExpiresAt = at
	}
	return nil
}

func set[V any](at *V, to *V) {
	if to != nil {
		*at = *to
	}
}
