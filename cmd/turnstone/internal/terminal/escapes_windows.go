package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// takesEscapes switches escape sequences on: an old console shows them as text otherwise.
func takesEscapes(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
