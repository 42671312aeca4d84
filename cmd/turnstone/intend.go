package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cortex"
)

// motive is what every change of a goal or an action may say about itself.
type motive struct{ session, why string }

func (a *app) addMotiveFlags(cmd *cobra.Command, o *motive) {
	a.addSessionFlag(cmd, &o.session)
	cmd.Flags().StringVar(&o.why, "why", "", "the reason, for the history")
}

// namedGoal returns the goal of that id or title. Of goals with the same title a live one is meant.
func (a *app) namedGoal(ctx context.Context, s *turnstone.Session, name string) (cortex.Goal, error) {
	state, err := s.Intentions(ctx, true)
	if err != nil {
		return cortex.Goal{}, err
	}
	if g, ok := state.Goal(name); ok {
		return g, nil
	}
	var live, finished []cortex.Goal
	for _, g := range state.Goals() {
		switch {
		case !strings.EqualFold(strings.TrimSpace(g.Title), strings.TrimSpace(name)):
		case g.Live():
			live = append(live, g)
		default:
			finished = append(finished, g)
		}
	}
	if len(live) == 0 {
		live = finished
	}
	switch len(live) {
	case 0:
		return cortex.Goal{}, advise(fmt.Errorf("goal %s of %s: %w", name, s.ID(), cortex.ErrNotFound), cortex.ErrNotFound,
			"see which there are with: "+a.line("goal list --all --session "+quoted(s.ID())))
	case 1:
		return live[0], nil
	}
	ids := make([]string, len(live))
	for i, g := range live {
		ids[i] = g.ID
	}
	return cortex.Goal{}, usage("give one of the ids "+strings.Join(ids, ", "), "goal %q: %d have that title", name, len(live))
}

// resolveGoal puts the id of a goal in the place of what it was named by. What names none stays as it is.
func (a *app) resolveGoal(ctx context.Context, s *turnstone.Session, name *string) (*string, error) {
	if name == nil || *name == "" {
		return name, nil
	}
	g, err := a.namedGoal(ctx, s, *name)
	return &g.ID, err
}

func (a *app) namedAction(ctx context.Context, s *turnstone.Session, id string) (cortex.PendingAction, error) {
	state, err := s.Intentions(ctx, true)
	if err != nil {
		return cortex.PendingAction{}, err
	}
	action, ok := state.Action(id)
	if !ok {
		return action, advise(fmt.Errorf("action %s of %s: %w", id, s.ID(), cortex.ErrNotFound), cortex.ErrNotFound,
			"see which there are with: "+a.line("action list --all --session "+quoted(s.ID())))
	}
	return action, nil
}

// intend changes goals and actions and returns the JSON of what the last change made of its goal or
// action; empty where nothing changed.
func (a *app) intend(ctx context.Context, s *turnstone.Session, changes cortex.Changes) (string, error) {
	staged, err := s.Intend(ctx, changes)
	var refused *turnstone.RefusedError
	if errors.As(err, &refused) {
		return "", fmt.Errorf("%s: %w", s.ID(), byFlag(err))
	}
	if err != nil || len(staged.Rows) == 0 {
		return "", err
	}
	row := staged.Rows[len(staged.Rows)-1]
	a.stored = fmt.Sprintf("%s %s is stored", row.Kind, row.ID)
	return row.Doc, nil
}

// printHistory shows every change of a goal or an action, oldest first.
func (a *app) printHistory(ctx context.Context, s *turnstone.Session, kind cortex.Kind, id string) error {
	entries, err := s.IntentionHistory(ctx, kind, id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if a.json {
			err = a.printJSON(historyJSON{Version: e.Version, AfterSeq: e.AfterSeq, At: timeJSON(e.At), Changes: e.Changes})
		} else {
			err = a.printEntry(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

type historyJSON struct {
	Version  int64          `json:"version"`
	AfterSeq int64          `json:"after_seq"`
	At       string         `json:"at"`
	Changes  []cortex.Audit `json:"changes"`
}

func (a *app) printEntry(e cortex.Entry) error {
	head := fmt.Sprintf("version %d  %s  after turn %d", e.Version, a.format().Time(e.At), e.AfterSeq)
	if err := a.printf("%s", a.style().Dim(head)); err != nil {
		return err
	}
	for _, change := range e.Changes {
		why := ""
		if change.Why != "" {
			why = " (" + change.Why + ")"
		}
		for _, step := range change.What {
			if err := a.fields([2]string{"  " + string(change.By), stepWords(step) + why}); err != nil {
				return err
			}
			why = ""
		}
	}
	return nil
}

func stepWords(s cortex.Step) string {
	switch {
	case s.From == "":
		return s.Field + ": " + s.To
	case s.To == "":
		return s.Field + ": no longer " + s.From
	}
	return s.Field + ": " + s.From + " -> " + s.To
}

// given returns where a flag's value is, nil where the flag was not given.
func given[V any](cmd *cobra.Command, flag string, value *V) *V {
	if !cmd.Flags().Changed(flag) {
		return nil
	}
	return value
}

// keeps says of flags of a command that changes something that without them it stays as it is.
func keeps(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		flag := cmd.Flag(name)
		usage, _, _ := strings.Cut(flag.Usage, " (default")
		flag.Usage = usage + " (default as it is)"
	}
}

// alternatives writes a list of statuses: "a, b or c".
func alternatives[S ~string](words []S) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	if last := len(list) - 1; last > 0 {
		return strings.Join(list[:last], ", ") + " or " + list[last]
	}
	return strings.Join(list, "")
}

// standing says where something stands and what may become of it.
func standing[S ~string](status S, next []S) string {
	if len(next) == 0 {
		return string(status) + " (for good)"
	}
	return string(status) + " (may become " + alternatives(next) + ")"
}
