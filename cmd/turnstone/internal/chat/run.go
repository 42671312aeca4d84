package chat

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
)

// Run shows a screen on a terminal until the user leaves it or ctx ends, which is an error.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer, environment []string) error {
	screen, cancel := context.WithCancel(ctx)
	defer cancel()
	program := tea.NewProgram(NewScreen(screen, c), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithEnvironment(environment), tea.WithoutSignalHandler())
	_, err := program.Run()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
