package scratch

// Status is how far an observation has come.
type Status string

// The states of an observation, in their order. Archived never comes back.
const (
	Active        Status = "active"
	PendingReview Status = "pending_review"
	Resolved      Status = "resolved"
	Archived      Status = "archived"
)
