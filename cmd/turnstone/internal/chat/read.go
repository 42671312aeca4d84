package chat

import "strings"

// Read reads what the user sends: a command, which begins with a slash, without the space around it, or a message. Of a
// message of one line that begins with two slashes the first is taken away, so that one can begin with a slash. One of
// several lines is what it is: a program may begin with a comment.
func Read(text string) (sent string, command bool) {
	bare := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(bare, "//") && strings.Contains(bare, "\n"):
		return text, false
	case strings.HasPrefix(bare, "//"):
		return strings.Replace(text, "//", "/", 1), false
	case strings.HasPrefix(bare, "/"):
		return bare, true
	}
	return text, false
}

// Leaves reports whether the user sends the command that ends the conversation.
func Leaves(text string) bool {
	sent, command := Read(text)
	return command && (sent == "/quit" || sent == "/exit")
}
