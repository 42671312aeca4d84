package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cortex"
)

// doneIs are the statuses that mean done, of which a type has one at most.
var doneIs = []cortex.ActionStatus{cortex.ActionDone, cortex.ActionDecided, cortex.ActionSucceeded, cortex.ActionResolved}

func (a *app) actionDoneCommand() *cobra.Command {
	var evidence []string
	cmd := &cobra.Command{
		Use:   "done ACTION",
		Short: "Say that an action is done",
		Long: `Say that an action is done: a decision is decided then, a background job has succeeded, a blocker is
resolved. Steps that lie between are taken too.`,
		Example: "  turnstone action done 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch --evidence \"invoice 7 is paid\"",
		Args:    arguments("ACTION"),
	}
	cmd.Flags().StringArrayVar(&evidence, "evidence", nil, "how one knows; may be repeated")
	return a.changingAction(cmd, func(_ *cobra.Command, action cortex.PendingAction) ([]cortex.ActionChange, error) {
		i := slices.IndexFunc(doneIs, func(s cortex.ActionStatus) bool { return slices.Contains(action.Type.Statuses(), s) })
		if i < 0 {
			return nil, usage("use turnstone action approve or reject", "action %s: is %s, which is not done but answered", action.ID, action.Type)
		}
		changes := steps(wayTo(action, doneIs[i]))
		changes[len(changes)-1].AddEvidence = evidence
		return changes, nil
	})
}

func (a *app) actionEndCommand(name string, status cortex.ActionStatus, about string) *cobra.Command {
	return a.changingAction(&cobra.Command{
		Use:     name + " ACTION",
		Short:   about,
		Example: "  turnstone action " + name + " 01JH5T8Q3VXK6Z0M4N7P9R2S1W --session tidewatch --why \"as agreed\"",
		Args:    arguments("ACTION"),
	}, func(_ *cobra.Command, action cortex.PendingAction) ([]cortex.ActionChange, error) {
		if can := action.Type.Statuses(); !slices.Contains(can, status) {
			return nil, usage("use "+endings(can), "action %s: is %s, which cannot be %s", action.ID, action.Type, status)
		}
		return steps(wayTo(action, status)), nil
	})
}

// endings names the commands that lead to one of the statuses: each type has some.
func endings(can []cortex.ActionStatus) string {
	var names []string
	if slices.ContainsFunc(doneIs, func(s cortex.ActionStatus) bool { return slices.Contains(can, s) }) {
		names = append(names, "done")
	}
	for _, end := range []struct {
		name   string
		status cortex.ActionStatus
	}{{"approve", cortex.ActionApproved}, {"reject", cortex.ActionRejected}, {"cancel", cortex.ActionCancelled}} {
		if slices.Contains(can, end.status) {
			names = append(names, end.name)
		}
	}
	return "turnstone action " + strings.Join(names, " or ")
}
