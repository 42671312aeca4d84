// Package terminal knows what a stream can show: colours, how wide it is, and which characters are
// safe to send to it.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

const defaultWidth = 80

// Is reports whether the stream, a reader or a writer, is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns how many columns the terminal has, 80 where that is not known.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultWidth
}

// StyleOf returns the style for a stream: colours only on a terminal that takes them. Plain is what
// the user asked for by flag or environment.
func StyleOf(w io.Writer, plain bool) Style {
	f, ok := w.(*os.File)
	if plain || !ok || !Is(w) || !takesEscapes(f) {
		return Style{}
	}
	return Colours()
}
