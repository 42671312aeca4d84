package memory

import (
	"slices"
	"strings"
	"time"
)

// RetentionPolicy says what items of a type must reach to be kept, and for how long they stay.
type RetentionPolicy struct {
	Type Type
	// Threshold is the least importance that is kept.
	Threshold float64
	// Retention is how long an item stays after it was made; 0: until somebody deletes it.
	Retention time.Duration
	// ArchiveAfter is how long an item stays active before it is archived for the rest of its
	// retention; 0: it is not archived by age.
	ArchiveAfter time.Duration
	// Always keeps items whatever they are relevant to.
	Always bool
	// QuotaExempt keeps items from being refused or archived for space.
	QuotaExempt bool
}

// Policies is a table of retention policies, one for each type that may be stored.
type Policies []RetentionPolicy

const day = 24 * time.Hour

// DefaultPolicies is the table of the turn commit. What a user tells is kept until the user deletes
// it; scratch items are active for a day and archived for seven.
var DefaultPolicies = Policies{
	{Type: UserData, Threshold: 0.0, Always: true, QuotaExempt: true},
	{Type: ToolResult, Threshold: 0.5, Retention: 30 * day},
	{Type: Observation, Threshold: 0.6, Retention: 7 * day},
	{Type: Error, Threshold: 0.7, Retention: 7 * day},
	{Type: ScratchItem, Threshold: 0.0, Retention: 8 * day, ArchiveAfter: day, Always: true},
	{Type: Event, Threshold: 0.3, Retention: 30 * day},
}

// For returns the policy of a type. A type the table does not name is an [Event]: it gets that
// policy, with its Type, and without one in the table the default one.
func (p Policies) For(t Type) RetentionPolicy { return *p.of(t) }

// of is For without a copy.
func (p Policies) of(t Type) *RetentionPolicy {
	for i := range p {
		if p[i].Type == t {
			return &p[i]
		}
	}
	if t != Event {
		return p.of(Event)
	}
	return &DefaultPolicies[len(DefaultPolicies)-1]
}

// Names says whether the table has a policy of that type's own.
func (p Policies) Names(t Type) bool {
	return slices.ContainsFunc(p, func(policy RetentionPolicy) bool { return policy.Type == t })
}

// Expires returns when an item made at created is swept; the zero time is never.
func (p RetentionPolicy) Expires(created time.Time) time.Time {
	if p.Retention == 0 {
		return time.Time{}
	}
	return created.Add(p.Retention)
}

// Archivable returns the types whose items may be archived for space: of those in the table, and [Event].
func (p Policies) Archivable() []Type {
	var types []Type
	for i := range p {
		if !p[i].QuotaExempt {
			types = append(types, p[i].Type)
		}
	}
	if !slices.Contains(types, Event) && !p.For(Event).QuotaExempt {
		types = append(types, Event)
	}
	return types
}

// ArchiveDue returns the filters that select the items of a tenant which are active and past the age
// at which they are archived: oldest last, up to limit a filter.
func (p Policies) ArchiveDue(tenant string, now time.Time, limit int) []Filter {
	var due []Filter
	for i := range p {
		if after := p[i].ArchiveAfter; after > 0 {
			due = append(due, Filter{Tenant: tenant, Type: p[i].Type, Until: now.Add(-after), Limit: limit, Now: now})
		}
	}
	return due
}

// ArchiveForSpace returns the filters that select, of each type that may be archived for space, the n
// least important items of a session that are not archived. Those with the lowest importance of all that they
// find go first, of the same importance the oldest.
func (p Policies) ArchiveForSpace(tenant string, segment int64, now time.Time, n int) []Filter {
	var filters []Filter
	for _, t := range p.Archivable() {
		filters = append(filters, Filter{Tenant: tenant, Segment: segment, Type: t, Lowest: true, Limit: n, Now: now})
	}
	return filters
}

// Check refuses a table that names a type twice or not at all, whose thresholds are not from 0 to 1 or
// whose times are negative, with a *[FieldError] that names the place.
func (p Policies) Check() error {
	for i := range p {
		switch {
		case strings.TrimSpace(string(p[i].Type)) == "":
			return fieldErrorf(indexed("policies", i)+".type", "name the type", "is empty")
		case slices.ContainsFunc(p[:i], func(o RetentionPolicy) bool { return o.Type == p[i].Type }):
			return fieldErrorf(indexed("policies", i)+".type", "give one policy a type", "%q is there already", p[i].Type)
		case !(p[i].Threshold >= 0 && p[i].Threshold <= 1):
			return fieldErrorf(indexed("policies", i)+".threshold", "give a number from 0 to 1", "%v is not from 0 to 1", p[i].Threshold)
		case p[i].Retention < 0 || p[i].ArchiveAfter < 0:
			return fieldErrorf(indexed("policies", i)+".retention", "use 0 for no end", "is negative")
		}
	}
	return nil
}
