package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/budget"
)

func (a *app) undoCommand() *cobra.Command {
	var to addressee
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "undo SESSION [PASS]",
		Short: "Show turns again that left a session's prompt, or take a restore back",
		Long: `Take back the last change that holds, a pass of compression or a restore of a snapshot: what it took out of
the prompt is shown again, word for word. With PASS it is that pass, the last or an older one, whose turns come
back beside the checkpoint that stands for them. Afterwards nothing leaves the prompt until its window is full.
What does not fit into the model's window any more is refused with exit code 8, and nothing is changed: undo it for a
model with a larger context, or look it up in the log.`,
		Example:           "  turnstone undo tidewatch --model llama3.2 --context 16384\n  turnstone undo tidewatch 11 --model llama3.2 --context 16384 --json",
		Args:              arguments("SESSION", "[PASS]"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := to.check(cmd); err != nil {
				return err
			}
			var pass int64
			if len(args) > 1 {
				var err error
				if pass, err = strconv.ParseInt(args[1], 10, 64); err != nil || pass < 1 {
					return usage("see which there are with: "+a.line("checkpoints list "+quoted(args[0])), "undo: %q is no number of a pass", args[1])
				}
			}
			return a.withCompression(cmd.Context(), args[0], to, c, compressionFlags{}, func(p *prompting) error {
				done, err := p.session.Undo(cmd.Context(), pass, p.options())
				if err != nil {
					err = advise(err, turnstone.ErrNothingToUndo, fmt.Sprintf("see which summaries stand in it with: %s, and what was compiled with: %s",
						a.line("checkpoints list "+quoted(args[0])), a.line("prompt --list --session "+quoted(args[0]))))
					command := "undo " + quoted(args[0])
					if pass > 0 {
						command += fmt.Sprintf(" %d", pass)
					}
					return a.unreturned(p, err, command)
				}
				a.stored = fmt.Sprintf("epoch %d is stored", done.Epoch)
				return a.printUndone(p.session.ID(), done)
			})
		},
	}
	a.addAddresseeFlags(cmd, &to)
	c.addFlags(cmd)
	return cmd
}

// undoLine is the command that takes back what was done in a window: in another one, what comes back may not fit.
func undoLine(session string, to addressee, c modelFlags) string {
	return "undo " + quoted(session) + to.flags() + c.flags()
}

// unreturned explains why turns do not come back. Of those that do not fit it says what can still be done.
func (a *app) unreturned(p *prompting, err error, command string) error {
	err = a.unprompted(p, err, true)
	var over *budget.OverBudgetError
	if !errors.As(err, &over) {
		return err
	}
	need, session := over.Account.Needs(), quoted(p.session.ID())
	larger := fmt.Sprintf("with a model whose context has %s tokens they do: %s --model NAME", tokensOf(need), a.line(command))
	if profile, known := p.profiles.Find(p.to.model); !known || profile.Context >= need {
		larger = "they do with: " + a.line(command+addressee{p.to.model, need}.flags())
	}
	first, _, _ := strings.Cut(err.Error(), "; ")
	return &reworded{err: err, text: fmt.Sprintf("%s; %s; they can be read with: %s; an earlier time can be gone back to with: %s, or: %s", first, larger,
		a.line("history --session "+session), a.line("snapshot list "+session), a.line("session fork "+session+" NEW --at TURN"))}
}

type undoneJSON struct {
	Session string `json:"session_id"`
	Undone  string `json:"undone"` // pass or restore
	Pass    int64  `json:"pass,omitempty"`
	From    int64  `json:"from,omitempty"`
	To      int64  `json:"to,omitempty"`
	Epoch   int64  `json:"epoch"`
}

func (a *app) printUndone(session string, u turnstone.Undone) error {
	switch {
	case a.json && u.Pass == 0:
		return a.printJSON(undoneJSON{Session: session, Undone: "restore", Epoch: u.Epoch})
	case a.json:
		return a.printJSON(undoneJSON{session, "pass", u.Pass, u.Turns.From, u.Turns.To, u.Epoch})
	case u.Pass == 0:
		return a.printf("undid the restore: prompts go on from what they showed before it")
	}
	if u.Turns.To == 0 {
		return a.printf("undid pass %d: the checkpoints are as long again as they were before it", u.Pass)
	}
	return a.printf("undid pass %d: %s can be seen again in full", u.Pass, turnsIn(u.Turns))
}
