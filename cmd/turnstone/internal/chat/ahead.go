package chat

import (
	"context"
	"errors"
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
			s.past.add(text)
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

// takeBack sends nothing more of it: it stands in the input again, a message after the other, before what is being written.
func (s *Screen) takeBack() {
	if len(s.ahead) == 0 {
		return
	}
	s.input.precede(strings.Join(s.ahead, "\n"))
	s.ahead, s.queued = nil, false
}

// stopped takes back what waits for something that failed: it may have been meant for what did not come. What waits for the
// end of what the user cancelled was sent since, knowing that.
func (s *Screen) stopped(err error) {
	if !s.cancelled || !errors.Is(err, context.Canceled) {
		s.queued = false
		s.takeBack()
	}
}
