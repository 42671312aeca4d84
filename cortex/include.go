package cortex

import (
	"context"
	"fmt"

	"github.com/turnstone-dev/turnstone/internal/record"
	"github.com/turnstone-dev/turnstone/internal/span"
)

// Including returns the state with those goals and actions that the changes name and s lacks, because
// they are finished, and with those that a goal is to be part of, however far up. Without it a change to one of them would be taken
// for one that creates it, and be an [ErrStale] when it is written, and a reference to one for one that names nothing. Where the
// changes name none that s lacks, it costs nothing.
func (s *State) Including(ctx context.Context, rows Rows, tenant string, spans []span.Span, ch Changes) (*State, error) {
	in := including{state: s, with: s, find: func(k key) ([]Row, error) {
		versions, err := rows.Versions(ctx, tenant, spans, k.kind, k.id)
		if err != nil {
			return nil, fmt.Errorf("versions of %s %s: %w", k.kind, k.id, err)
		}
		return versions, nil
	}}
	for _, c := range ch.Goals {
		if err := in.goal(c.ID); err != nil {
			return nil, err
		}
	}
	for _, c := range ch.Actions {
		if err := in.action(c.ID); err != nil {
			return nil, err
		}
	}
	for _, c := range ch.Goals {
		if err := in.parents(c.Parent); err != nil {
			return nil, err
		}
	}
	for _, c := range ch.Actions {
		if c.GoalID == nil {
			continue
		}
		if err := in.goal(*c.GoalID); err != nil {
			return nil, err
		}
	}
	return in.with, nil
}

// including is one run of Including.
type including struct {
	state, with *State // with is state while nothing was included
	find        func(key) ([]Row, error)
	asked       map[key]bool
}

func (in *including) goal(id string) error {
	if _, known := in.with.goal(id); known {
		return nil
	}
	return in.include(key{KindGoal, id})
}

func (in *including) action(id string) error {
	if _, known := in.with.action(id); known {
		return nil
	}
	return in.include(key{KindAction, id})
}

// parents includes a goal and all that it is part of. Those of a store may lead in a circle, or to a goal that there is not.
func (in *including) parents(of *string) error {
	if of == nil {
		return nil
	}
	for id, steps := *of, 0; id != "" && steps <= len(in.with.goals); steps++ {
		if err := in.goal(id); err != nil {
			return err
		}
		i, known := in.with.goal(id)
		if !known {
			return nil
		}
		id = in.with.goals[i].Parent
	}
	return nil
}

func (in *including) include(k key) error {
	if k.id == "" || in.asked[k] || record.CheckText("id", k.id, len(k.id)) != nil {
		return nil // there is none of an id that no store can keep, and some cannot even be asked for it
	}
	versions, err := in.find(k)
	if err != nil {
		return err
	}
	if in.asked == nil {
		in.asked = make(map[key]bool)
	}
	in.asked[k] = true
	if len(versions) == 0 {
		return nil
	}
	if in.with == in.state {
		in.with = in.state.clone(true, true)
	}
	in.with.included = append(in.with.included, k)
	return in.with.add(versions[len(versions)-1])
}
