package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

// takeAhead takes lines as if each were typed and sent: an empty one is nothing, a backslash at its end begins a new line of
// the same message, and a message that ends so is still being written.
func (s *Screen) takeAhead(lines []string) {
	for _, line := range lines {
		s.input.insert(line)
		text := s.input.value()
		if before, found := strings.CutSuffix(text, `\`); found {
			s.input.set(before + "\n")
			continue
		}
		if !s.input.empty() {
			s.ahead = append(s.ahead, text)
		}
		s.input.set("")
	}
}

// sendAhead sends the first of what was sent before there was a screen.
func (s *Screen) sendAhead() tea.Cmd {
	if len(s.ahead) == 0 {
		return nil
	}
	text := s.ahead[0]
	s.ahead = s.ahead[1:]
	return s.submit(text)
}

// dropAhead sends nothing more of it. The arrow keys bring it back.
func (s *Screen) dropAhead() {
	for _, text := range s.ahead {
		s.past.add(text)
	}
	s.ahead = nil
}
