package chat

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"charm.land/lipgloss/v2"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/terminal"
)

// mark is what the input begins with.
const mark = "> "

// View implements tea.Model: the last line of the reply, what is being waited for, the input and the status line.
func (s *Screen) View() tea.View {
	if s.gone {
		return tea.NewView("")
	}
	input, row, column := s.input.rows(s.width - len(mark) - 1)
	below := []string{s.statusLine()}
	if notice := cmp.Or(s.notice, s.waits()); notice != "" {
		below = append([]string{s.config.Style.Notice(s.fit(notice))}, below...)
	}
	if most := max(s.height/2, 1); len(input) > most {
		from := min(max(row-most/2, 0), len(input)-most)
		input, row = input[from:from+most], row-from
	}
	var lines []string
	if waiting := s.waiting(); waiting != "" {
		lines = append(lines, s.fit(waiting))
	}
	lines = append(lines, s.config.Style.Dim(strings.Repeat("-", s.width)))
	room := s.height - len(lines) - len(input) - len(below) - 1
	lines = append(s.coming(room), lines...)
	at := len(lines) + row
	for i, text := range input {
		begin := strings.Repeat(" ", len(mark))
		if i == 0 {
			begin = s.config.Style.Accent(mark)
		}
		lines = append(lines, begin+text)
	}
	view := tea.NewView(strings.Join(append(lines, below...), "\n"))
	view.Cursor = tea.NewCursor(len(mark)+column, at)
	return view
}

// coming is the end of the reply that is being written, as much of it as there is room for.
func (s *Screen) coming(room int) []string {
	if s.reply.Len() == 0 || room <= 0 {
		return nil
	}
	lines := s.lines(s.reply.String())
	return lines[max(len(lines)-room, 0):]
}

// waiting says what is being waited for, and for how long.
func (s *Screen) waiting() string {
	if s.question != nil {
		return strings.TrimSpace("Allow this once? y or n, then Enter " + terminal.CleanLine(s.answering))
	}
	if !s.busy || s.doing == "" && s.thinking == "" {
		return ""
	}
	what := s.doing
	if s.thinking != "" {
		what = "thinking: " + tail(terminal.CleanLine(s.thinking), s.width-40)
	}
	frame := `|/-\`[s.ticks%4]
	text := fmt.Sprintf("%c %s", frame, what)
	if seconds := s.ticks * int(pace.Milliseconds()) / 1000; seconds > 0 {
		text += fmt.Sprintf(", %d s", seconds)
	}
	return s.config.Style.Dim(text + "  (Ctrl-C cancels)")
}

// statusLine is always there.
func (s *Screen) statusLine() string {
	line := terminal.CleanLine(s.status.Line)
	for _, part := range []string{s.status.Session, s.status.Model} {
		if part != "" {
			line += "  " + terminal.CleanLine(part)
		}
	}
	if strings.TrimSpace(line) == "" {
		line = "..."
	}
	return s.config.Style.Dim(s.fit(strings.TrimSpace(line)))
}

// fit cuts a painted line to the width of the screen.
func (s *Screen) fit(text string) string {
	return lipgloss.NewStyle().MaxWidth(s.width).Inline(true).Render(text)
}

// tail is the end of a text.
func tail(text string, most int) string {
	runes := []rune(text)
	return string(runes[max(len(runes)-max(most, 10), 0):])
}
