package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstone-dev/turnstone/internal/invalid"
)

// Format names a way to write a conversation down.
type Format string

// The formats; the package comment describes them.
const (
	Session   Format = "session"
	Lines     Format = "lines"
	OpenAI    Format = "openai"
	Anthropic Format = "anthropic"
	Tau       Format = "tau"
	Markdown  Format = "markdown"
)

// Formats returns all formats, the lossless ones first. The slice is the caller's.
func Formats() []Format { return []Format{Session, Lines, OpenAI, Anthropic, Tau, Markdown} }

// Reads reports whether [Import] reads the format.
func (f Format) Reads() bool { return slices.Contains(Formats(), f) && f != Markdown }

// Writes reports whether [Export] writes the format.
func (f Format) Writes() bool { return slices.Contains(Formats(), f) && f != Tau }

// unusable says that the format is none of those that can be used here.
func (f Format) unusable(what string, usable func(Format) bool) error {
	var names []string
	for _, known := range Formats() {
		if usable(known) {
			names = append(names, string(known))
		}
	}
	return invalid.New("format", fmt.Sprintf("%q cannot be %s", string(f), what), "use "+strings.Join(names, ", "))
}
