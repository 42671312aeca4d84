package chat

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"golang.org/x/term"
)

// What a terminal is told before the first frame and after the last: pastes come as pastes, and keys such as Shift-Enter
// as themselves.
const (
	takeKeys  = "\x1b[?2004h\x1b[>4;2m\x1b[>1u"
	leaveKeys = "\x1b[<1u\x1b[>4m\x1b[?2004l"
)

// painter draws a screen where the cursor of a terminal is, and above it what the screen keeps. It draws instead of Bubble
// Tea, which loses count of its lines where they become fewer, where some are printed above them, and where a terminal that
// becomes narrower breaks them.
type painter struct {
	*Screen
	out io.Writer
	// size asks the terminal, each time: it is resized before anybody hears of it.
	size func() (width, height int)

	lines []string // that stand on the terminal
	x, y  int      // where the cursor stands in them
	err   error
}

// muted is a terminal for Bubble Tea to read from and to make raw, and not to draw on.
type muted struct{ *os.File }

func (muted) Write(p []byte) (int, error) { return len(p), nil }

func newPainter(s *Screen, out io.Writer) *painter {
	return &painter{Screen: s, out: out, size: func() (int, int) {
		width, height := 0, 0
		if f, ok := out.(*os.File); ok {
			width, height, _ = term.GetSize(int(f.Fd())) // one that does not say it, or not all of it, has the usual one
		}
		return cmp.Or(width, usualWidth), cmp.Or(height, usualHeight)
	}}
}

// Init implements tea.Model.
func (p *painter) Init() tea.Cmd {
	p.write(takeKeys)
	p.resize()
	cmd := p.Screen.Init()
	return tea.Batch(cmd, p.paint())
}

// Update implements tea.Model.
func (p *painter) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	p.resize()
	if _, ok := msg.(tea.WindowSizeMsg); ok {
		return p, p.paint()
	}
	_, cmd := p.Screen.Update(msg)
	return p, tea.Batch(cmd, p.paint())
}

// View implements tea.Model: everything is drawn by then.
func (p *painter) View() tea.View { return tea.NewView("") }

// close takes the screen off the terminal. What has come of a reply stays.
func (p *painter) close() error {
	p.gone = true
	p.keep(p.finished()...)
	p.resize()
	p.paint()
	p.write(leaveKeys)
	return p.err
}

func (p *painter) resize() {
	width, height := p.size()
	p.Screen.Update(tea.WindowSizeMsg{Width: width, Height: height})
}

// paint draws what has changed. It ends the program where nothing can be drawn.
func (p *painter) paint() tea.Cmd {
	above, view := p.kept, p.Screen.View()
	p.kept = nil
	var lines []string
	x, y := 0, 0
	if view.Content != "" {
		lines, x, y = strings.Split(view.Content, "\n"), view.Cursor.X, view.Cursor.Y
	}
	up := p.rows()
	if len(above) == 0 && slices.Equal(lines, p.lines) && x == p.x && y == p.y && up == p.y {
		return nil
	}
	// All at once where the terminal can do that. A line is erased before it is written: behind a full one the cursor stands
	// on its last character.
	var b strings.Builder
	b.WriteString("\x1b[?2026h\x1b[?25l\r")
	move(&b, up, 'A')
	for _, line := range above {
		b.WriteString("\x1b[K" + line + "\r\n")
	}
	b.WriteString("\x1b[?7l") // a line that is wider here than it is counted must not take two
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		if i < len(lines)-1 {
			b.WriteString("\x1b[K" + line)
		} else {
			b.WriteString("\x1b[J" + line)
		}
	}
	if len(lines) == 0 {
		b.WriteString("\x1b[J")
	}
	b.WriteString("\x1b[?7h\r")
	move(&b, len(lines)-1-y, 'A')
	move(&b, x, 'C')
	b.WriteString("\x1b[?25h\x1b[?2026l")
	p.lines, p.x, p.y = lines, x, y
	p.write(b.String())
	if p.err != nil {
		return tea.Quit
	}
	return nil
}

// rows is how many rows above the cursor the screen begins: a terminal that has become narrower breaks the lines that it
// shows.
func (p *painter) rows() int {
	rows := p.x / p.width
	for _, line := range p.lines[:p.y] {
		rows += max(1, (lipgloss.Width(line)+p.width-1)/p.width)
	}
	return rows
}

// move moves the cursor by n in a direction.
func move(b *strings.Builder, n int, direction rune) {
	if n > 0 {
		fmt.Fprintf(b, "\x1b[%d%c", n, direction)
	}
}

func (p *painter) write(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.out, text)
	}
}
