package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// take takes what stands in the input for a message that goes in its turn: nothing is none, and a backslash at its end begins a
// new line of one that is still being written.
func (s *Screen) take() {
	text := s.input.value()
	if before, found := strings.CutSuffix(text, `\`); found && s.input.cursor == len(s.input.text) {
		s.input.set(before + "\n")
		return
	}
	if !s.input.empty() {
		s.past.add(text)
		s.ahead = append(s.ahead, text)
	}
	s.input.set("")
}

// takeAhead takes lines as if each were typed and sent.
func (s *Screen) takeAhead(lines []string) {
	for _, line := range lines {
		s.input.insert(line)
		s.take()
	}
}

// waits says how many messages wait for their turn.
func (s *Screen) waits() string {
	switch n := len(s.ahead); n {
	case 0:
		return ""
	case 1:
		return "1 message waits and goes when the reply is over; Ctrl-C brings it back"
	default:
		return fmt.Sprintf("%d messages wait, the next goes when the reply is over; Ctrl-C brings them back", n)
	}
}

// sendAhead sends the first of what waits.
func (s *Screen) sendAhead() tea.Cmd {
	if len(s.ahead) == 0 {
		return nil
	}
	text := s.ahead[0]
	s.ahead, s.notice = s.ahead[1:], "" // what it says may be about what waits
	return s.submit(text)
}

// takeBack sends nothing more of it: it stands in the input again, a message after the other, before what is being written.
func (s *Screen) takeBack() {
	if len(s.ahead) == 0 {
		return
	}
	s.input.precede(strings.Join(s.ahead, "\n"))
	s.ahead = nil
}

// stopped takes back what waits for something that failed: it may have been meant for what did not come. What waits for the
// end of what the user cancelled was sent since, knowing that.
func (s *Screen) stopped(err error) {
	if !s.cancelled || !errors.Is(err, context.Canceled) {
		s.takeBack()
	}
}
