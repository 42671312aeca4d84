package chat

import (
	"context"
	"errors"
	"io"
	"os"

	tea "charm.land/bubbletea/v2"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// Run shows a screen on a terminal until the user leaves it or ctx ends, which is an error.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer, environment []string) (err error) {
	lines, restore, err := terminal.Ahead(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	c.Ahead = append(c.Ahead, lines...)
	screen, cancel := context.WithCancel(ctx)
	defer cancel()
	paint := newPainter(NewScreen(screen, c), out)
	var quiet io.Writer = io.Discard
	if f, ok := out.(*os.File); ok {
		quiet = muted{f}
	}
	program := tea.NewProgram(paint, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(quiet),
		tea.WithEnvironment(environment), tea.WithoutSignalHandler())
	_, err = program.Run()
	err = errors.Join(err, paint.close())
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
