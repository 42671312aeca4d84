package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/turnstone-dev/turnstone"
	"github.com/turnstone-dev/turnstone/dialogue"
	"github.com/turnstone-dev/turnstone/turn"
)

func (a *app) flowCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "flow",
		Short: "Show and change what a session is about: its stack of flows",
		Long: `The dialogue state of a session is a stack of flows, things the conversation is about. The one
on top is active, those beneath wait. Every change is kept as a revision after the session's last
turn, so that the state at any turn can be shown again.`,
		Example: `  turnstone flow push book_flight --session tidewatch
  turnstone flow slot set city Paris --string --session tidewatch
  turnstone flow complete --session tidewatch --result '{"booked":true}'
  turnstone flow pop --session tidewatch`,
	}, a.flowShowCommand(), a.flowPushCommand(), a.flowFallbackCommand(), a.flowCompleteCommand(),
		a.flowInvalidateCommand(), a.flowPopCommand(), a.flowKeepGoingCommand(), a.flowSlotCommand(),
		a.flowStageCommand(), a.flowAttachCommand(), a.flowCompletedCommand())
}

// flowChange is what a subcommand of flow did to the state.
type flowChange struct {
	name  string // of the member that holds the flows
	flows []dialogue.Flow
	note  string
	// promoted is the flow that came up, for what pops.
	popped   bool
	promoted *dialogue.Flow
}

// flowOp changes a state and says what it did.
type flowOp func(*dialogue.State) (flowChange, error)

// prepareFlow makes a flowOp of the arguments, with whatever the session has to be asked for first.
type prepareFlow func(ctx context.Context, s *turnstone.Session, args []string) (flowOp, error)

// changing makes a subcommand of flow that changes the state of a session.
func (a *app) changing(cmd *cobra.Command, prepare prepareFlow) *cobra.Command {
	var session string
	a.addSessionFlag(cmd, &session)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := required(cmd, "session"); err != nil {
			return err
		}
		return a.withSession(cmd.Context(), session, func(s *turnstone.Session) error {
			op, err := prepare(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			var done flowChange
			rev, err := s.Believe(cmd.Context(), func(state *dialogue.State) (err error) {
				done, err = op(state)
				if bad := (*dialogue.OpError)(nil); errors.As(err, &bad) && len(state.Stack) == 0 {
					return &dialogue.OpError{Op: bad.Op, Problem: bad.Problem, Legal: "stack one on with: " + a.line("flow push NAME --session "+quoted(session))}
				}
				return err
			})
			if err != nil {
				return err
			}
			a.stored = fmt.Sprintf("revision %d is stored", rev.Number)
			return a.printChange(rev, done)
		})
	}
	return cmd
}

func (a *app) printChange(rev dialogue.Revision, c flowChange) error {
	if c.note != "" {
		a.note("%s", c.note)
	}
	if a.json {
		return a.printChangeJSON(rev, c)
	}
	var text []byte
	format := a.format()
	for _, f := range c.flows {
		f.TurnIDs = nil // only those of this change; flow show has them all
		text = format.AppendFlow(text, f)
	}
	if c.promoted != nil {
		up := *c.promoted
		up.TurnIDs = nil
		text = format.AppendFlow(text, up)
	}
	return a.print(text)
}

func (a *app) printChangeJSON(rev dialogue.Revision, c flowChange) error {
	line := appendRevisionHead(nil, rev)
	line = append(line, `,"`+c.name+`":`...)
	if c.name != "flow" {
		line = append(line, '[')
	}
	var err error
	for i, f := range c.flows {
		if i > 0 {
			line = append(line, ',')
		}
		if line, err = appendFlow(line, f); err != nil {
			return err
		}
	}
	if c.name != "flow" {
		line = append(line, ']')
	}
	if c.popped {
		line = append(line, `,"promoted":`...)
		if c.promoted == nil {
			line = append(line, "null"...)
		} else if line, err = appendFlow(line, *c.promoted); err != nil {
			return err
		}
	}
	return a.print(append(line, "}\n"...))
}

func appendRevisionHead(dst []byte, rev dialogue.Revision) []byte {
	return fmt.Appendf(dst, `{"revision":%d,"after_seq":%d,"created_at":%q`, rev.Number, rev.AfterSeq, timeJSON(rev.At))
}

func appendRevision(dst []byte, rev dialogue.Revision) ([]byte, error) {
	state, err := rev.State.MarshalJSON()
	if err != nil {
		return nil, err
	}
	dst = append(appendRevisionHead(dst, rev), `,"state":`...)
	if dst, err = appendOneLine(dst, state); err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

func appendFlow(dst []byte, f dialogue.Flow) ([]byte, error) {
	f.TurnIDs = nil
	flow, err := f.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return appendOneLine(dst, flow)
}

// appendOneLine keeps JSON as it is unless a value in it was written over several lines: then the
// white space between its parts goes, and nothing else.
func appendOneLine(dst, raw []byte) ([]byte, error) {
	if !bytes.ContainsAny(raw, "\r\n") {
		return append(dst, raw...), nil
	}
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return nil, fmt.Errorf("dialogue state: %w", err)
	}
	return append(dst, line.Bytes()...), nil
}

// turnNamed returns the id of a turn given by its id or its number, of the newest one where nothing
// is given. It is empty where the session has no turns.
func turnNamed(ctx context.Context, s *turnstone.Session, given string) (string, error) {
	q := turn.Query{ID: given, Limit: 1}
	if n, err := strconv.ParseInt(given, 10, 64); err == nil {
		q = turn.Query{From: n, To: n, Limit: 1}
	}
	if given == "" {
		info, err := s.Info(ctx)
		if err != nil || info.Head == 0 {
			return "", err
		}
		q = turn.Query{From: info.Head, To: info.Head, Limit: 1}
	}
	page, err := s.Query(ctx, q)
	if err != nil {
		return "", err
	}
	if len(page.Turns) == 0 {
		return "", advise(fmt.Errorf("turn %s of %s: %w", given, s.ID(), turn.ErrNotFound), turn.ErrNotFound,
			"give the number or the id of a turn of it")
	}
	return page.Turns[0].ID, nil
}

// activeAfter does something to the active flow and reports the flow.
func activeAfter(do func(*dialogue.State) error) flowOp {
	return func(state *dialogue.State) (flowChange, error) {
		if err := do(state); err != nil {
			return flowChange{}, err
		}
		flow, _ := state.Active()
		return flowChange{name: "flow", flows: []dialogue.Flow{flow}}, nil
	}
}
