package chat

import (
	"cmp"
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
		tea.WithEnvironment(environment), tea.WithoutSignalHandler(), tea.WithFilter(sized))
	_, err = program.Run()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// sized gives a terminal that does not say its size, or not all of it, the usual one: Bubble Tea would draw nothing on it.
func sized(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok {
		return tea.WindowSizeMsg{Width: cmp.Or(size.Width, usualWidth), Height: cmp.Or(size.Height, usualHeight)}
	}
	return msg
}
