package cortex

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/turnstone-dev/turnstone/internal/span"
)

// State is the goals and actions of a session as they were read. It never changes and is safe for
// concurrent use: what it hands out are copies, except to those who look with EachGoal and EachAction. The
// zero State is one without any.
type State struct {
	// goals and actions are by id. States have those in common that did not change from one to the next.
	goals   []*Goal
	actions []*PendingAction
	live    bool // those that are finished are left out
	// included are finished all the same.
	included []key
}

// key names a goal or an action.
type key struct {
	kind Kind
	id   string
}

// Live is what Load, with live, reads of a session that has no goals and actions yet.
func Live() *State { return &State{live: true} }

// Load reads a session's goals and actions along its lineage; with live those that are finished are
// left out. Changes to a session are staged on what the spans up to its last turn show.
func Load(ctx context.Context, rows Rows, tenant string, spans []span.Span, live bool) (*State, error) {
	newest, err := rows.Newest(ctx, tenant, spans, live)
	if err != nil {
		return nil, fmt.Errorf("goals and actions: %w", err)
	}
	s := &State{live: live}
	for _, r := range newest {
		if err := s.add(r); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Goal returns the goal of that id.
func (s *State) Goal(id string) (Goal, bool) {
	i, ok := s.goal(id)
	if !ok {
		return Goal{}, false
	}
	return s.goals[i].clone(), true
}

// Action returns the action of that id.
func (s *State) Action(id string) (PendingAction, bool) {
	i, ok := s.action(id)
	if !ok {
		return PendingAction{}, false
	}
	return s.actions[i].clone(), true
}

// Goals returns the goals by id.
func (s *State) Goals() []Goal {
	goals := make([]Goal, len(s.goals))
	for i, g := range s.goals {
		goals[i] = g.clone()
	}
	return goals
}

// EachGoal goes over the goals by id where they stand: who looks at one must neither change nor keep it.
func (s *State) EachGoal() iter.Seq[*Goal] {
	return func(yield func(*Goal) bool) {
		for _, g := range s.goals {
			if !yield(g) {
				return
			}
		}
	}
}

// EachAction goes over the actions by id, as EachGoal does over goals.
func (s *State) EachAction() iter.Seq[*PendingAction] {
	return func(yield func(*PendingAction) bool) {
		for _, a := range s.actions {
			if !yield(a) {
				return
			}
		}
	}
}

// Actions returns the actions by id.
func (s *State) Actions() []PendingAction {
	actions := make([]PendingAction, len(s.actions))
	for i, a := range s.actions {
		actions[i] = a.clone()
	}
	return actions
}

// ActiveGoal returns the goal that is worked on: of those that are active the one of the highest
// priority, and of these the newest. One that is [Goal.Forgotten] is not worked on, since nobody can say what it is. The second
// result is false where none is active.
func (s *State) ActiveGoal() (Goal, bool) {
	var first *Goal
	for _, other := range s.goals {
		if other.Status == GoalActive && !other.Forgotten() && (first == nil || comesFirst(other, first)) {
			first = other
		}
	}
	if first == nil {
		return Goal{}, false
	}
	return first.clone(), true
}

func comesFirst(g, other *Goal) bool {
	rank := func(g *Goal) int { return slices.Index(priorities, g.Priority) }
	return cmp.Or(cmp.Compare(rank(g), rank(other)), other.CreatedAt.Compare(g.CreatedAt), strings.Compare(other.ID, g.ID)) < 0
}

// Overdue returns the changes that escalate every reminder which was sent [EscalateAfter] ago or
// earlier and was not answered.
func (s *State) Overdue(now time.Time) []ActionChange {
	var changes []ActionChange
	for _, a := range s.actions {
		if at, ok := a.escalates(); ok && !now.Before(at) {
			escalated := ActionEscalated
			changes = append(changes, ActionChange{
				ID: a.ID, Version: a.Version, By: ActorSystem, Status: &escalated,
				Why: fmt.Sprintf("sent %s and not answered in %s", moment(a.StatusAt), EscalateAfter),
			})
		}
	}
	return changes
}

func (s *State) goal(id string) (int, bool) {
	return sort.Find(len(s.goals), func(i int) int { return strings.Compare(id, s.goals[i].ID) })
}

func (s *State) action(id string) (int, bool) {
	return sort.Find(len(s.actions), func(i int) int { return strings.Compare(id, s.actions[i].ID) })
}

// clone returns a state of which those lists that are named may be written to; what stands in them may not.
func (s *State) clone(goals, actions bool) *State {
	to := *s
	if goals {
		to.goals = slices.Clone(s.goals)
	}
	if actions {
		to.actions = slices.Clone(s.actions)
	}
	to.included = slices.Clip(s.included)
	return &to
}

// forget drops those that are finished, given that others have the lists too.
func (s *State) forget(finished []key) {
	for _, k := range finished {
		if i, ok := s.goal(k.id); ok && k.kind == KindGoal {
			s.goals = slices.Delete(slices.Clone(s.goals), i, i+1)
		} else if i, ok := s.action(k.id); ok && k.kind == KindAction {
			s.actions = slices.Delete(slices.Clone(s.actions), i, i+1)
		}
	}
}

// add reads a row into a state that nobody else has yet.
func (s *State) add(r Row) error {
	var id string
	var version int64
	var err error
	switch r.Kind {
	case KindGoal:
		var g Goal
		g, err = DecodeGoal(r.Doc)
		id, version = g.ID, g.Version
		s.putGoal(&g)
	case KindAction:
		var a PendingAction
		a, err = DecodeAction(r.Doc)
		id, version = a.ID, a.Version
		s.putAction(&a)
	default:
		err = fieldErrorf("kind", "", "%.40q is neither a goal nor an action", string(r.Kind))
	}
	if err == nil && (id != r.ID || version != r.Version) {
		err = fmt.Errorf("the row holds version %d of %q", version, id)
	}
	if err != nil {
		return fmt.Errorf("%s %s version %d: %w", r.Kind, r.ID, r.Version, err)
	}
	return nil
}

func (s *State) putGoal(g *Goal) {
	i, ok := s.goal(g.ID)
	if !ok {
		s.goals = slices.Insert(s.goals, i, g)
		return
	}
	s.goals[i] = g
}

func (s *State) putAction(a *PendingAction) {
	i, ok := s.action(a.ID)
	if !ok {
		s.actions = slices.Insert(s.actions, i, a)
		return
	}
	s.actions[i] = a
}
