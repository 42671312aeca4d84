//go:build linux || darwin

package terminal

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Ahead takes the lines that were typed on a terminal before anybody read them, without their ends. From then on Enter is
// a key, as on a terminal that is raw, until restore gives it back its meaning. What has no end yet stays where it is,
// for whoever makes the terminal raw. Of what is no terminal it takes nothing.
func Ahead(in any) (lines []string, restore func() error, err error) {
	f, ok := in.(*os.File)
	if !ok || !Is(f) {
		return nil, func() error { return nil }, nil
	}
	fd := int(f.Fd())
	was, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, nil, err
	}
	restore = func() error { return unix.IoctlSetTermios(fd, setTermios, was) }
	// First of all no line ends any more: one that did after the last was taken would not be seen as sent by anybody.
	as := *was
	as.Iflag &^= unix.ICRNL
	if err := unix.IoctlSetTermios(fd, setTermios, &as); err != nil {
		return nil, nil, err
	}
	if was.Lflag&unix.ICANON == 0 {
		return nil, restore, nil // it has no lines
	}
	for buf := make([]byte, 4096); ready(fd); {
		n, err := unix.Read(fd, buf)
		if err != nil || n <= 0 {
			break // what cannot be read now cannot be read by the screen either, which says so
		}
		lines = append(lines, strings.TrimRight(string(buf[:n]), "\r\n"))
	}
	return lines, restore, nil
}

// ready reports whether there is a line, or the end.
func ready(fd int) bool {
	var set unix.FdSet
	set.Set(fd)
	n, err := unix.Select(fd+1, &set, nil, nil, &unix.Timeval{})
	return err == nil && n > 0
}
