package scratch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/ids"
	"github.com/turnstone-dev/turnstone/internal/invalid"
	"github.com/turnstone-dev/turnstone/internal/record"
)

// How long observations are live after their last change, and how long they are kept once archived.
const (
	LiveRetention     = 24 * time.Hour
	ArchivedRetention = 7 * 24 * time.Hour
)

// Bounds of a page.
const (
	// MaxLive is how many observations of a session may be live.
	MaxLive = 100
	// MaxInsights is how many of them may be insights of flows, and MaxFlowInsights how many of
	// one flow: when one more comes, the oldest of that flow is archived.
	MaxInsights     = 64
	MaxFlowInsights = 5
	// MaxRefs is how many context refs, and how many tags, an observation may have.
	MaxRefs = 32
	// MaxLine bounds, in bytes, what stands on one line: types, sources, owners, refs and tags.
	MaxLine = 256
	// MaxContent bounds the content.
	MaxContent = 16 << 10
)

// DefaultConfidence is the confidence of an observation that says nothing about it.
const DefaultConfidence = 0.5

// FlowInsight is the type of observations that say what a flow found out. The first of their context
// refs that [FlowRef] could have made names the flow.
const FlowInsight = "flow_insight"

// FieldError is bad input: it names the field, the problem and what to do instead.
type FieldError = invalid.Field

// Observation is something that was noticed.
type Observation struct {
	ID string
	// Type is the caller's own word for what it is, or [FlowInsight].
	Type    string
	Content string
	Source  string // where it comes from: a tool, a daemon, a turn
	Owner   string // who deals with it
	Status  Status
	// Confidence is between 0 and 1.
	Confidence float64
	// ContextRefs are what it is about: turns, goals, flows, files.
	ContextRefs []string
	Tags        []string
	// ExpiresAt is when its time on the page is over and it counts as archived, and of one that is archived
	// when it is deleted.
	ExpiresAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

const flowPrefix = "flow:"

// FlowRef is the context ref that names a flow.
func FlowRef(flowID string) string { return flowPrefix + flowID }

// Flow returns the id of the first flow among the context refs, empty where there is none.
func (o Observation) Flow() string {
	for _, ref := range o.ContextRefs {
		if id, ok := strings.CutPrefix(ref, flowPrefix); ok {
			return id
		}
	}
	return ""
}

// Live reports whether the observation is not archived.
func (o Observation) Live() bool { return o.Status.live() }

// at returns the observation as it is at that time: one whose day is over was archived when it ended, whether
// or not a sweep came by since. Ok is false where its week is over too.
func (o Observation) at(now time.Time) (_ Observation, ok bool) {
	if o.Live() && !o.ExpiresAt.After(now) {
		o.Status, o.ExpiresAt = Archived, o.ExpiresAt.Add(ArchivedRetention)
	}
	return o, o.ExpiresAt.After(now)
}

// aged reports whether it was archived because its day was over, and not because somebody was done with it:
// that counts as a change, from which its week begins.
func (o Observation) aged() bool {
	return !o.Live() && o.ExpiresAt.After(o.UpdatedAt.Add(ArchivedRetention))
}

// insight reports whether it counts as one of the scratchpad's.
func (o *Observation) insight() bool { return o.Status.live() && o.Type == FlowInsight }

// row is the observation as a store keeps it.
func (o *Observation) row() Row {
	doc := record.String(o.append)
	return Row{ID: o.ID, Type: o.Type, Status: o.Status, Doc: doc, At: o.UpdatedAt, Expires: o.ExpiresAt}
}

// clone returns an observation that shares no memory with o.
func (o Observation) clone() Observation {
	o.ContextRefs = slices.Clone(o.ContextRefs)
	o.Tags = slices.Clone(o.Tags)
	return o
}

func (o *Observation) check() error {
	if err := ids.CheckName("id", o.ID); err != nil {
		return err
	}
	if err := record.CheckLine("type", o.Type, MaxLine); err != nil {
		return err
	}
	if strings.TrimSpace(o.Content) == "" {
		return invalid.New("content", "is empty", "say what was noticed")
	}
	if err := record.CheckText("content", o.Content, MaxContent); err != nil {
		return err
	}
	if err := record.CheckText("source", o.Source, MaxLine); err != nil {
		return err
	}
	if err := record.CheckText("owner", o.Owner, MaxLine); err != nil {
		return err
	}
	if !o.Status.known() {
		return invalid.New("status", fmt.Sprintf("%.80q is none", string(o.Status)), "use active, pending_review, resolved or archived")
	}
	// Written so that NaN is refused too.
	if !(o.Confidence >= 0 && o.Confidence <= 1) {
		return invalid.New("confidence", fmt.Sprintf("%v is out of range", o.Confidence), "give a number from 0 to 1")
	}
	if err := checkLines("context_refs", o.ContextRefs); err != nil {
		return err
	}
	if err := checkLines("tags", o.Tags); err != nil {
		return err
	}
	if o.Type == FlowInsight && o.Flow() == "" {
		return invalid.New("context_refs", "name no flow", "a "+FlowInsight+" needs one such as "+FlowRef("<flow id>"))
	}
	return nil
}

func checkLines(field string, lines []string) error {
	return record.CheckList(field, lines, MaxRefs, func(s string) string { return s },
		func(s string) error { return record.CheckLine("", s, MaxLine) })
}
