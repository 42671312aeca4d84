package chat

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// Run shows a screen on a terminal until the user leaves it or ctx ends, which is an error.
func Run(ctx context.Context, c Config, in io.Reader, out io.Writer, environment []string) (err error) {
	// Before the first frame Bubble Tea takes the whole terminal for its own, and would print above its top.
	if c.Greeting != "" {
		if _, err := io.WriteString(out, terminal.Clean(c.Greeting)+"\r\n"); err != nil {
			return err
		}
		c.Greeting = ""
	}
	lines, restore, err := terminal.Ahead(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, restore()) }()
	c.Ahead = append(c.Ahead, lines...)
	screen, cancel := context.WithCancel(ctx)
	defer cancel()
	program := tea.NewProgram(NewScreen(screen, c), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out),
		tea.WithEnvironment(environment), tea.WithoutSignalHandler())
	_, err = program.Run()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
