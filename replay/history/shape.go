package history

import (
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// shape is what the beginning of an input tells about it.
type shape struct {
	first byte            // '{' or '['
	names map[member]bool // the members that begin in it
	types map[string]bool // the values of members called type
}

// member is a name and how many objects and arrays it stands in.
type member struct {
	depth int
	name  string
}

// shape looks at the beginning of the input without taking it.
func (in *input) shape() (shape, error) {
	text, err := in.prefix()
	if err != nil {
		return shape{}, err
	}
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" {
		return shape{}, invalid.New("input", "is empty", "give a conversation")
	}
	if text[0] != '{' && text[0] != '[' {
		return shape{}, invalid.New("input", "is neither a JSON document nor JSON Lines", "give one in a format that can be read")
	}
	s := shape{first: text[0], names: map[member]bool{}, types: map[string]bool{}}
	s.look(text)
	return s, nil
}

// look notes the members of the first value of the text.
func (s *shape) look(text string) {
	depth, name := 0, ""
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				return
			}
		case '"':
			end := i + 1
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(text) {
				return
			}
			word := text[i+1 : end]
			i = end
			if rest := strings.TrimLeft(text[end+1:], " \t\r\n"); strings.HasPrefix(rest, ":") {
				name = word
				s.names[member{depth, word}] = true
			} else if name == "type" {
				s.types[word] = true
			}
		}
	}
}

// top reports whether the document, its first line or its first element has one of the members.
func (s *shape) top(names ...string) bool {
	depth := 1
	if s.first == '[' {
		depth = 2
	}
	for _, name := range names {
		if s.names[member{depth, name}] {
			return true
		}
	}
	return false
}

// lines reports whether the input is an object a line: its first is a turn or a message itself.
func (s *shape) lines() bool {
	return s.first == '{' && s.top("role", "speaker", "turn_id") && !s.top("messages", "traj")
}

// ours reports whether a session document has the members that are ours, of itself or of a message.
func (s *shape) ours() bool { return s.top("turnstone") || s.names[member{3, "turnstone"}] }

// format tells which format it is.
func (s *shape) format() (Format, error) {
	switch {
	case s.first == '{' && s.top("sessionId", "startTime", "lastActivity", "toolCalls"):
		return Session, nil
	case s.top("traj"):
		return Tau, nil
	case s.lines():
		return Lines, nil
	case s.first == '[' && !s.top("role") && len(s.names) > 0, s.first == '{' && !s.top("messages", "system", "model"):
		return "", invalid.New("format", "cannot be told from the content", "name it")
	case s.top("system") || s.types["tool_use"] || s.types["tool_result"] || s.types["thinking"] || s.types["base64"]:
		return Anthropic, nil
	}
	return OpenAI, nil
}
