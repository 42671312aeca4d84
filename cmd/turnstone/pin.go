package main

import (
	"context"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/transcript"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) pinCommand() *cobra.Command {
	var session string
	var remove bool
	cmd := &cobra.Command{
		Use:   "pin [SEQ]...",
		Short: "Keep turns in every prompt, or list those that are kept",
		Long: `Keep turns in every prompt from now on, word for word, each with its tool calls or the message it is
part of; --remove ends that, as soon as the next epoch is opened. Without SEQ the pinned turns are listed.
Pinning a turn again changes nothing. One that was left behind when the session went back to a snapshot is off the
path: prompts show it only once that is undone. Of several turns each is an update of its own: those before one that
cannot be pinned stay pinned.`,
		Example: `  turnstone pin 13 --session tidewatch
  turnstone pin --session tidewatch
  turnstone pin --remove 13 --session tidewatch`,
		Args:              arguments("[SEQ]..."),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := required(cmd, "session"); err != nil {
				return err
			}
			if remove && len(args) == 0 {
				return usage("see which there are with: "+a.line("pin --session "+quoted(session)), "pin: --remove needs the number of a turn")
			}
			var seqs []int64
			for _, arg := range args {
				seq, err := strconv.ParseInt(arg, 10, 64)
				if err != nil || seq < 1 {
					return noTurnNumber(arg)
				}
				if !slices.Contains(seqs, seq) {
					seqs = append(seqs, seq)
				}
			}
			return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
				if len(seqs) == 0 {
					return a.listPins(cmd.Context(), s)
				}
				return a.setPins(cmd.Context(), s, seqs, remove, "turnstone history")
			})
		},
	}
	a.addSessionFlag(cmd, &session)
	cmd.Flags().BoolVar(&remove, "remove", false, "pin them no longer")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if number := negative.FindStringSubmatch(err.Error()); number != nil {
			return noTurnNumber(number[1])
		}
		return flagError(cmd, err)
	})
	return cmd
}

// negative finds the number in the error about a flag that was none: "unknown shorthand flag: '1' in -1".
var negative = regexp.MustCompile(`flag: '\d' in (-\d+)$`)

func noTurnNumber(arg string) error {
	return usage("they begin at 1; give one that turnstone history shows", "pin: %q is no turn number", arg)
}

type pinJSON struct {
	Session string `json:"session_id"`
	Seq     int64  `json:"seq"`
	Pinned  bool   `json:"pinned"`
	TurnID  string `json:"turn_id,omitempty"`
	Role    string `json:"role,omitempty"`
	Text    string `json:"text,omitempty"` // its first words
	OffPath bool   `json:"off_path,omitempty"`
}

// setPins pins turn by turn: those before one that cannot be stay pinned. ShownBy is what lists turns.
func (a *app) setPins(ctx context.Context, s *turnstone.Session, seqs []int64, remove bool, shownBy string) error {
	before, err := s.Pins(ctx)
	if err != nil {
		return err
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return err
	}
	set, done, already := s.Pin, "pinned turn %d of %s", "turn %d of %s was pinned already"
	if remove {
		set, done, already = s.Unpin, "turn %d of %s is pinned no longer", "turn %d of %s was not pinned"
	}
	for _, seq := range seqs {
		if err := set(ctx, seq); err != nil {
			return advise(err, turn.ErrNotFound, "give one that "+shownBy+" shows")
		}
		off := turn.Path(epoch.Path).Off(seq)
		words := done
		if slices.Contains(before, seq) != remove {
			words = already
		}
		if off {
			words += " " + transcript.OffPath
		}
		if a.json {
			err = a.printJSON(pinJSON{Session: s.ID(), Seq: seq, Pinned: !remove, OffPath: off})
		} else {
			err = a.printf(words, seq, s.ID())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *app) listPins(ctx context.Context, s *turnstone.Session) error {
	pins, err := s.Pins(ctx)
	if err != nil {
		return err
	}
	epoch, err := s.Epoch(ctx, turnstone.Head)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, seq := range pins {
		off := turn.Path(epoch.Path).Off(seq)
		page, err := s.Query(ctx, turn.Query{From: seq, To: seq, Limit: 1})
		if err != nil {
			return err
		}
		for _, t := range page.Turns {
			words := short(transcript.Words(&t), 70)
			row := []string{strconv.FormatInt(seq, 10), string(t.Role), words}
			if off {
				row[2] = transcript.OffPath + " " + words
			}
			rows = append(rows, row)
			if a.json {
				if err := a.printJSON(pinJSON{s.ID(), seq, true, t.ID, string(t.Role), words, off}); err != nil {
					return err
				}
			}
		}
	}
	if len(pins) == 0 {
		a.note("no pins; pin a turn with: %s", a.line("pin SEQ --session "+quoted(s.ID())))
	}
	if a.json {
		return nil
	}
	head := []string{"TURN", "ROLE", "TEXT"}
	alignRight(head, rows, 0)
	return a.table(head, rows)
}
