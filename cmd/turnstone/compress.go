package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) compressCommand() *cobra.Command {
	var to addressee
	var f compressionFlags
	var c modelFlags
	cmd := &cobra.Command{
		Use:   "compress SESSION",
		Short: "Let older turns leave a session's prompt now, and say what stands for them",
		Long: `Let older turns leave a session's prompt now, whether its conversation is full or not, and say what stands
for them: a checkpoint, which is a summary with a receipt of what was checked in it. The newest turns stay, and
so do pinned turns, the goal and the user's messages, word for word; of messages that outgrow their share, the
oldest are named by a line with the numbers of their turns. Nothing leaves the log, and a snapshot is taken before.
See also turnstone checkpoints, and turnstone undo, which takes it back.

By itself this happens when turnstone prompt finds that the conversation reached its threshold. Where it would
make nothing smaller, nothing is done, and the exit code is 0.`,
		Example: `  turnstone compress tidewatch
  turnstone compress tidewatch --model llama3.2 --context 8192 --summary-max 500
  turnstone compress tidewatch --strategy truncate --json`,
		Args:              arguments("SESSION"),
		ValidArgsFunction: a.completeFirstSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := errors.Join(to.check(cmd), f.check()); err != nil {
				return err
			}
			return a.withCompression(cmd.Context(), args[0], to, c, f, func(p *prompting) error {
				pass, err := p.session.Compress(cmd.Context(), p.options())
				if errors.Is(err, turnstone.ErrNothingToCompress) {
					return a.nothingToCompress(p.session.ID())
				}
				if err != nil {
					return a.unprompted(p, err, true)
				}
				a.stored = fmt.Sprintf("pass %d is stored", pass.Number)
				return a.printPass(p.session.ID(), pass, undoLine(p.session.ID(), to, c))
			})
		},
	}
	cmd.Flags().SortFlags = false
	a.addAddresseeFlags(cmd, &to)
	f.addFlags(cmd)
	c.addFlags(cmd)
	return cmd
}

// passJSON is a pass on the command line.
type passJSON struct {
	Session     string            `json:"session_id"`
	Compressed  bool              `json:"compressed"`
	Reason      string            `json:"reason,omitempty"` // why not
	Pass        int64             `json:"pass,omitempty"`
	From        int64             `json:"from,omitempty"`
	To          int64             `json:"to,omitempty"`
	Before      int               `json:"before,omitempty"`
	After       int               `json:"after,omitempty"`
	Checkpoints []json.RawMessage `json:"checkpoints,omitempty"`
}

func (a *app) nothingToCompress(session string) error {
	if a.json {
		return a.printJSON(passJSON{Session: session, Reason: "the newest turns stay, and without the others the prompt would not become smaller"})
	}
	return a.printf("nothing to compress: the newest turns of %s stay, and without the others the prompt would not become smaller", session)
}

func (a *app) printPass(session string, p prompt.Pass, undo string) error {
	if a.json {
		out := passJSON{Session: session, Compressed: true, Pass: p.Number, From: p.Range.From, To: p.Range.To, Before: p.Before, After: p.After}
		for i := range p.Made {
			out.Checkpoints = append(out.Checkpoints, p.Made[i].AppendShown(nil, session))
		}
		return a.printJSON(out)
	}
	pairs := [][2]string{
		{"pass", fmt.Sprint(p.Number)},
		{"left", turnsLeft(p.Range)},
		{"prompt", fmt.Sprintf("%s -> %s tokens", tokensOf(p.Before), tokensOf(p.After))},
	}
	var aged []string
	summary := "none: what left is only named"
	if p.Range.To == 0 {
		summary = "none"
	}
	for i := range p.Made {
		c := &p.Made[i]
		if c.Number != p.Number {
			aged = append(aged, fmt.Sprintf("checkpoint %d, version %d: %s, %s", c.Number, c.Version, c.Level, shrunk(c)))
			continue
		}
		summary = fmt.Sprintf("%s, %s, by %s", c.Level, shrunk(c), maker(&c.Receipt))
		pairs = append(pairs, listed("receipt", receiptLines(&c.Receipt))...)
	}
	pairs = append(pairs[:3], append([][2]string{{"summary", summary}}, pairs[3:]...)...)
	if err := a.fields(append(pairs, listed("aged", aged)...)...); err != nil {
		return err
	}
	a.note("take it back with: %s", a.line(undo))
	return nil
}

// turnsLeft names the turns that left in a pass.
func turnsLeft(r turn.Range) string {
	if r.To == 0 {
		return "no turns; older checkpoints became smaller"
	}
	return turnsIn(r)
}

// turnsIn names a range of turns.
func turnsIn(r turn.Range) string {
	if r.From == r.To {
		return fmt.Sprintf("turn %d", r.From)
	}
	return fmt.Sprintf("turns %d-%d", r.From, r.To)
}

func shrunk(c *compress.Checkpoint) string {
	return fmt.Sprintf("%s -> %s tokens", progress.Thousands(c.OriginalTokens), progress.Thousands(c.CurrentTokens))
}

// maker is who made a summary.
func maker(r *compress.Receipt) string {
	switch {
	case r.Fallback():
		return "the built-in summariser, since no answer of the model could be taken"
	case r.By == compress.ByExtract:
		return "the built-in summariser"
	}
	return r.By
}
