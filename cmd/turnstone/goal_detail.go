package main

import (
	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone/cortex"
)

func (a *app) goalDecideCommand() *cobra.Command {
	var rationale string
	var lock bool
	cmd := &cobra.Command{
		Use:   "decide GOAL DECISION",
		Short: "Note a decision that was made on the way to a goal",
		Long: `Note a decision that was made on the way to a goal. One that is there already gets the rationale and
the lock that are given. What is locked can neither be unlocked nor changed nor removed.`,
		Example: `  turnstone goal decide "After 1.0" "No second page" --rationale "one thing at a time" --session tidewatch`,
		Args:    arguments("GOAL", "DECISION"),
	}
	cmd.Flags().StringVar(&rationale, "rationale", "", "the reason for it")
	cmd.Flags().BoolVar(&lock, "lock", false, "for good")
	return a.changingGoal(cmd, func(_ *cobra.Command, args []string, c *cortex.GoalChange) error {
		c.AddDecisions = []cortex.Decision{{Description: args[0], Rationale: rationale, Locked: lock}}
		return nil
	})
}

func (a *app) goalLockCommand() *cobra.Command {
	return a.changingGoal(&cobra.Command{
		Use:     "lock GOAL DECISION",
		Short:   "Lock a decision of a goal, for good",
		Example: `  turnstone goal lock "After 1.0" "The pager is tried when an SMS was not sent within 2 minutes" --session tidewatch`,
		Args:    arguments("GOAL", "DECISION"),
	}, func(_ *cobra.Command, args []string, c *cortex.GoalChange) error {
		c.Lock = args
		return nil
	})
}

func (a *app) goalMilestoneCommand() *cobra.Command {
	var status string
	cmd := &cobra.Command{
		Use:   "milestone GOAL MILESTONE",
		Short: "Add a milestone to a goal, or say how far one is",
		Long:  "Add a milestone to a goal, or say how far one is; it is found in any case. Standard error says so where one was added.",
		Example: `  turnstone goal milestone "After 1.0" "Ask for a pager" --session tidewatch
  turnstone goal milestone "After 1.0" "Nodal factors" --status completed --session tidewatch`,
		Args: arguments("GOAL", "MILESTONE"),
	}
	cmd.Flags().StringVar(&status, "status", "", "pending, in-progress or completed (default pending, or as it is)")
	choices(cmd, "status", string(cortex.MilestonePending), string(cortex.MilestoneInProgress), string(cortex.MilestoneCompleted))
	return a.changingGoal(cmd, func(_ *cobra.Command, args []string, c *cortex.GoalChange) error {
		c.AddMilestones = []cortex.Milestone{{Description: args[0], Status: cortex.MilestoneStatus(status)}}
		return nil
	})
}

func (a *app) goalArtifactCommand() *cobra.Command {
	var typ, action string
	cmd := &cobra.Command{
		Use:     "artifact GOAL PATH",
		Short:   "Note what was made or changed for a goal, mostly a file",
		Example: `  turnstone goal artifact "After 1.0" main.go --action modified --session tidewatch`,
		Args:    arguments("GOAL", "PATH"),
	}
	cmd.Flags().StringVar(&typ, "type", "", "what it is, in your own words (default file)")
	cmd.Flags().StringVar(&action, "action", string(cortex.ArtifactCreated), "created, modified or deleted")
	choices(cmd, "action", string(cortex.ArtifactCreated), string(cortex.ArtifactModified), string(cortex.ArtifactDeleted))
	return a.changingGoal(cmd, func(_ *cobra.Command, args []string, c *cortex.GoalChange) error {
		c.AddArtifacts = []cortex.Artifact{{Path: args[0], Type: typ, Action: cortex.ArtifactAction(action)}}
		return nil
	})
}

func (a *app) goalNextCommand() *cobra.Command {
	return a.changingGoal(&cobra.Command{
		Use:     "next GOAL [STEP]...",
		Short:   "Say what is to be done next, in place of what was said before",
		Example: `  turnstone goal next "After 1.0" "Ask for a pager" "Order a modem" --session tidewatch`,
		Args:    arguments("GOAL", "[STEP]..."),
	}, func(_ *cobra.Command, args []string, c *cortex.GoalChange) error {
		c.NextSteps = &args
		return nil
	})
}
