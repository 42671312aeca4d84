package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"
)

const (
	leaveHint = "Ctrl-C once more, or Ctrl-D, leaves; what was said is kept"
	stayHint  = "messages wait to be sent; Ctrl-C brings them back, /quit leaves after them"
)

// key does what a key means.
func (s *Screen) key(key tea.KeyPressMsg) tea.Cmd {
	name := key.Keystroke()
	leaving := s.leaving
	s.leaving, s.notice = false, ""
	if s.question != nil && name != "ctrl+c" {
		return s.answer(name, key.Text)
	}
	switch name {
	case "ctrl+c":
		return s.interrupt(leaving)
	case "ctrl+d":
		if s.input.value() == "" {
			if len(s.ahead) == 0 {
				return s.leave()
			}
			s.notice = stayHint
			return nil
		}
		s.input.erase(s.input.cursor, s.input.cursor+1)
	case "enter":
		return s.send()
	case "alt+enter", "shift+enter", "ctrl+j":
		s.input.insert("\n")
	case "up":
		if !s.input.up() {
			s.recall(s.past.earlier(s.input.value()))
		}
	case "down":
		if !s.input.down() {
			s.recall(s.past.later())
		}
	default:
		if edit, ok := edits[name]; ok {
			edit(&s.input)
		} else if key.Text != "" {
			s.input.insert(key.Text)
		}
	}
	return nil
}

// edits are the keys that change the input and nothing else, as shells have them.
var edits = map[string]func(*editor){
	"left":           func(e *editor) { e.move(e.cursor - 1) },
	"right":          func(e *editor) { e.move(e.cursor + 1) },
	"ctrl+b":         func(e *editor) { e.move(e.cursor - 1) },
	"ctrl+f":         func(e *editor) { e.move(e.cursor + 1) },
	"home":           func(e *editor) { e.move(e.lineStart()) },
	"end":            func(e *editor) { e.move(e.lineEnd()) },
	"ctrl+a":         func(e *editor) { e.move(e.lineStart()) },
	"ctrl+e":         func(e *editor) { e.move(e.lineEnd()) },
	"alt+left":       func(e *editor) { e.move(e.wordLeft()) },
	"alt+right":      func(e *editor) { e.move(e.wordRight()) },
	"ctrl+left":      func(e *editor) { e.move(e.wordLeft()) },
	"ctrl+right":     func(e *editor) { e.move(e.wordRight()) },
	"alt+b":          func(e *editor) { e.move(e.wordLeft()) },
	"alt+f":          func(e *editor) { e.move(e.wordRight()) },
	"backspace":      func(e *editor) { e.erase(e.cursor-1, e.cursor) },
	"ctrl+h":         func(e *editor) { e.erase(e.cursor-1, e.cursor) },
	"delete":         func(e *editor) { e.erase(e.cursor, e.cursor+1) },
	"ctrl+w":         func(e *editor) { e.erase(e.wordLeft(), e.cursor) },
	"alt+backspace":  func(e *editor) { e.erase(e.wordLeft(), e.cursor) },
	"ctrl+u":         func(e *editor) { e.erase(e.lineStart(), e.cursor) },
	"ctrl+k":         func(e *editor) { e.erase(e.cursor, e.lineEnd()) },
	"ctrl+backspace": func(e *editor) { e.erase(e.wordLeft(), e.cursor) },
}

func (s *Screen) recall(text string, ok bool) {
	if ok {
		s.input.set(text)
	}
}

// interrupt cancels what runs and not the program, and takes back what waits. Where there is neither it empties the input, and
// only the second one in a row leaves.
func (s *Screen) interrupt(leaving bool) tea.Cmd {
	switch {
	case s.busy:
		s.cancel()
		s.cancelled, s.doing = true, "cancelling"
		var next tea.Cmd
		if s.question != nil {
			s.keepWritten()
			s.decide(false)
			next = s.awaitQuestion()
		}
		s.takeBack()
		return next
	case len(s.ahead) > 0:
		s.takeBack()
	case s.input.value() != "":
		s.past.add(s.input.value())
		s.input.set("")
	case leaving:
		return s.leave()
	default:
		s.leaving, s.notice = true, leaveHint
	}
	return nil
}

// leave ends the program. What runs is cancelled.
func (s *Screen) leave() tea.Cmd {
	if s.busy {
		s.cancel()
	}
	s.gone = true
	return tea.Quit
}

// answer takes a key while something is asked. Only a y or n alone, sent with Enter, decides: whoever was writing when
// the question came must not allow it by a letter of that.
func (s *Screen) answer(name, typed string) tea.Cmd {
	switch name {
	default:
		s.answering += typed
		return nil
	case "backspace":
		letters := []rune(s.answering)
		s.answering = string(letters[:max(len(letters)-1, 0)])
		return nil
	case "enter":
	}
	said := "  allowed"
	allowed, ok := yesOrNo(s.answering)
	if !ok {
		s.keepWritten()
		return nil
	}
	if s.decide(allowed); !allowed {
		said = "  not allowed"
	}
	s.print(said)
	return s.awaitQuestion()
}

// yesOrNo reads an answer; ok is false for what is none.
func yesOrNo(text string) (allowed, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true, true
	case "n", "no":
		return false, true
	}
	return false, false
}

// keepWritten takes what was written and is no answer for a part of the message that was being written.
func (s *Screen) keepWritten() {
	if _, answer := yesOrNo(s.answering); !answer {
		s.input.insert(s.answering)
	}
	s.answering = ""
}

func (s *Screen) decide(allowed bool) {
	s.question.Answer(allowed)
	s.question, s.answering = nil, ""
}
