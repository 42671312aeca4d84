package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
	"github.com/turnstone-dev/turnstone/replay"
	"github.com/turnstone-dev/turnstone/turn"
)

const maxCommand = 4 << 10

// deck plays a session by the commands that come in.
type deck struct {
	*app
	player      *replay.Player
	show        []string
	interactive bool
	step        replay.Step
}

var errQuit = errors.New("quit")

func (d *deck) run(ctx context.Context, at int64) error {
	step, err := d.player.Seek(ctx, at)
	if err != nil {
		return err
	}
	if !d.json {
		title := ""
		if t := d.player.Session().Title; t != "" {
			title = " (" + terminal.CleanLine(t) + ")"
		}
		d.note("session %s%s, %s; ? shows the commands", d.player.Session().Session, title, progress.Count(d.player.Len(), "turn"))
	}
	if err := d.goTo(step); err != nil {
		return err
	}
	if err := d.prompt(); err != nil {
		return err
	}
	for line, err := range d.lines(ctx, maxCommand) {
		switch {
		case errors.Is(err, errLongLine):
			err = usage("? shows the commands", "standard input: a line of more than %d bytes is no command", maxCommand)
		case err == nil:
			err = d.command(ctx, strings.Fields(string(line)))
		}
		switch {
		case errors.Is(err, errQuit):
			return nil
		// A turn that is not there ends nothing; a command that is not there ends a script.
		case errors.Is(err, turn.ErrNotFound), err != nil && d.interactive && outcomeOf(ctx, err).code < exitConflict:
			d.say(outcomeOf(ctx, err).line(err))
		case err != nil:
			return err
		}
		if err := d.prompt(); err != nil {
			return err
		}
	}
	return nil
}

// prompt shows what was printed so far and, to people, that it is their turn.
func (d *deck) prompt() error {
	if d.interactive {
		if err := d.print(fmt.Appendf(nil, "%d/%d> ", d.step.Seq, d.player.Len())); err != nil {
			return err
		}
	}
	return d.out.Flush()
}

func (d *deck) command(ctx context.Context, words []string) error {
	if len(words) == 0 {
		words = []string{"n"}
	}
	if words[0] != "g" && len(words) > 1 {
		return usage("? shows the commands", "%q takes no argument", words[0])
	}
	switch words[0] {
	case "n":
		return d.move(d.player.Next(ctx))
	case "p":
		return d.move(d.player.Prev(ctx))
	case "g":
		if len(words) == 2 {
			if seq, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				return d.move(d.player.Seek(ctx, seq))
			}
		}
		return usage("write g 12", "g needs the number of a turn")
	case "t":
		return d.present("turn")
	case "s":
		return d.present("state")
	case "w":
		return d.present("window")
	case "h":
		return d.present("history")
	case "?":
		if d.json {
			d.say(replayKeys) // standard output has objects only
			return nil
		}
		return d.printf("%s", replayKeys)
	case "q":
		return errQuit
	}
	return usage("? shows the commands", "%q is no command", words[0])
}

func (d *deck) move(step replay.Step, err error) error {
	if errors.Is(err, io.EOF) {
		d.note("there is no turn in that direction")
		return nil
	}
	if err != nil {
		return err
	}
	return d.goTo(step)
}

func (d *deck) goTo(step replay.Step) error {
	d.step = step
	return d.present(d.show...)
}

// present prints parts of the step; as JSON always all of it.
func (d *deck) present(parts ...string) error {
	if d.json {
		line, err := appendStep(nil, d.step)
		if err != nil {
			return err
		}
		return d.print(append(line, '\n'))
	}
	for _, part := range parts {
		if err := d.part(part); err != nil {
			return err
		}
	}
	return nil
}

func (d *deck) part(name string) error {
	format := d.format()
	switch name {
	case "turn":
		if d.step.Seq == 0 {
			return d.heading("before the first of %s", progress.Count(d.player.Len(), "turn"))
		}
		if err := d.heading("turn %d of %d", d.step.Seq, d.player.Len()); err != nil {
			return err
		}
		return d.print(format.Append(nil, []turn.Turn{d.step.Turn}))
	case "state":
		if err := d.heading("state"); err != nil {
			return err
		}
		return d.print(format.AppendState(nil, d.step.State))
	case "window":
		if err := d.heading("window"); err != nil {
			return err
		}
		return d.print(format.Append(nil, d.step.Window))
	default:
		if err := d.heading("history"); err != nil {
			return err
		}
		return d.print(format.Append(nil, d.step.History))
	}
}

func appendStep(dst []byte, step replay.Step) ([]byte, error) {
	dst = fmt.Appendf(dst, `{"seq":%d,"turn":`, step.Seq)
	if step.Seq == 0 {
		dst = append(dst, "null"...)
	} else {
		dst = step.Turn.AppendJSON(dst)
	}
	dst, err := appendRevision(append(dst, `,"state":`...), step.State)
	if err != nil {
		return nil, err
	}
	dst = appendTurns(append(dst, `,"window":`...), step.Window)
	dst = appendTurns(append(dst, `,"history":`...), step.History)
	return append(dst, '}'), nil
}

func appendTurns(dst []byte, turns []turn.Turn) []byte {
	dst = append(dst, '[')
	for i := range turns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = turns[i].AppendJSON(dst)
	}
	return append(dst, ']')
}
